//! Puts a run together from what the command line says.

mod backend;
mod sandbox;

pub(crate) use backend::BackendChoice;
pub(crate) use sandbox::{misread_sandbox, sandbox_switch};
