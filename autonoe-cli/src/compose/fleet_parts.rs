//! What a fleet needs beside agents: who runs the commands of criteria, and who is told of alerts.

use std::path::Path;

use autonoe_core::{Project, Sandbox, SandboxSwitch};
use autonoe_flow::{SigningKeys, WebhookEvent, WebhookNotifier, WebhookTarget};
use autonoe_harness::Alert;
use autonoe_process::{Commands, OsSandbox};
use sha2::{Digest, Sha256};

use super::ModelsFile;
use super::flow_parts::{
    command_variables, key_variable, keys, no_sandbox, sandbox, signing_key, webhook_notifier,
};
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

/// What finds the processes of a sub-harness.
const MARKER: &str = "AUTONOE_HARNESS";

/// Returns who runs the commands of criteria in `folder`: in a sandbox as agents are, because they
/// run what agents wrote.
pub(crate) fn criteria_commands(
    folder: &Path,
    models: &ModelsFile,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Commands {
    let commands = match switch.sandbox() {
        Sandbox::Off => Commands::unconfined(folder),
        Sandbox::Required => Commands::confined(folder, of_folder(folder, models, surroundings)),
    };
    let marker = surroundings.variable(MARKER);
    commands
        .envs(command_variables(models, &keys(models), surroundings))
        .envs(marker.map(|value| (MARKER, value)))
}

/// Looks whether there is a sandbox for the commands of criteria, before anything begins.
pub(crate) fn criteria_sandbox(
    folder: &Path,
    models: &ModelsFile,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    match switch.sandbox() {
        Sandbox::Off => Ok(()),
        Sandbox::Required => {
            let sandbox = of_folder(folder, models, surroundings);
            sandbox.check().map_err(|error| no_sandbox(&error))
        }
    }
}

fn of_folder(folder: &Path, models: &ModelsFile, surroundings: &Surroundings) -> OsSandbox {
    let files = keys(models).files.into_iter();
    let files = files.map(|file| folder.join(file));
    sandbox(folder, files, surroundings).network(models.tools.network.into())
}

/// A service that is told of alerts.
#[derive(Debug)]
pub(crate) struct AlertWebhook {
    notifier: WebhookNotifier,
    target: WebhookTarget,
}

impl AlertWebhook {
    /// Finds out whether a service could be told, before anything begins.
    pub(crate) fn find(
        address: &str,
        key: Option<&str>,
        project: &Project,
        models: &ModelsFile,
        surroundings: &Surroundings,
    ) -> Result<Self, CliError> {
        let mut keys = SigningKeys::default();
        if let Some(name) = key {
            let found = signing_key(name, surroundings)?.ok_or_else(|| {
                let variable = key_variable(name);
                let missing = CliError::failure(format!("there is no signing key {name:?}"));
                missing.with_hint(format!("set {variable}"))
            })?;
            keys = keys.with(name, found);
        }
        let notifier = webhook_notifier(keys, project, models, surroundings)?;
        let target = WebhookTarget {
            address: address.to_owned(),
            signing_key: key.map(str::to_owned),
        };
        let resolved = notifier.can_tell(&target);
        resolved.map_err(|error| CliError::usage(whole(&error)))?;
        Ok(Self { notifier, target })
    }

    /// Tells an alert. Its id is made of all that is in it, so that the service counts it once.
    pub(crate) async fn tell(&self, alert: &Alert) -> Result<(), CliError> {
        let data = serde_json::to_value(alert);
        let data = data.map_err(|error| CliError::failure(error.to_string()))?;
        let digest = Sha256::digest(data.to_string());
        let digest = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
        let event = WebhookEvent {
            id: digest.collect(),
            kind: "harness.alert".to_owned(),
            at: alert.timestamp,
            data,
        };
        let told = self.notifier.tell(&self.target, &event).await;
        told.map_err(|error| CliError::failure(whole(&error)))
    }
}
