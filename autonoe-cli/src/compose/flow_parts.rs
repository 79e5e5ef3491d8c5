//! What a flow needs beside agents: who runs its commands, and the keys of its webhooks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use autonoe_core::{CredentialPlaces, Project, ProjectPaths, Sandbox, SandboxSwitch, SystemClock};
use autonoe_flow::{
    Check, Completion, Escalation, ExpectedAction, ExternalStateSource, FlowDefinition,
    NotificationMethod, Notifiers, ProcessCommands, SigningKey, SigningKeys, StepsRegistry,
    WebhookNotifier,
};
use autonoe_model::{KeyPlaces, SystemAuthorities, Trust, command_environment};
use autonoe_process::{OsSandbox, SandboxError, find_program};

use super::ModelsFile;
use super::model::built_in_keys;
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

/// What the variable of a key begins with; the name of the key follows.
pub(super) const KEY_VARIABLE: &str = "AUTONOE_SIGNING_KEY_";

/// Where bubblewrap is if it is not on `PATH`.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// Returns who runs the commands of checks and conditions: in the project, and in a sandbox as
/// agents are, because they run what agents wrote.
///
/// They get the variables that commands of agents on models get, and a home.
///
/// A sandbox that cannot be made is told here, if the flow has commands, before anything costs
/// money.
pub(crate) fn flow_commands(
    flow: &FlowDefinition,
    project: &Project,
    models: &ModelsFile,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Result<ProcessCommands, CliError> {
    let keys = keys(models);
    let commands = match switch.sandbox() {
        Sandbox::Off => ProcessCommands::unconfined(project.root()),
        Sandbox::Required => {
            let files = keys.files.iter().map(|file| project.root().join(file));
            let sandbox =
                sandbox(project.root(), files, surroundings).network(models.tools.network.into());
            if has_commands(flow) {
                sandbox.check().map_err(|error| no_sandbox(&error))?;
            }
            ProcessCommands::confined(project.root(), sandbox)
        }
    };
    Ok(commands.envs(command_variables(models, &keys, surroundings)))
}

/// Returns the variables of commands that run what agents wrote: those that commands of agents on
/// models get, and a home.
pub(super) fn command_variables(
    models: &ModelsFile,
    keys: &KeyPlaces,
    surroundings: &Surroundings,
) -> BTreeMap<OsString, OsString> {
    let mut wanted = models.tools.variables.clone();
    wanted.retain(|name| !keys.variables.contains(name));
    let variables = command_environment(&surroundings.environment, &wanted);
    let mut variables: BTreeMap<_, _> = variables.collect();
    let home = surroundings.home();
    variables.extend(home.map(|home| ("HOME".into(), home.into_os_string())));
    variables
}

/// Finds the places of all keys that the project knows of.
pub(super) fn keys(models: &ModelsFile) -> KeyPlaces {
    let mut all = KeyPlaces::default();
    for provider in models.providers.values() {
        let places = KeyPlaces::of(&**provider);
        all.variables.extend(places.variables);
        all.files.extend(places.files);
    }
    let telemetry = models.telemetry.keys();
    all.variables.extend(telemetry.variables);
    all.files.extend(telemetry.files);
    all.variables.extend(built_in_keys().map(str::to_owned));
    all
}

pub(super) fn no_sandbox(error: &SandboxError) -> CliError {
    let message = "commands that check the work must run in a sandbox, and there is none";
    CliError::failure(format!("{message}: {}", whole(error))).with_hint(format!(
        "{}, or use --no-sandbox in a container",
        error.remedy()
    ))
}

/// Tells whether a check or the completion of a flow runs commands.
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
    }) || asks_command(&flow.agent().behavior.completion)
}

fn asks_command(completion: &Completion) -> bool {
    match completion {
        Completion::ExternalState(state) => {
            matches!(state.source, ExternalStateSource::Command(_))
        }
        Completion::Composite(composite) => {
            let mut conditions = composite.conditions.iter();
            conditions.any(|condition| asks_command(&condition.completion))
        }
        _ => false,
    }
}

/// Returns the sandbox of commands in the folder `root` that run what agents wrote there.
pub(super) fn sandbox(
    root: &Path,
    key_files: impl Iterator<Item = PathBuf>,
    surroundings: &Surroundings,
) -> OsSandbox {
    let path = surroundings.environment.get(OsStr::new("PATH"));
    let program = path.and_then(|path| find_program("bwrap", path));
    let mut sandbox = OsSandbox::new(program.unwrap_or_else(|| BUBBLEWRAP.into())).writable(root);
    // What is put into the repository there may be run outside by the next person who uses git.
    for kept in ProjectPaths::STATE_FOLDERS.into_iter().chain([".git"]) {
        let kept = root.join(kept);
        if kept.symlink_metadata().is_ok() {
            sandbox = sandbox.read_only(kept);
        }
    }
    let hidden = surroundings.home().map(|home| credentials(&home));
    let is_elsewhere = |path: &PathBuf| !path.starts_with(root);
    // A file that is not there needs not be hidden.
    let key_files = key_files.filter_map(|file| file.canonicalize().ok());
    let hidden = hidden.into_iter().flatten().chain(key_files);
    let hidden = hidden.filter(is_elsewhere);
    hidden.fold(sandbox, OsSandbox::hidden)
}

/// Returns the places of credentials in a home and on the machine, but for those that no sandbox
/// shows.
fn credentials(home: &Path) -> Vec<PathBuf> {
    let places = CredentialPlaces::default();
    let plain = places.iter().filter(|place| !place.contains('*'));
    let whole = plain.filter_map(|place| match place.strip_prefix("~/") {
        Some(below) => Some(home.join(below)),
        None if place.starts_with("/etc/") => Some(place.into()),
        None => None,
    });
    whole.collect()
}

/// Returns who tells of escalations, with the keys that the steps name and the authorities that
/// connections to models trust.
pub(crate) fn flow_notifiers(
    registry: &StepsRegistry,
    project: &Project,
    models: &ModelsFile,
    surroundings: &Surroundings,
) -> Result<Notifiers, CliError> {
    let webhooks: Vec<_> = webhooks(registry).collect();
    if webhooks.is_empty() {
        return Ok(Notifiers::default());
    }
    let mut keys = SigningKeys::default();
    for name in webhooks.iter().filter_map(|it| it.signing_key.as_deref()) {
        // Whoever builds the flow tells of a key that is not there.
        if let Some(key) = signing_key(name, surroundings)? {
            keys = keys.with(name, key);
        }
    }
    let notifier = webhook_notifier(keys, project, models, surroundings)?;
    Ok(Notifiers::default().with_webhook(notifier))
}

/// Returns who tells services, with the authorities that connections to models trust.
pub(super) fn webhook_notifier(
    keys: SigningKeys,
    project: &Project,
    models: &ModelsFile,
    surroundings: &Surroundings,
) -> Result<WebhookNotifier, CliError> {
    let mut notifier = WebhookNotifier::new(keys, SystemClock);
    for (place, pem) in authorities(project, &models.trust, surroundings)? {
        let trusting = notifier.trusting(&pem);
        notifier =
            trusting.map_err(|error| CliError::failure(format!("{place}: {}", whole(&error))))?;
    }
    Ok(notifier)
}

/// Returns the key of a name, if it is there.
pub(super) fn signing_key(
    name: &str,
    surroundings: &Surroundings,
) -> Result<Option<SigningKey>, CliError> {
    let variable = key_variable(name);
    let key = surroundings.variable(&variable).map(str::parse).transpose();
    key.map_err(|error| CliError::failure(format!("{variable}: {error}")))
}

fn webhooks(registry: &StepsRegistry) -> impl Iterator<Item = &Escalation> {
    let steps = registry.steps.values().filter_map(|step| step.work());
    let escalations = steps.filter_map(|work| work.escalation.as_ref());
    escalations.filter(|it| it.notification_method == NotificationMethod::Webhook)
}

/// Returns the variables of keys that steps name and that are not set.
pub(crate) fn missing_keys(registry: &StepsRegistry, surroundings: &Surroundings) -> Vec<String> {
    let names = webhooks(registry).filter_map(|it| it.signing_key.as_deref());
    let variables: BTreeSet<_> = names.map(key_variable).collect();
    let is_missing = |variable: &String| surroundings.variable(variable).is_none();
    variables.into_iter().filter(is_missing).collect()
}

/// Reads the authorities that may vouch for a service, with where each of them stands. If there
/// are none, whoever builds the flow says so.
fn authorities(
    project: &Project,
    trust: &Trust,
    surroundings: &Surroundings,
) -> Result<Vec<(String, Vec<u8>)>, CliError> {
    let own = trust.files.iter().map(|file| project.root().join(file));
    let system = match trust.system {
        SystemAuthorities::Trusted => Trust::system_bundle(&surroundings.environment),
        SystemAuthorities::Ignored => None,
    };
    let mut found = Vec::new();
    for file in own.chain(system) {
        let place = file.display().to_string();
        let pem = fs::read(&file)
            .map_err(|error| CliError::failure(format!("{place} cannot be read: {error}")))?;
        found.push((place, pem));
    }
    let pem = trust.pem.iter().map(|pem| pem.clone().into_bytes());
    found.extend(pem.map(|pem| ("trust.pem of models.json".to_owned(), pem)));
    Ok(found)
}

/// Returns the variable of the key that a definition calls `name`.
pub(super) fn key_variable(name: &str) -> String {
    let spelled = name.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    });
    KEY_VARIABLE.chars().chain(spelled).collect()
}

/// Returns the surroundings without the keys, which agents are not to see.
pub(crate) fn without_keys(surroundings: &Surroundings) -> Surroundings {
    let mut without = surroundings.clone();
    let is_key = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name.starts_with(KEY_VARIABLE.as_bytes())
    };
    without.environment.retain(|name, _| !is_key(name));
    without
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_a_key_is_made_of_its_name() {
        for (name, variable) in [
            ("ops", "AUTONOE_SIGNING_KEY_OPS"),
            ("hook-key.2", "AUTONOE_SIGNING_KEY_HOOK_KEY_2"),
        ] {
            assert_eq!(key_variable(name), variable);
        }
    }
}
