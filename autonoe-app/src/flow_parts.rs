//! Parts of flows and fleets beside their agents: commands, and signing keys of webhooks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use autonoe_core::Project;
use autonoe_core::agent::Sandbox;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::gate::policy::CREDENTIAL_PATHS;
use autonoe_core::project::SandboxSwitch;
use autonoe_core::time::SystemClock;
use autonoe_flow::FlowDefinition;
use autonoe_flow::definition::{
    Check, ExpectedAction, NotificationMethod, StepEscalation, StepsRegistry,
};
use autonoe_flow::escalation::{Notifiers, SigningKey, SigningKeys, WebhookNotifier};
use autonoe_model::backend::{KeyLocations, command_environment};
use autonoe_model::transport::{SystemAuthorities, Trust};
use autonoe_process::{OsSandbox, ProcessRunner, SandboxError, find_program};

use crate::error::{AppError, error_chain};
use crate::model::built_in_keys;
use crate::{Env, ModelsFile};

/// Prefix of the variables of signing keys; the name of the key follows.
pub(crate) const KEY_VARIABLE: &str = "AUTONOE_SIGNING_KEY_";

/// The path of bubblewrap, if it is not in `PATH`.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// Returns the runner for commands of checks and conditions. They run in the project, and in a
/// sandbox like agents, because they execute code that agents wrote.
///
/// They get the same variables as commands of agents on models, and a home directory.
///
/// If the flow has commands and the sandbox cannot be created, the error is returned here, before
/// anything costs money.
pub fn flow_commands(
    flow: &FlowDefinition,
    project: &Project,
    models: &ModelsFile,
    switch: SandboxSwitch,
    env: &Env,
) -> Result<ProcessRunner, AppError> {
    let keys = keys(models);
    let commands = match switch.sandbox() {
        Sandbox::Off => ProcessRunner::unconfined(project.root()),
        Sandbox::Required => {
            let files = keys.files.iter().map(|file| project.root().join(file));
            let sandbox = sandbox(project.root(), files, env).network(models.tools.network.into());
            if has_commands(flow) {
                sandbox.check().map_err(|error| no_sandbox(&error))?;
            }
            ProcessRunner::confined(project.root(), sandbox)
        }
    };
    Ok(commands.envs(command_variables(models, &keys, env)))
}

/// Returns the variables of commands that execute code of agents: those of commands of agents on
/// models, and a home directory.
fn command_variables(
    models: &ModelsFile,
    keys: &KeyLocations,
    env: &Env,
) -> BTreeMap<OsString, OsString> {
    let mut variable_names = models.tools.variables.clone();
    variable_names.retain(|name| !keys.variables.contains(name));
    let mut variables: BTreeMap<_, _> =
        command_environment(&env.environment, &variable_names).collect();
    let home = env.home();
    variables.extend(home.map(|home| ("HOME".into(), home.into_os_string())));
    variables
}

/// Returns the locations of all keys that the project knows.
fn keys(models: &ModelsFile) -> KeyLocations {
    let mut all = KeyLocations::default();
    for provider in models.providers.values() {
        let places = KeyLocations::from_spec(&**provider);
        all.variables.extend(places.variables);
        all.files.extend(places.files);
    }
    let telemetry = models.telemetry.keys();
    all.variables.extend(telemetry.variables);
    all.files.extend(telemetry.files);
    all.variables.extend(built_in_keys().map(str::to_owned));
    all
}

fn no_sandbox(error: &SandboxError) -> AppError {
    let message = "commands of checks must run in a sandbox, and no sandbox is available";
    AppError::failure(format!("{message}: {}", error_chain(error))).with_hint(format!(
        "{}, or use --no-sandbox in a container",
        error.remedy()
    ))
}

/// Returns whether a check or the completion condition of a flow runs commands.
fn has_commands(flow: &FlowDefinition) -> bool {
    let steps = flow
        .registry()
        .steps
        .values()
        .filter_map(|step| step.work());
    let mut checks = steps.filter_map(|work| work.check.as_ref());
    checks.any(|check| match check {
        Check::Action(check) => {
            let mut actions = check.actions.iter();
            actions.any(|action| matches!(action, ExpectedAction::Command(_)))
        }
        Check::Prompt(_) | Check::Keyword(_) => false,
    }) || flow.agent().behavior.completion.needs().runs_command
}

/// Returns the sandbox of commands in the folder `root` that execute code of agents.
fn sandbox(root: &Path, key_files: impl Iterator<Item = PathBuf>, env: &Env) -> OsSandbox {
    let path = env.environment.get(OsStr::new("PATH"));
    let program = path.and_then(|path| find_program("bwrap", path));
    let mut sandbox = OsSandbox::new(program.unwrap_or_else(|| BUBBLEWRAP.into())).writable(root);
    // The next person who uses git may execute what is put into the repository, outside of the
    // sandbox.
    for protected in ProjectPaths::STATE_FOLDERS.into_iter().chain([".git"]) {
        let protected = root.join(protected);
        if protected.symlink_metadata().is_ok() {
            sandbox = sandbox.read_only(protected);
        }
    }
    let hidden = env.home().map(|home| credentials(&home));
    let is_outside_project = |path: &PathBuf| !path.starts_with(root);
    // A file that does not exist need not be hidden.
    let key_files = key_files.filter_map(|file| file.canonicalize().ok());
    let hidden = hidden
        .into_iter()
        .flatten()
        .chain(key_files)
        .filter(is_outside_project);
    hidden.fold(sandbox, OsSandbox::hidden)
}

/// Returns the locations of credentials in a home directory and on the machine, except those that
/// are never visible in a sandbox.
fn credentials(home: &Path) -> Vec<PathBuf> {
    let plain = CREDENTIAL_PATHS.iter().filter(|place| !place.contains('*'));
    let whole = plain.filter_map(|place| match place.strip_prefix("~/") {
        Some(below) => Some(home.join(below)),
        None if place.starts_with("/etc/") => Some(place.into()),
        None => None,
    });
    whole.collect()
}

/// Returns the notifiers for escalations, with the signing keys of the steps and the certificate
/// authorities of connections to models.
pub fn flow_notifiers(
    registry: &StepsRegistry,
    project: &Project,
    models: &ModelsFile,
    env: &Env,
) -> Result<Notifiers, AppError> {
    let webhooks: Vec<_> = webhooks(registry).collect();
    if webhooks.is_empty() {
        return Ok(Notifiers::default());
    }
    let mut keys = SigningKeys::default();
    for name in webhooks.iter().filter_map(|it| it.signing_key.as_deref()) {
        // Building the flow reports a missing key.
        if let Some(key) = signing_key(name, env)? {
            keys = keys.with(name, key);
        }
    }
    let addresses = webhooks.iter().map(|it| it.escalate_to.as_str());
    let notifier = webhook_notifier(keys, addresses, project, models, env)?;
    Ok(Notifiers::default().with_webhook(notifier))
}

/// Returns the notifier for webhooks at `addresses`, with the certificate authorities of
/// connections to models. They are read only if an address needs them.
pub(crate) fn webhook_notifier<'a>(
    keys: SigningKeys,
    mut addresses: impl Iterator<Item = &'a str>,
    project: &Project,
    models: &ModelsFile,
    env: &Env,
) -> Result<WebhookNotifier, AppError> {
    let notifier = WebhookNotifier::new(keys, SystemClock);
    // Without any authorities, the check of the webhook reports it.
    let untrusting = Trust {
        system: SystemAuthorities::Ignored,
        ..Trust::default()
    };
    let is_encrypted = |address: &str| {
        let scheme = address.get(.."https:".len());
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    };
    if models.trust == untrusting || !addresses.any(is_encrypted) {
        return Ok(notifier);
    }
    let trust = models.trust.clone().resolve_in(project.root());
    let authorities = trust
        .read(&env.environment)
        .map_err(|problem| AppError::failure(format!("`trust` of models.json: {problem}")))?;
    Ok(notifier.with_authorities(authorities))
}

/// Returns the signing key `name`, if it is set.
pub(crate) fn signing_key(name: &str, env: &Env) -> Result<Option<SigningKey>, AppError> {
    let variable = key_variable(name);
    let key = env.variable(&variable).map(str::parse).transpose();
    key.map_err(|error| AppError::failure(format!("{variable}: {error}")))
}

fn webhooks(registry: &StepsRegistry) -> impl Iterator<Item = &StepEscalation> {
    let steps = registry.steps.values().filter_map(|step| step.work());
    let escalations = steps.filter_map(|work| work.escalation.as_ref());
    escalations.filter(|it| it.notification_method == NotificationMethod::Webhook)
}

/// Returns the variables of signing keys that steps name and that are not set.
pub fn missing_keys(registry: &StepsRegistry, env: &Env) -> Vec<String> {
    let names = webhooks(registry).filter_map(|it| it.signing_key.as_deref());
    let variables: BTreeSet<_> = names.map(key_variable).collect();
    let is_missing = |variable: &String| env.variable(variable).is_none();
    variables.into_iter().filter(is_missing).collect()
}

/// Returns the variable of the signing key `name`.
pub(crate) fn key_variable(name: &str) -> String {
    let spelled = name.chars().map(|c| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    KEY_VARIABLE.chars().chain(spelled).collect()
}

/// Returns the environment without signing keys, which agents must not see.
pub fn without_keys(env: &Env) -> Env {
    let mut without = env.clone();
    let is_key = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name.starts_with(KEY_VARIABLE.as_bytes())
    };
    without.environment.retain(|name, _| !is_key(name));
    without
}

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
    let files = keys(models).files.into_iter().map(|file| folder.join(file));
    sandbox(folder, files, env).network(models.tools.network.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_key_determines_its_variable() {
        for (name, variable) in [
            ("ops", "AUTONOE_SIGNING_KEY_OPS"),
            ("hook-key.2", "AUTONOE_SIGNING_KEY_HOOK_KEY_2"),
        ] {
            assert_eq!(key_variable(name), variable);
        }
    }
}
