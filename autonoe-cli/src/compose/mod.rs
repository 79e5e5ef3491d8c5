//! Puts a run together from what the command line says.

mod announced;
mod backend;
mod backend_choice;
mod chosen_backend;
mod equipment;
mod fitness;
mod fleet_parts;
mod flow_parts;
mod git_identity;
mod model;
mod model_name;
mod models_file;
mod priced;
mod program_environment;
mod sandbox;
mod servers;
mod written_keys;

pub(crate) use announced::{destructive_warning, listed_keys};
pub(crate) use backend::context_for;
pub(crate) use backend_choice::BackendChoice;
pub(crate) use chosen_backend::ChosenBackend;
pub(crate) use equipment::Equipment;
pub(crate) use fitness::{NO_SANDBOX_HINT, Wanted, no_sandbox_for, unclaimed};
pub(crate) use fleet_parts::{AlertWebhook, criteria_commands, criteria_sandbox};
pub(crate) use flow_parts::{flow_commands, flow_notifiers, missing_keys, without_keys};
pub(crate) use model::{ChosenModel, NoModel, Origin};
pub(crate) use model_name::ModelName;
pub(crate) use models_file::ModelsFile;
pub(crate) use program_environment::telemetry_keys;
pub(crate) use sandbox::{misread_sandbox, sandbox_switch};
pub(crate) use servers::{NO_NODE, NO_PROGRAM, remedy_of};
