//! Composes project, configuration, policy, backend and sandbox for the programs of Autonoe.
//!
//! The command `autonoe` and the cluster program link it. It reads no arguments and prints nothing:
//! [`text`] formats what the programs print.

// Only our own programs use it.
#![allow(missing_docs, missing_debug_implementations)]

mod agent_options;
mod backend_choice;
mod backend_requirements;
mod build_backend;
mod chosen_backend;
mod env;
mod error;
pub mod exit_code;
mod flow_parts;
mod git_identity;
mod known_backend;
mod literal_keys;
mod live_status;
mod mcp_servers;
mod model;
mod models_file;
mod notify;
mod program_environment;
mod sandbox;
mod session_host;
mod session_setup;
pub mod telemetry;
pub mod text;
mod trust_warnings;
pub mod value_parsers;

pub use agent_options::{AgentOptions, ComposedAgent};
pub use backend_choice::{BackendChoice, ModelName};
pub use backend_requirements::{NO_SANDBOX_HINT, no_sandbox_message, unsupported_field};
pub use build_backend::context_for;
pub use chosen_backend::{ChosenBackend, load_config};
pub use env::{Env, this_program};
pub use error::{AppError, OrFailure, error_chain};
pub use flow_parts::{
    criteria_commands, criteria_sandbox, flow_commands, flow_notifiers, missing_keys, without_keys,
};
pub use live_status::{LiveStatus, LiveStatusWriter, LiveWait};
pub use mcp_servers::{NO_NODE, NO_PROGRAM, remedy_of};
pub use model::{ChosenModel, FindModelError, Origin};
pub use models_file::ModelsFile;
pub use notify::{AlertSource, Notifications, NotifyOptions, RunAlerts};
pub use program_environment::telemetry_keys;
pub use sandbox::{invalid_sandbox_warning, sandbox_switch};
pub use session_host::{ComposedSessionHost, OnWarning};
pub use session_setup::{SessionSetup, bridge_tools};
pub use trust_warnings::{destructive_warning, format_key_places};
