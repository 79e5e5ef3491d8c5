//! Backend of agents on a model, configured by a file.

mod command_environment;
mod key_locations;
mod model_spec;
mod server_environment;
mod spec_probe;

pub use command_environment::command_environment;
pub use key_locations::KeyLocations;
pub use model_spec::ModelSpec;
