//! The behavior of step flows, as authors and embedders see it.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]

mod bad_input;
mod checks;
mod commands;
mod compat;
mod completion;
mod composite;
mod driver;
#[cfg(feature = "webhook")]
mod encrypted_webhook;
mod errors;
mod graph;
#[cfg(feature = "webhook")]
mod hook_server;
mod import;
mod load;
mod machine;
mod machine_properties;
mod machine_reach;
mod machine_script;
mod mistakes;
mod one_dependency;
mod parameters;
mod prompts;
mod reference_walk;
mod registries;
mod schemas;
mod support;
mod tools;
mod upstream;
mod validation;
#[cfg(feature = "webhook")]
mod webhook;
