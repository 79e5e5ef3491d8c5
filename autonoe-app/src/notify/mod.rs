//! Notifications of the operator about runs, flows and fleets: [`Notifications`].

mod command;
mod desktop;
mod queue;
mod run_alerts;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::Project;
use autonoe_flow::escalation::{SigningKeys, WebhookEvent, WebhookNotifier, WebhookTarget};
use autonoe_harness::alert::{Alert, AlertSink};
use sha2::{Digest, Sha256};

use self::command::CommandSink;
use self::desktop::DesktopSink;
use self::queue::AlertQueue;
pub use self::run_alerts::RunAlerts;
use crate::error::{AppError, error_chain};
use crate::flow_parts::{key_variable, signing_key, webhook_notifier};
use crate::{Env, ModelsFile, without_keys};

/// The channels that an operator chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyOptions {
    /// The URL of a webhook.
    pub url: Option<String>,
    /// The name of the key that signs the requests to the webhook.
    pub key: Option<String>,
    /// A command line for `/bin/sh`.
    pub command: Option<String>,
    /// Whether to show desktop notifications.
    pub desktop: bool,
}

/// Kind of work that raises alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertSource {
    Run,
    Flow,
    Fleet,
}

impl AlertSource {
    /// Returns the type of events that webhooks receive.
    fn event_type(self) -> &'static str {
        match self {
            Self::Run => "run.alert",
            Self::Flow => "flow.alert",
            Self::Fleet => "harness.alert",
        }
    }
}

/// Sends alerts to the channels of the operator, without delaying the work.
///
/// Each channel has a queue of its own, so that a slow one delays no other. Alerts can be sent from
/// any thread, and before [`start`](Self::start).
pub struct Notifications {
    queues: Vec<AlertQueue>,
    warnings: Vec<String>,
}

impl Notifications {
    /// Checks in advance whether alerts can be delivered. `env` still has the signing keys.
    pub fn new(
        options: &NotifyOptions,
        source: AlertSource,
        project: &Project,
        models: &ModelsFile,
        env: &Env,
    ) -> Result<Self, AppError> {
        let mut sinks: Vec<(Arc<dyn AlertSink>, Duration)> = Vec::new();
        let mut warnings = Vec::new();
        if let Some(url) = &options.url {
            let key = options.key.as_deref();
            let webhook = WebhookSink::new(url, key, source, project, models, env)?;
            sinks.push((Arc::new(webhook), WEBHOOK_DEADLINE));
        }
        // Only the webhook needs the keys.
        let env = &without_keys(env);
        if let Some(line) = &options.command {
            let command = CommandSink::new(line, env)?;
            warnings.extend(command::warning(line, project, env));
            sinks.push((Arc::new(command), command::DEADLINE));
        }
        if options.desktop {
            match DesktopSink::find(project_name(project.root()), env) {
                Ok(desktop) => sinks.push((Arc::new(desktop), desktop::DEADLINE)),
                Err(reason) => {
                    warnings.push(format!("there are no desktop notifications: {reason}"));
                }
            }
        }
        let queues = sinks
            .into_iter()
            .map(|(sink, deadline)| AlertQueue::new(sink, deadline));
        Ok(Self {
            queues: queues.collect(),
            warnings,
        })
    }

    /// Returns warnings for the operator.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns whether there is no channel.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Queues an alert for each channel.
    pub fn send(&self, alert: Alert) {
        let alert = Arc::new(alert);
        for queue in &self.queues {
            queue.send(Arc::clone(&alert));
        }
    }

    /// Returns the number of alerts that every channel has delivered or given up.
    pub fn handled(&self) -> usize {
        self.queues
            .iter()
            .map(AlertQueue::handled)
            .min()
            .unwrap_or(0)
    }

    /// Starts the deliveries on the current runtime. `warn` receives the reason of each alert that
    /// a channel has given up.
    pub fn start(&self, warn: impl Fn(&str) + Send + Sync + 'static) {
        let warn: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(warn);
        for queue in &self.queues {
            queue.start(Arc::clone(&warn));
        }
    }

    /// Waits until every alert was delivered or given up, for at most `limit`. Returns a warning
    /// if that took longer.
    pub async fn finish(&self, limit: Duration) -> Option<String> {
        let all = async {
            for queue in &self.queues {
                queue.flush().await;
            }
        };
        if tokio::time::timeout(limit, all).await.is_ok() {
            return None;
        }
        let late: Vec<_> = self
            .queues
            .iter()
            .filter(|queue| !queue.is_idle())
            .map(AlertQueue::name)
            .collect();
        Some(format!(
            "the last notifications were not delivered in time ({})",
            late.join(" and ")
        ))
    }
}

/// Returns the name of the project's folder.
fn project_name(root: &Path) -> String {
    let name = root.file_name().unwrap_or(root.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Time limit for one alert: more than all attempts of the notifier and the waits between them.
const WEBHOOK_DEADLINE: Duration = Duration::from_secs(90);

/// A webhook for alerts.
struct WebhookSink {
    notifier: WebhookNotifier,
    target: WebhookTarget,
    source: AlertSource,
}

impl WebhookSink {
    /// Creates the webhook, and checks in advance whether alerts can be delivered.
    fn new(
        address: &str,
        key: Option<&str>,
        source: AlertSource,
        project: &Project,
        models: &ModelsFile,
        env: &Env,
    ) -> Result<Self, AppError> {
        let mut keys = SigningKeys::default();
        if let Some(name) = key {
            let key = signing_key(name, env)?.ok_or_else(|| {
                let variable = key_variable(name);
                let missing = AppError::failure(format!("the signing key {name:?} is not set"));
                missing.with_hint(format!("set the environment variable {variable}"))
            })?;
            keys = keys.with(name, key);
        }
        let notifier = webhook_notifier(keys, [address].into_iter(), project, models, env)?;
        let target = WebhookTarget {
            address: address.to_owned(),
            signing_key: key.map(str::to_owned),
        };
        let resolved = notifier.check_target(&target);
        resolved.map_err(|error| AppError::usage(error_chain(&error)))?;
        Ok(Self {
            notifier,
            target,
            source,
        })
    }
}

#[async_trait]
impl AlertSink for WebhookSink {
    fn name(&self) -> &str {
        "webhook"
    }

    /// Delivers an alert. Its ID is a hash of its content, so that the service counts it once.
    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let data = serde_json::to_value(alert)?;
        let digest = Sha256::digest(data.to_string());
        let id = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
        let event = WebhookEvent {
            id: id.collect(),
            kind: self.source.event_type().to_owned(),
            at: alert.timestamp,
            data,
        };
        let delivered = self.notifier.send(&self.target, &event).await;
        delivered.map_err(|error| error_chain(&error).into())
    }
}
