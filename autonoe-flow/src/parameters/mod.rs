//! Values of parameters.

mod args;
mod rules;
mod values;

pub(crate) use args::flag_of;
pub(crate) use rules::value_of;
pub use values::{ParameterError, ParameterErrors, ParameterValue, ParameterValues};
