//! Serialized form of backend errors in a cassette.

use std::error::Error;
use std::time::Duration;

use autonoe_core::AgentError;
use autonoe_core::agent::{AgentErrorKind, SessionField};
use serde::{Deserialize, Serialize};

/// An error of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordedFailure {
    /// The stable name of the error's kind.
    pub code: String,
    /// The error message.
    pub message: String,
    /// The messages of all causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Advice for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The wait that the other side requested, in milliseconds.
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
            error = error.with_source(cause.clone());
        }
        if let Some(remedy) = &self.remedy {
            error = error.with_remedy(remedy.clone());
        }
        if let Some(millis) = self.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(millis));
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
                .with_source("the disk is full")
                .with_remedy("make room")
                .with_retry_after(Duration::from_secs(7));
            let recorded = RecordedFailure::new(&error);

            let again = RecordedFailure::new(&recorded.error());

            assert_eq!(again, recorded);
            assert_eq!(recorded.error().kind(), kind);
        }
    }
}
