//! Backend of agents on a model, configured by a file.

mod environment;
mod key_locations;
mod model_spec;

pub use environment::command_environment;
pub use key_locations::KeyLocations;
pub use model_spec::ModelSpec;
