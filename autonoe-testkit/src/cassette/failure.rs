//! Errors of a backend, as a cassette keeps them.

use std::error::Error;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind};
use serde::{Deserialize, Serialize};

/// An error of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedFailure {
    /// The stable name of its kind.
    pub code: String,
    /// What it says.
    pub message: String,
    /// What caused it, in the words of all causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// How long the other side asked to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

const KINDS: [AgentErrorKind; 10] = [
    AgentErrorKind::NotAvailable,
    AgentErrorKind::Authentication,
    AgentErrorKind::Billing,
    AgentErrorKind::Configuration,
    AgentErrorKind::Unsupported,
    AgentErrorKind::Protocol,
    AgentErrorKind::Crashed,
    AgentErrorKind::Timeout,
    AgentErrorKind::Overloaded,
    AgentErrorKind::Other,
];

impl RecordedFailure {
    pub(super) fn new(error: &AgentError) -> Self {
        let causes: Vec<String> = std::iter::successors(error.source(), |cause| (*cause).source())
            .map(ToString::to_string)
            .collect();
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            cause: (!causes.is_empty()).then(|| causes.join(": ")),
            retry_after_ms: error
                .delay()
                .map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    pub(super) fn error(&self) -> AgentError {
        let kind = KINDS
            .into_iter()
            .find(|kind| kind.code() == self.code)
            .unwrap_or(AgentErrorKind::Other);
        let mut error = AgentError::new(kind, self.message.clone());
        if let Some(cause) = &self.cause {
            error = error.because(cause.clone());
        }
        if let Some(millis) = self.retry_after_ms {
            error = error.retry_after(Duration::from_millis(millis));
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_back_as_it_was() {
        for kind in KINDS {
            let error = AgentError::new(kind, "it broke")
                .because("the disk is full")
                .retry_after(Duration::from_secs(7));
            let recorded = RecordedFailure::new(&error);

            let again = RecordedFailure::new(&recorded.error());

            assert_eq!(again, recorded);
            assert_eq!(recorded.error().kind(), kind);
        }
    }
}
