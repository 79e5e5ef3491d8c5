//! [`FlowFailure`]: a serializable error of a flow.

use std::time::Duration;

use autonoe_core::agent::BudgetKind;
use serde::{Deserialize, Serialize};

use crate::definition::StepId;
use crate::error::{FlowError, FlowErrorKind, FlowLayer};

/// A serializable and comparable [`FlowError`], for journals.
///
/// ```
/// use autonoe_flow::machine::FlowFailure;
/// use autonoe_flow::FlowErrorKind;
///
/// let failure = FlowFailure::new(FlowErrorKind::SdkConnection, "the agent could not be reached");
///
/// assert!(failure.is_recoverable());
/// assert_eq!(
///     serde_json::to_value(&failure)?,
///     serde_json::json!({"code": "sdk_connection", "message": "the agent could not be reached"})
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FlowFailure {
    /// The kind of the error; its code in JSON.
    #[serde(rename = "code")]
    pub kind: FlowErrorKind,
    /// A lower-case sentence that names the subject.
    pub message: String,
    /// The iteration in which the error occurred, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u64>,
    /// The step in which the error occurred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The wait before a retry, in milliseconds, if the service requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The exhausted part of the budget, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetKind>,
    /// The cause.
    #[source]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<FlowFailure>>,
}

impl FlowFailure {
    /// Creates a failure; `message` is a lower-case sentence that names the subject.
    pub fn new(kind: FlowErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            iteration: None,
            step: None,
            retry_after_ms: None,
            budget: None,
            cause: None,
        }
    }

    /// The flow was cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::new(FlowErrorKind::Interrupted, "the flow was cancelled")
    }

    /// A part of the budget of the flow is spent.
    pub(crate) fn budget_spent(budget: BudgetKind) -> Self {
        let message = format!("the {budget} budget of the flow is spent");
        Self {
            budget: Some(budget),
            ..Self::new(FlowErrorKind::BudgetExceeded, message)
        }
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_cause(mut self, cause: FlowFailure) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Returns whether a retry or another path may help. If not, the flow ends at once.
    pub fn is_recoverable(&self) -> bool {
        self.kind.is_recoverable()
    }

    /// Returns whether the flow can be resumed: an operator stopped it, a quota or a budget is
    /// exhausted, or a prompt cannot be used.
    pub fn is_resumable(&self) -> bool {
        use FlowErrorKind::{BudgetExceeded, Interrupted, SdkRateLimit};
        let stops = matches!(self.kind, BudgetExceeded | Interrupted | SdkRateLimit);
        stops || self.kind.layer() == FlowLayer::Prompt
    }

    /// Returns whether the root cause is a failure of the agent, so that a wait may help.
    pub(super) fn is_agent_failure(&self) -> bool {
        self.root().kind.layer() == FlowLayer::SdkBridge
    }

    /// Returns the wait that the service requested.
    pub(super) fn retry_after(&self) -> Duration {
        Duration::from_millis(self.root().retry_after_ms.unwrap_or(0))
    }

    /// Adds the location of the failure, unless it is already known.
    #[must_use]
    pub(super) fn with_location(mut self, iteration: u64, step: Option<&StepId>) -> Self {
        self.iteration = self.iteration.or((iteration > 0).then_some(iteration));
        self.step = self.step.or_else(|| step.cloned());
        self
    }

    /// Returns the message with its causes, for a prompt.
    pub(crate) fn message_with_causes(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {}", self.message, cause.message_with_causes()),
            None => self.message.clone(),
        }
    }

    /// Returns the root cause.
    pub(super) fn root(&self) -> &Self {
        self.cause.as_ref().map_or(self, |cause| cause.root())
    }
}

impl From<FlowError> for FlowFailure {
    fn from(error: FlowError) -> Self {
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            message.push_str(": ");
            message.push_str(&inner.to_string());
            cause = inner.source();
        }
        Self {
            iteration: error.iteration(),
            ..Self::new(error.kind(), message)
        }
    }
}

impl From<FlowFailure> for FlowError {
    fn from(failure: FlowFailure) -> Self {
        let mut error = Self::new(failure.kind, failure.message);
        if let Some(iteration) = failure.iteration {
            error = error.at_iteration(iteration);
        }
        match failure.cause {
            Some(cause) => error.with_cause(cause),
            None => error,
        }
    }
}
