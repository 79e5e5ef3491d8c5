//! [`Notifier`]: delivers escalations.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::Notice;
use crate::definition::{NotificationMethod, StepEscalation};
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
