//! Values of parameters.

mod args;
mod values;

pub(crate) use args::flag_of;
pub(crate) use values::value_of;
pub use values::{ParameterError, ParameterErrors, ParameterValue, ParameterValues};
