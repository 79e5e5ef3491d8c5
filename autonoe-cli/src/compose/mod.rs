//! Puts a run together from what the command line says.

mod backend;
mod model;
mod model_name;
mod models_file;
mod no_servers;
mod sandbox;

pub(crate) use backend::BackendChoice;
pub(crate) use model::{ChosenModel, NoModel, Origin};
pub(crate) use model_name::ModelName;
pub(crate) use models_file::ModelsFile;
pub(crate) use no_servers::Servers;
pub(crate) use sandbox::{misread_sandbox, sandbox_switch};
