//! Telling a service, with patience.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{Clock, InvalidValue};
use bytes::Bytes;
use hyper::Uri;
use jiff::Timestamp;
use rustls::RootCertStore;
use serde_json::{Value, json};

use super::policy::After;
use super::post::add_authorities;
use super::post::{Attempt, Letter};
use super::{DeliveryPolicy, InvalidAuthorities, SigningKey, SigningKeys};
use crate::definition::Escalation;
use crate::error::{FlowError, FlowErrorKind};
use crate::escalation::{Notice, Notifier, address_problem};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Tells a service by HTTP, signed as the Standard Webhooks say.
///
/// It sends `POST` with `{"type": "flow.escalated", "timestamp", "data"}`, where `data` is the
/// [`Notice`], and the headers
///
/// - `webhook-id`: [`Notice::id`], the same in each try and also after the flow was killed, so
///   that the service can count it once;
/// - `webhook-timestamp`: the time of the try;
/// - `webhook-signature`: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, if the
///   escalation names a key.
///
/// A status of 2xx is success. Addresses are `https`, or `http` on this machine; redirections
/// are not followed. Errors name the host alone: an address may be a secret.
///
/// Who vouches for services with `https` is said by [`trusting`](Self::trusting), for example
/// with the bundle of the system. Without it, a flow that tells such a service is not built.
///
/// ```
/// use autonoe_core::SystemClock;
/// use autonoe_flow::{Notifiers, SigningKey, SigningKeys, WebhookNotifier};
///
/// let keys = SigningKeys::default().with("ops", SigningKey::from_bytes(&[7; 32])?);
/// let webhooks = WebhookNotifier::new(keys, SystemClock);
/// let notifiers = Notifiers::default().with_webhook(webhooks);
/// # Ok::<(), autonoe_flow::InvalidSigningKey>(())
/// ```
pub struct WebhookNotifier {
    keys: SigningKeys,
    clock: Arc<dyn Clock>,
    policy: DeliveryPolicy,
    trusted: Arc<RootCertStore>,
}

impl WebhookNotifier {
    /// Makes a notifier with the keys that definitions name.
    pub fn new(keys: SigningKeys, clock: impl Clock + 'static) -> Self {
        Self {
            keys,
            clock: Arc::new(clock),
            policy: DeliveryPolicy::default(),
            trusted: Arc::new(RootCertStore::empty()),
        }
    }

    /// Trusts the authorities of `pem` besides, when they vouch for a service.
    ///
    /// ```
    /// # use autonoe_core::SystemClock;
    /// # use autonoe_flow::{SigningKeys, WebhookNotifier};
    /// let webhooks = WebhookNotifier::new(SigningKeys::default(), SystemClock);
    ///
    /// assert!(webhooks.trusting(b"no certificate").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// There is no certificate in it, or something that is none.
    pub fn trusting(mut self, pem: &[u8]) -> Result<Self, InvalidAuthorities> {
        add_authorities(Arc::make_mut(&mut self.trusted), pem)?;
        Ok(self)
    }

    /// Sets how often and for how long a service is told.
    #[must_use]
    pub fn with_policy(mut self, policy: DeliveryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Tells a service something, with the same patience and signed in the same way as escalations.
    ///
    /// ```
    /// # use autonoe_core::SystemClock;
    /// # use autonoe_flow::{SigningKeys, WebhookNotifier, WebhookTarget};
    /// let webhooks = WebhookNotifier::new(SigningKeys::default(), SystemClock);
    /// let plain = WebhookTarget { address: "http://example.com/".to_owned(), signing_key: None };
    ///
    /// assert!(webhooks.can_tell(&plain).is_err(), "everybody could read it on its way");
    /// ```
    ///
    /// # Errors
    ///
    /// It was not taken; the kind is [`FlowErrorKind::Notification`].
    pub async fn tell(
        &self,
        target: &WebhookTarget,
        event: &WebhookEvent,
    ) -> Result<(), FlowError> {
        let (uri, key) = self.ready(target)?;
        let host = uri.host().unwrap_or_default().to_owned();
        let (body, id) = (Bytes::from(event.body()), event.id.clone());
        let mut tried = 0;
        loop {
            tried += 1;
            let at = self.clock.now();
            let letter = Letter {
                uri: uri.clone(),
                id: id.clone(),
                at: at.as_second(),
                signature: key.map(|key| key.sign(&id, at, &body)),
                body: body.clone(),
            };
            let attempt = letter
                .post(self.policy.try_time, self.trusted.clone())
                .await;
            match self.policy.decide(tried, &attempt) {
                After::Done => {
                    tracing::debug!(host, id, tried, "a webhook was told");
                    return Ok(());
                }
                After::TryAgain { after } => {
                    tracing::debug!(host, id, tried, ?after, "a webhook is tried again");
                    self.clock.sleep(after).await;
                }
                After::GiveUp => return Err(untold(&host, tried, attempt)),
            }
        }
    }

    /// Tells before anything begins whether a service could be told.
    ///
    /// # Errors
    ///
    /// It surely could not; the kind is [`FlowErrorKind::DependencyResolution`], or
    /// [`FlowErrorKind::ConfigurationValidation`] for a policy without time for a try.
    pub fn can_tell(&self, target: &WebhookTarget) -> Result<(), FlowError> {
        InvalidValue::check_time("with_policy(..)", self.policy.try_time)?;
        self.ready(target).map(|_| ())
    }

    /// Finds where to send to, and what signs it.
    fn ready(&self, target: &WebhookTarget) -> Result<(Uri, Option<&SigningKey>), FlowError> {
        let address = &target.address;
        if let Some(problem) = address_problem(address) {
            return Err(unresolved(format!("the webhook cannot be told: {problem}")));
        }
        let uri: Uri = address.parse().map_err(|error| {
            unresolved("the address of the webhook is none".to_owned())
                .because(BoxError::from(error))
        })?;
        if uri.scheme_str() == Some("https") && self.trusted.is_empty() {
            let host = uri.host().unwrap_or_default();
            return Err(unresolved(format!(
                "no authorities are given that could vouch for the webhook at {host}"
            )));
        }
        let key = match &target.signing_key {
            None => None,
            Some(name) => Some(self.keys.get(name).ok_or_else(|| {
                unresolved(format!("there is no signing key `{name}` for the webhook"))
            })?),
        };
        Ok((uri, key))
    }
}

#[async_trait]
impl Notifier for WebhookNotifier {
    async fn notify(&self, escalation: &Escalation, notice: &Notice) -> Result<(), FlowError> {
        let target = WebhookTarget::of(escalation);
        self.tell(&target, &WebhookEvent::of(notice)).await
    }

    fn resolve(&self, escalation: &Escalation) -> Result<(), FlowError> {
        self.can_tell(&WebhookTarget::of(escalation))
    }
}

fn unresolved(message: String) -> FlowError {
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}

fn untold(host: &str, tried: u32, attempt: Attempt) -> FlowError {
    let tries = match tried {
        1 => "1 try".to_owned(),
        tried => format!("{tried} tries"),
    };
    let (what, source) = match attempt {
        Attempt::Answered { status, .. } if (300..400).contains(&status) => {
            let what =
                format!("sends us to another place with status {status}, where we do not go");
            (what, None)
        }
        Attempt::Answered { status, .. } => (format!("answered with status {status}"), None),
        Attempt::TimedOut => ("did not answer in time".to_owned(), None),
        Attempt::Unreachable { source } => ("could not be reached".to_owned(), Some(source)),
        Attempt::Unsendable { source } => ("could not be asked".to_owned(), Some(source)),
    };
    let message = format!("the webhook at {host} was not told: it {what}, after {tries}");
    let error = FlowError::new(FlowErrorKind::Notification, message);
    match source {
        Some(source) => error.because(source),
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
