//! Parts of a fleet beside its agents: commands of criteria.

use std::path::Path;

use autonoe_core::agent::Sandbox;
use autonoe_core::project::SandboxSwitch;
use autonoe_process::{OsSandbox, ProcessRunner};

use crate::Env;
use crate::ModelsFile;
use crate::error::AppError;
use crate::flow_parts::{command_variables, keys, no_sandbox, sandbox};

/// Environment variable that marks the processes of a fleet member.
const MARKER: &str = "AUTONOE_HARNESS";

/// Returns the runner for commands of criteria in `folder`. They run in a sandbox like agents,
/// because they execute code that agents wrote.
pub fn criteria_commands(
    folder: &Path,
    models: &ModelsFile,
    switch: SandboxSwitch,
    env: &Env,
) -> ProcessRunner {
    let commands = match switch.sandbox() {
        Sandbox::Off => ProcessRunner::unconfined(folder),
        Sandbox::Required => ProcessRunner::confined(folder, folder_sandbox(folder, models, env)),
    };
    let marker = env.variable(MARKER);
    commands
        .envs(command_variables(models, &keys(models), env))
        .envs(marker.map(|value| (MARKER, value)))
}

/// Checks in advance whether there is a sandbox for commands of criteria.
pub fn criteria_sandbox(
    folder: &Path,
    models: &ModelsFile,
    switch: SandboxSwitch,
    env: &Env,
) -> Result<(), AppError> {
    match switch.sandbox() {
        Sandbox::Off => Ok(()),
        Sandbox::Required => {
            let sandbox = folder_sandbox(folder, models, env);
            sandbox.check().map_err(|error| no_sandbox(&error))
        }
    }
}

fn folder_sandbox(folder: &Path, models: &ModelsFile, env: &Env) -> OsSandbox {
    let files = keys(models).files.into_iter();
    let files = files.map(|file| folder.join(file));
    sandbox(folder, files, env).network(models.tools.network.into())
}
