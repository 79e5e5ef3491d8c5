//! [`WebhookSink`] sends alerts to an HTTP service.

use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::Project;
use autonoe_flow::escalation::{SigningKeys, WebhookEvent, WebhookNotifier, WebhookTarget};
use autonoe_harness::alert::{Alert, AlertSink};
use sha2::{Digest, Sha256};

use super::AlertSource;
use crate::error::{AppError, error_chain};
use crate::flow_parts::{key_variable, signing_key, webhook_notifier};
use crate::{Env, ModelsFile};

/// Time limit for one alert: more than all attempts of the notifier and the waits between them.
pub(super) const DEADLINE: Duration = Duration::from_secs(90);

/// A webhook for alerts.
pub(super) struct WebhookSink {
    notifier: WebhookNotifier,
    target: WebhookTarget,
    source: AlertSource,
}

impl WebhookSink {
    /// Creates the webhook, and checks in advance whether alerts can be delivered.
    pub(super) fn new(
        address: &str,
        key: Option<&str>,
        source: AlertSource,
        project: &Project,
        models: &ModelsFile,
        env: &Env,
    ) -> Result<Self, AppError> {
        let mut keys = SigningKeys::default();
        if let Some(name) = key {
            let found = signing_key(name, env)?.ok_or_else(|| {
                let variable = key_variable(name);
                let missing = AppError::failure(format!("the signing key {name:?} is not set"));
                missing.with_hint(format!("set the environment variable {variable}"))
            })?;
            keys = keys.with(name, found);
        }
        let notifier = webhook_notifier(keys, project, models, env)?;
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
        let digest = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
        let event = WebhookEvent {
            id: digest.collect(),
            kind: self.source.event_type().to_owned(),
            at: alert.timestamp,
            data,
        };
        let delivered = self.notifier.send(&self.target, &event).await;
        delivered.map_err(|error| error_chain(&error).into())
    }
}
