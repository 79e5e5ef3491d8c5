//! What a service is told, and where it is.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::definition::Escalation;
use crate::escalation::Notice;

/// Something that a service is told by a [`WebhookNotifier`](super::WebhookNotifier): an escalation,
/// or anything else of which somebody should know.
///
/// ```
/// use autonoe_flow::WebhookEvent;
/// use serde_json::json;
///
/// let event = WebhookEvent {
///     id: "shop-17".to_owned(),
///     kind: "harness.alert".to_owned(),
///     at: "2026-01-31T12:00:00Z".parse()?,
///     data: json!({"severity": "critical"}),
/// };
/// # drop(event);
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookEvent {
    /// What it is known by, the same each time it is told: letters, digits, `-` and `_`.
    pub id: String,
    /// What kind of event it is, for example `flow.escalated`.
    pub kind: String,
    /// When it happened.
    pub at: Timestamp,
    /// What is to be told.
    pub data: Value,
}

impl WebhookEvent {
    pub(super) fn of(notice: &Notice) -> Self {
        Self {
            id: notice.id(),
            kind: "flow.escalated".to_owned(),
            at: notice.at,
            data: json!(notice),
        }
    }

    pub(super) fn body(&self) -> String {
        json!({"type": self.kind, "timestamp": self.at, "data": self.data}).to_string()
    }
}

/// A service, and who signs what it is told.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The address, which may be a secret.
    pub address: String,
    /// The name of the key that signs; nothing is signed without one.
    pub signing_key: Option<String>,
}

impl WebhookTarget {
    pub(super) fn of(escalation: &Escalation) -> Self {
        Self {
            address: escalation.escalate_to.clone(),
            signing_key: escalation.signing_key.clone(),
        }
    }
}

impl std::fmt::Debug for WebhookTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookTarget")
            .field("signing_key", &self.signing_key)
            .finish_non_exhaustive()
    }
}
