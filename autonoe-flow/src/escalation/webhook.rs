//! [`WebhookNotifier`]: delivers events to an HTTP service, with retries.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::event::InvalidValue;
use autonoe_core::time::Clock;
use bytes::Bytes;
use hyper::Uri;
use jiff::Timestamp;
use rustls::RootCertStore;
use serde_json::{Value, json};

use super::delivery::{Attempt, DeliveryDecision, DeliveryPolicy, WebhookRequest};
use super::{SigningKey, SigningKeys};
use crate::definition::StepEscalation;
use crate::error::{FlowError, FlowErrorKind};
use crate::escalation::{Notice, Notifier, address_problem};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Delivers events to an HTTP service, signed as specified by Standard Webhooks.
///
/// It sends `POST` with `{"type": "flow.escalated", "timestamp", "data"}`, where `data` is the
/// [`Notice`], and these headers:
///
/// - `webhook-id`: [`Notice::id`], the same in each attempt and after the flow was killed, so that
///   the service can count the notice once;
/// - `webhook-timestamp`: the time of the attempt;
/// - `webhook-signature`: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, if the
///   escalation names a key.
///
/// A status of 2xx is success. Addresses must be `https`, or `http` on this machine. Redirects are
/// not followed. Errors contain only the host, because the address may be a secret.
///
/// [`with_authorities`](Self::with_authorities) sets the certificate authorities for `https`.
/// Without any, a flow with an `https` webhook cannot be built.
///
/// ```
/// use autonoe_core::time::SystemClock;
/// use autonoe_flow::escalation::{Notifiers, SigningKey, SigningKeys, WebhookNotifier};
///
/// let keys = SigningKeys::default().with("ops", SigningKey::from_bytes(&[7; 32])?);
/// let webhooks = WebhookNotifier::new(keys, SystemClock);
/// let notifiers = Notifiers::default().with_webhook(webhooks);
/// # Ok::<(), autonoe_flow::escalation::InvalidSigningKey>(())
/// ```
pub struct WebhookNotifier {
    keys: SigningKeys,
    clock: Arc<dyn Clock>,
    policy: DeliveryPolicy,
    authorities: Arc<RootCertStore>,
}

impl WebhookNotifier {
    /// Creates a notifier with the keys that definitions name.
    pub fn new(keys: SigningKeys, clock: impl Clock + 'static) -> Self {
        Self {
            keys,
            clock: Arc::new(clock),
            policy: DeliveryPolicy::default(),
            authorities: Arc::new(RootCertStore::empty()),
        }
    }

    /// Sets the certificate authorities for `https`. Default: none.
    #[must_use]
    pub fn with_authorities(mut self, authorities: Arc<RootCertStore>) -> Self {
        self.authorities = authorities;
        self
    }

    /// Sets the retry policy.
    #[must_use]
    pub fn with_policy(mut self, policy: DeliveryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Delivers an event, with the same retries and signature as an escalation.
    ///
    /// ```
    /// # use autonoe_core::time::SystemClock;
    /// # use autonoe_flow::escalation::{SigningKeys, WebhookNotifier, WebhookTarget};
    /// let webhooks = WebhookNotifier::new(SigningKeys::default(), SystemClock);
    /// let plain = WebhookTarget { address: "http://example.com/".to_owned(), signing_key: None };
    ///
    /// assert!(webhooks.check_target(&plain).is_err(), "everybody could read it on its way");
    /// ```
    ///
    /// # Errors
    ///
    /// The event was not accepted. The kind is [`FlowErrorKind::Notification`].
    pub async fn send(
        &self,
        target: &WebhookTarget,
        event: &WebhookEvent,
    ) -> Result<(), FlowError> {
        let (uri, key) = self.resolve_target(target)?;
        let host = uri.host().unwrap_or_default().to_owned();
        let (body, id) = (Bytes::from(event.body()), event.id.clone());
        let mut attempts = 0;
        loop {
            attempts += 1;
            let at = self.clock.now();
            let letter = WebhookRequest {
                uri: uri.clone(),
                id: id.clone(),
                at: at.as_second(),
                signature: key.map(|key| key.sign(&id, at, &body)),
                body: body.clone(),
            };
            let attempt = letter
                .post(self.policy.attempt_timeout, self.authorities.clone())
                .await;
            match self.policy.decide(attempts, &attempt) {
                DeliveryDecision::Done => {
                    tracing::debug!(
                        host,
                        id,
                        tried = attempts,
                        "delivered a notification to a webhook"
                    );
                    return Ok(());
                }
                DeliveryDecision::Retry { after } => {
                    tracing::debug!(host, id, tried = attempts, ?after, "retrying a webhook");
                    self.clock.sleep(after).await;
                }
                DeliveryDecision::GiveUp => return Err(delivery_error(&host, attempts, attempt)),
            }
        }
    }

    /// Checks in advance whether events can be delivered to `target`.
    ///
    /// # Errors
    ///
    /// They certainly cannot. The kind is [`FlowErrorKind::DependencyResolution`], or
    /// [`FlowErrorKind::ConfigurationValidation`] for a policy whose attempts have no time.
    pub fn check_target(&self, target: &WebhookTarget) -> Result<(), FlowError> {
        InvalidValue::check_time("with_policy(..)", self.policy.attempt_timeout)?;
        self.resolve_target(target).map(|_| ())
    }

    /// Resolves the address and the signing key.
    fn resolve_target(
        &self,
        target: &WebhookTarget,
    ) -> Result<(Uri, Option<&SigningKey>), FlowError> {
        let address = &target.address;
        if let Some(problem) = address_problem(address) {
            return Err(unresolved(format!(
                "cannot deliver to the webhook: {problem}"
            )));
        }
        let uri: Uri = address.parse().map_err(|error| {
            unresolved("the address of the webhook is not a valid URI".to_owned())
                .with_cause(BoxError::from(error))
        })?;
        if uri.scheme_str() == Some("https") && self.authorities.is_empty() {
            let host = uri.host().unwrap_or_default();
            return Err(unresolved(format!(
                "no certificate authorities are configured, so the webhook at {host} cannot be \
                 verified"
            )));
        }
        let key = match &target.signing_key {
            None => None,
            Some(name) => Some(self.keys.get(name).ok_or_else(|| {
                unresolved(format!(
                    "the signing key `{name}` of the webhook is not configured"
                ))
            })?),
        };
        Ok((uri, key))
    }
}

#[async_trait]
impl Notifier for WebhookNotifier {
    async fn notify(&self, escalation: &StepEscalation, notice: &Notice) -> Result<(), FlowError> {
        let target = WebhookTarget::from_escalation(escalation);
        self.send(&target, &WebhookEvent::from_notice(notice)).await
    }

    fn resolve(&self, escalation: &StepEscalation) -> Result<(), FlowError> {
        self.check_target(&WebhookTarget::from_escalation(escalation))
    }
}

fn unresolved(message: String) -> FlowError {
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}

fn delivery_error(host: &str, tried: u32, attempt: Attempt) -> FlowError {
    let tries = match tried {
        1 => "1 try".to_owned(),
        tried => format!("{tried} tries"),
    };
    let (problem, source) = match attempt {
        Attempt::Answered { status, .. } if (300..400).contains(&status) => {
            let problem =
                format!("answered with a redirect (status {status}), which is not followed");
            (problem, None)
        }
        Attempt::Answered { status, .. } => (format!("answered with status {status}"), None),
        Attempt::TimedOut => ("did not answer in time".to_owned(), None),
        Attempt::Unreachable { source } => ("was unreachable".to_owned(), Some(source)),
        Attempt::Unsendable { source } => ("could not be sent a request".to_owned(), Some(source)),
    };
    let message = format!("cannot deliver to the webhook at {host}: it {problem}, after {tries}");
    let error = FlowError::new(FlowErrorKind::Notification, message);
    match source {
        Some(source) => error.with_cause(source),
        None => error,
    }
}

impl fmt::Debug for WebhookNotifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookNotifier")
            .field("keys", &self.keys)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// An event for a [`WebhookNotifier`]: an escalation or any other event.
///
/// ```
/// use autonoe_flow::escalation::WebhookEvent;
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
    /// The ID of the event, the same for each delivery: letters, digits, `-` and `_`.
    pub id: String,
    /// The type of the event, for example `flow.escalated`.
    pub kind: String,
    /// The time of the event.
    pub at: Timestamp,
    /// The payload.
    pub data: Value,
}

impl WebhookEvent {
    pub(super) fn from_notice(notice: &Notice) -> Self {
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

/// A webhook and its signing key.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The address, which may be a secret.
    pub address: String,
    /// The name of the signing key. Without one, requests are not signed.
    pub signing_key: Option<String>,
}

impl WebhookTarget {
    pub(super) fn from_escalation(escalation: &StepEscalation) -> Self {
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
