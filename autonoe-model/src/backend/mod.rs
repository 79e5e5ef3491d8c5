//! Agents on a model, from a configuration file.

mod command_environment;
mod key_places;
mod model_backend;
mod server_environment;
mod spec_probe;

pub use command_environment::command_environment;
pub use key_places::KeyPlaces;
pub use model_backend::ModelBackend;
