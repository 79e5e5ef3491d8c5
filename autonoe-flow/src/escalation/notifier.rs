//! Who tells escalations.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::Notice;
use crate::definition::{Escalation, NotificationMethod};
use crate::error::{FlowError, FlowErrorKind};

/// Tells somebody outside that a step has failed for good.
///
/// An implementer owes an answer in bounded time, and success only if whoever
/// is told has taken it. The same notice may come again after a flow was
/// killed; [`Notice::id`] tells.
///
/// ```
/// use std::sync::Mutex;
///
/// use autonoe_flow::{Escalation, FlowError, Notice, Notifier};
///
/// /// Keeps what it was told.
/// struct Kept(Mutex<Vec<Notice>>);
///
/// #[async_trait::async_trait]
/// impl Notifier for Kept {
///     async fn notify(&self, _: &Escalation, notice: &Notice) -> Result<(), FlowError> {
///         self.0.lock().expect("nobody panics").push(notice.clone());
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Tells `notice` as `escalation` says.
    ///
    /// # Errors
    ///
    /// It was not taken; the kind is [`FlowErrorKind::Notification`].
    async fn notify(&self, escalation: &Escalation, notice: &Notice) -> Result<(), FlowError>;

    /// Tells before the start of a flow whether it could tell as `escalation` says.
    ///
    /// # Errors
    ///
    /// It surely could not; the kind is [`FlowErrorKind::DependencyResolution`].
    fn resolve(&self, escalation: &Escalation) -> Result<(), FlowError> {
        let _ = escalation;
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<N: Notifier + ?Sized> Notifier for Arc<N> {
    async fn notify(&self, escalation: &Escalation, notice: &Notice) -> Result<(), FlowError> {
        (**self).notify(escalation, notice).await
    }

    fn resolve(&self, escalation: &Escalation) -> Result<(), FlowError> {
        (**self).resolve(escalation)
    }
}

/// Who tells which kind of escalation.
#[derive(Clone)]
pub struct Notifiers {
    log: Arc<dyn Notifier>,
    webhook: Option<Arc<dyn Notifier>>,
}

impl Default for Notifiers {
    /// Logs, and knows no webhook.
    fn default() -> Self {
        Self {
            log: Arc::new(LogNotifier),
            webhook: None,
        }
    }
}

impl Notifiers {
    /// Sets who tells webhooks.
    #[must_use]
    pub fn with_webhook(mut self, notifier: impl Notifier + 'static) -> Self {
        self.webhook = Some(Arc::new(notifier));
        self
    }

    /// Sets who logs.
    #[must_use]
    pub fn with_log(mut self, notifier: impl Notifier + 'static) -> Self {
        self.log = Arc::new(notifier);
        self
    }

    fn of(&self, escalation: &Escalation) -> Result<Option<&Arc<dyn Notifier>>, FlowError> {
        match (escalation.notification_method, &self.webhook) {
            (NotificationMethod::InAgent, _) => Ok(None),
            (NotificationMethod::Log, _) => Ok(Some(&self.log)),
            (NotificationMethod::Webhook, Some(webhook)) => Ok(Some(webhook)),
            (NotificationMethod::Webhook, None) => Err(FlowError::new(
                FlowErrorKind::DependencyResolution,
                "nobody is there to tell webhooks",
            )),
        }
    }
}

#[async_trait]
impl Notifier for Notifiers {
    /// An escalation to a step tells nobody outside.
    async fn notify(&self, escalation: &Escalation, notice: &Notice) -> Result<(), FlowError> {
        match self.of(escalation)? {
            Some(notifier) => notifier.notify(escalation, notice).await,
            None => Ok(()),
        }
    }

    fn resolve(&self, escalation: &Escalation) -> Result<(), FlowError> {
        match self.of(escalation)? {
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

/// Logs escalations by `tracing`, as warnings.
///
/// Why a step failed may repeat what an agent said. It is logged at the level `TRACE` alone;
/// the journal of the run has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogNotifier;

#[async_trait]
impl Notifier for LogNotifier {
    async fn notify(&self, escalation: &Escalation, notice: &Notice) -> Result<(), FlowError> {
        tracing::warn!(
            id = notice.id(),
            to = escalation.escalate_to,
            run = notice.run.as_str(),
            flow = notice.flow.as_str(),
            step = notice.step.as_str(),
            visit = notice.visit,
            iteration = notice.iteration,
            code = notice.failure.code,
            "a step failed for good and is escalated"
        );
        tracing::trace!(
            id = notice.id(),
            failure = notice.failure.message,
            "why the step failed"
        );
        Ok(())
    }
}
