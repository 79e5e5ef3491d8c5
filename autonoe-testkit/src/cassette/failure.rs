//! Errors of a backend, as a cassette keeps them.

use std::error::Error;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind, SessionField};
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
    /// What an operator can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
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

/// Returns every kind of error.
fn kinds() -> impl Iterator<Item = AgentErrorKind> {
    let unclaimed = SessionField::ALL.map(AgentErrorKind::Unclaimed);
    KINDS.into_iter().chain(unclaimed)
}

impl RecordedFailure {
    pub(super) fn new(error: &AgentError) -> Self {
        let causes: Vec<String> = std::iter::successors(error.source(), |cause| (*cause).source())
            .map(ToString::to_string)
            .collect();
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            cause: (!causes.is_empty()).then(|| causes.join(": ")),
            remedy: error.remedy().map(str::to_owned),
            retry_after_ms: error
                .delay()
                .map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    pub(super) fn error(&self) -> AgentError {
        let kind = kinds()
            .find(|kind| kind.code() == self.code)
            .unwrap_or(AgentErrorKind::Other);
        let mut error = AgentError::new(kind, self.message.clone());
        if let Some(cause) = &self.cause {
            error = error.because(cause.clone());
        }
        if let Some(remedy) = &self.remedy {
            error = error.with_remedy(remedy.clone());
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
        for kind in kinds() {
            let error = AgentError::new(kind, "it broke")
                .because("the disk is full")
                .with_remedy("make room")
                .retry_after(Duration::from_secs(7));
            let recorded = RecordedFailure::new(&error);

            let again = RecordedFailure::new(&recorded.error());

            assert_eq!(again, recorded);
            assert_eq!(recorded.error().kind(), kind);
        }
    }
}
