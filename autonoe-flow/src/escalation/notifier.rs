//! [`Notifier`]: delivers escalations; [`Notice`]: their content; validation of webhook addresses.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::definition::{FlowName, NotificationMethod, ReturnFlow, StepEscalation, StepId};
use crate::error::{FlowError, FlowErrorKind};

/// Notifies an outside party that a step has failed for good.
///
/// Implementations must return in bounded time, and report success only if the receiver has
/// accepted the notice. A notice may be delivered again after a flow was killed; both deliveries
/// have the same [`Notice::id`].
///
/// ```
/// use std::sync::Mutex;
///
/// use autonoe_flow::definition::StepEscalation;
/// use autonoe_flow::escalation::Notice;
/// use autonoe_flow::{FlowError, Notifier};
///
/// /// Records every notice.
/// struct Recorder(Mutex<Vec<Notice>>);
///
/// #[async_trait::async_trait]
/// impl Notifier for Recorder {
///     async fn notify(&self, _: &StepEscalation, notice: &Notice) -> Result<(), FlowError> {
///         self.0.lock().expect("nobody panics").push(notice.clone());
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Delivers `notice` as `escalation` specifies.
    ///
    /// # Errors
    ///
    /// The notice was not accepted. The kind is [`FlowErrorKind::Notification`].
    async fn notify(&self, escalation: &StepEscalation, notice: &Notice) -> Result<(), FlowError>;

    /// Checks before the start of a flow whether notices can be delivered as `escalation`
    /// specifies.
    ///
    /// # Errors
    ///
    /// They certainly cannot. The kind is [`FlowErrorKind::DependencyResolution`].
    fn resolve(&self, escalation: &StepEscalation) -> Result<(), FlowError> {
        let _ = escalation;
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<N: Notifier + ?Sized> Notifier for Arc<N> {
    async fn notify(&self, escalation: &StepEscalation, notice: &Notice) -> Result<(), FlowError> {
        (**self).notify(escalation, notice).await
    }

    fn resolve(&self, escalation: &StepEscalation) -> Result<(), FlowError> {
        (**self).resolve(escalation)
    }
}

/// The notifier of each notification method.
#[derive(Clone)]
pub struct Notifiers {
    log: Arc<dyn Notifier>,
    webhook: Option<Arc<dyn Notifier>>,
}

impl Default for Notifiers {
    /// Logs, and rejects webhooks.
    fn default() -> Self {
        Self {
            log: Arc::new(LogNotifier),
            webhook: None,
        }
    }
}

impl Notifiers {
    /// Sets the notifier for webhooks.
    #[must_use]
    pub fn with_webhook(mut self, notifier: impl Notifier + 'static) -> Self {
        self.webhook = Some(Arc::new(notifier));
        self
    }

    /// Sets the notifier for the log.
    #[must_use]
    pub fn with_log(mut self, notifier: impl Notifier + 'static) -> Self {
        self.log = Arc::new(notifier);
        self
    }

    fn notifier_for(
        &self,
        escalation: &StepEscalation,
    ) -> Result<Option<&Arc<dyn Notifier>>, FlowError> {
        match (escalation.notification_method, &self.webhook) {
            (NotificationMethod::InAgent, _) => Ok(None),
            (NotificationMethod::Log, _) => Ok(Some(&self.log)),
            (NotificationMethod::Webhook, Some(webhook)) => Ok(Some(webhook)),
            (NotificationMethod::Webhook, None) => Err(FlowError::new(
                FlowErrorKind::DependencyResolution,
                "no notifier for webhooks is configured",
            )),
        }
    }
}

#[async_trait]
impl Notifier for Notifiers {
    /// An escalation to a step notifies no outside party.
    async fn notify(&self, escalation: &StepEscalation, notice: &Notice) -> Result<(), FlowError> {
        match self.notifier_for(escalation)? {
            Some(notifier) => notifier.notify(escalation, notice).await,
            None => Ok(()),
        }
    }

    fn resolve(&self, escalation: &StepEscalation) -> Result<(), FlowError> {
        match self.notifier_for(escalation)? {
            Some(notifier) => notifier.resolve(escalation),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Notifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifiers")
            .field("has_webhook", &self.webhook.is_some())
            .finish_non_exhaustive()
    }
}

/// Logs escalations with `tracing`, as warnings.
///
/// The reason of a failure may quote the agent. It is logged at the level `TRACE` only, and
/// recorded in the journal of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogNotifier;

#[async_trait]
impl Notifier for LogNotifier {
    async fn notify(&self, escalation: &StepEscalation, notice: &Notice) -> Result<(), FlowError> {
        tracing::warn!(
            id = notice.id(),
            to = escalation.escalate_to,
            run = notice.run.as_str(),
            flow = notice.flow.as_str(),
            step = notice.step.as_str(),
            visit = notice.visit,
            iteration = notice.iteration,
            code = notice.failure.code,
            "a step failed without further retries and is escalated"
        );
        tracing::trace!(
            id = notice.id(),
            failure = notice.failure.message,
            "reason for the failure of the step"
        );
        Ok(())
    }
}

/// The content of an escalation.
///
/// ```
/// use autonoe_core::RunId;
/// use autonoe_flow::definition::ReturnFlow;
/// use autonoe_flow::escalation::{Notice, NoticeFailure};
/// use autonoe_flow::FlowErrorKind;
///
/// let notice = Notice {
///     run: RunId::new("5f2a"),
///     flow: "review".parse()?,
///     step: "draft".parse()?,
///     visit: 1,
///     iteration: 4,
///     failure: NoticeFailure::new(FlowErrorKind::StepFailed, "the tests fail"),
///     return_flow: ReturnFlow::Abort,
///     at: "2026-01-31T12:00:00Z".parse()?,
/// };
///
/// assert_eq!(notice.id(), "5f2a-4-draft-1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The run of the flow.
    pub run: RunId,
    /// The flow.
    pub flow: FlowName,
    /// The step that failed.
    pub step: StepId,
    /// The number of the visit, counted from 1.
    pub visit: u64,
    /// The iteration in which the step failed.
    pub iteration: u64,
    /// The reason of the failure.
    pub failure: NoticeFailure,
    /// Continuation of the flow.
    pub return_flow: ReturnFlow,
    /// The time of the failure.
    pub at: Timestamp,
}

/// The reason why a step failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeFailure {
    /// A stable name for programs, for example `step_failed`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl NoticeFailure {
    /// Creates a failure with the code of `kind`.
    pub fn new(kind: crate::error::FlowErrorKind, message: impl Into<String>) -> Self {
        Self {
            code: kind.code().to_owned(),
            message: message.into(),
        }
    }
}

impl Notice {
    /// Returns the ID of the notice. It is the same for each delivery.
    ///
    /// A flow that is killed during a delivery sends the notice again after it is resumed.
    /// Receivers use the ID to count it once. The iteration alone does not identify a notice: a step
    /// without a prompt can fail again in the same iteration. Each visit of a step sends at most one
    /// notice.
    pub fn id(&self) -> String {
        // The signed content is separated by dots, so the ID must not contain any.
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        };
        let plain = |text: &str| -> String { text.chars().map(plain).collect() };
        let (run, step) = (plain(self.run.as_str()), plain(self.step.as_str()));
        format!("{run}-{}-{step}-{}", self.iteration, self.visit)
    }
}

/// Returns the problem of a webhook address, if it has one.
///
/// Plain `http` is allowed on this machine only, because anyone on the network path could read the
/// notice.
pub(crate) fn address_problem(address: &str) -> Option<String> {
    let invalid = |problem: &str| Some(format!("{address:?}: {problem}"));
    let Some((scheme, rest)) = address.split_once("://") else {
        return invalid("the address does not start with https://");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "\\\"<>`{}|^".contains(c);
    if address.contains(is_odd) {
        return invalid("the address contains an invalid character");
    }
    if authority.contains('@') {
        return Some("the address contains a user name or a password".to_owned());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() {
        return invalid("the address has no host");
    }
    if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return invalid("the port is not a number from 1 to 65535");
    }
    match scheme {
        "https" => None,
        "http" if matches!(host, "localhost" | "127.0.0.1" | "[::1]") => None,
        "http" => invalid("http is only allowed for this machine"),
        _ => invalid("the scheme must be https or http"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        for fine in [
            "https://example.com",
            "https://example.com:8443/hooks?x=1#y",
            "http://localhost:9000/hook",
            "http://127.0.0.1:1/",
            "http://[::1]:80/a",
            "https://[2001:db8::1]/a",
        ] {
            assert_eq!(address_problem(fine), None, "{fine}");
        }
        for wrong in [
            "",
            "example.com/hook",
            "ftp://example.com",
            "http://example.com/hook",
            "http://localhost.example.com/",
            "http://127.0.0.1@example.com/",
            "https://",
            "https:///hook",
            "https://example.com:0/",
            "https://example.com:http/",
            "https://user:secret@example.com/",
            "https://exa mple.com/",
            "https://example.com/{id}",
        ] {
            assert!(address_problem(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        let problem = address_problem("https://user:secret@example.com/").expect("wrong");

        assert!(!problem.contains("secret"), "{problem}");
    }
}
