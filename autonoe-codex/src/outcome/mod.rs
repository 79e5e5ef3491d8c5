//! Outcome of a turn, decided from the evidence at its end.

use autonoe_core::AgentError;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};

use crate::wire::{ErrorInfo, RateLimits, TurnError, TurnStatus};

/// Decides the outcome of a turn. It is a success only if the program reports the turn as
/// completed.
///
/// # Errors
///
/// The turn did not finish, or the model could not be reached.
///
/// ```
/// use autonoe_codex::outcome::{Ending, decide};
///
/// // A missing report is not a success.
/// assert!(decide(&Ending::default()).is_err());
/// ```
pub fn decide(ending: &Ending) -> Result<SessionOutcome, AgentError> {
    match ending.status {
        Some(TurnStatus::Completed) => Ok(SessionOutcome::Completed),
        Some(TurnStatus::Interrupted) => Ok(stopped(ending)),
        Some(TurnStatus::Failed) => failed(ending),
        Some(TurnStatus::InProgress | TurnStatus::Unknown) => Err(AgentError::new(
            AgentErrorKind::Protocol,
            "Codex ended a turn with an unknown status",
        )),
        None if ending.stopped.is_some() => Ok(stopped(ending)),
        None => Err(crash_error(ending)),
    }
}

fn stopped(ending: &Ending) -> SessionOutcome {
    match ending.stopped {
        Some(HostAction::MaxTurns) => SessionOutcome::MaxTurns,
        Some(HostAction::Interrupted) | None => SessionOutcome::Interrupted,
    }
}

fn crash_error(ending: &Ending) -> AgentError {
    let details = ending
        .exit_description
        .as_deref()
        .unwrap_or_default()
        .trim();
    let message = if details.is_empty() {
        "Codex exited in the middle of a turn".to_owned()
    } else {
        format!("Codex exited in the middle of a turn: {details}")
    };
    AgentError::new(AgentErrorKind::Crashed, message)
}

fn failed(ending: &Ending) -> Result<SessionOutcome, AgentError> {
    let error = ending.error.clone().unwrap_or_default();
    let message = if error.message.is_empty() {
        "Codex gave no reason".to_owned()
    } else {
        error.message
    };
    let fail = |kind| Err(AgentError::new(kind, message.clone()));
    // When the program gives up, its last error may not name the cause of its retries.
    let vague = matches!(error.codex_error_info.name.as_deref(), None | Some("other"));
    let info = match &ending.last_retry {
        Some(retried) if vague => retried,
        _ => &error.codex_error_info,
    };
    match info.name.as_deref().unwrap_or_default() {
        "usageLimitExceeded" => Ok(SessionOutcome::QuotaExceeded {
            message,
            resets_at: ending.limits.resets_at(),
        }),
        "sessionBudgetExceeded" => Ok(SessionOutcome::BudgetExceeded),
        "unauthorized" => fail(AgentErrorKind::Authentication),
        "modelNotFound" => fail(AgentErrorKind::Configuration),
        "rateLimitExceeded"
        | "serverOverloaded"
        | "flexUnavailable"
        | "policyCapacityUnavailable"
        | "internalServerError" => fail(AgentErrorKind::Overloaded),
        "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts" => fail(by_status(info)),
        // The service or the program ended the turn.
        _ => Ok(SessionOutcome::ExecutionError {
            messages: vec![message],
        }),
    }
}

/// Returns the error kind of an HTTP status, or of a missing answer.
fn by_status(info: &ErrorInfo) -> AgentErrorKind {
    match info.status {
        Some(401 | 403) => AgentErrorKind::Authentication,
        Some(402) => AgentErrorKind::Billing,
        Some(400 | 404) => AgentErrorKind::Configuration,
        Some(429 | 500..) => AgentErrorKind::Overloaded,
        Some(_) | None => AgentErrorKind::Other,
    }
}

/// The evidence at the end of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// The status that the program reported; `None` if it reported none.
    pub status: Option<TurnStatus>,
    /// The error that the program reported.
    pub error: Option<TurnError>,
    /// The last error after which the program retried.
    pub last_retry: Option<ErrorInfo>,
    /// The last reported usage of the subscription.
    pub limits: RateLimits,
    /// Action of the host that stopped the turn, if any.
    pub stopped: Option<HostAction>,
    /// Exit and standard error of the program, if it has exited.
    pub exit_description: Option<String>,
}

/// The reason why the host stopped a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAction {
    /// The caller requested it.
    Interrupted,
    /// The session reached its limit of model calls.
    MaxTurns,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{RateLimits, TurnError};

    fn failed_by(info: ErrorInfo) -> Ending {
        let error = TurnError {
            message: "it went wrong".to_owned(),
            codex_error_info: info,
            ..TurnError::default()
        };
        Ending {
            status: Some(TurnStatus::Failed),
            error: Some(error),
            ..Ending::default()
        }
    }

    fn verdict(ending: &Ending) -> String {
        match decide(ending) {
            Ok(SessionOutcome::ExecutionError { .. }) => "execution error".to_owned(),
            Ok(SessionOutcome::QuotaExceeded { .. }) => "quota".to_owned(),
            Ok(outcome) => outcome.to_string(),
            Err(error) => error.code().to_owned(),
        }
    }

    #[test]
    fn each_kind_of_error_has_its_outcome() {
        for (name, status, expected) in [
            ("usageLimitExceeded", None, "quota"),
            ("sessionBudgetExceeded", None, "spent its budget"),
            ("unauthorized", None, "authentication"),
            ("modelNotFound", None, "configuration"),
            ("rateLimitExceeded", None, "overloaded"),
            ("serverOverloaded", None, "overloaded"),
            ("flexUnavailable", None, "overloaded"),
            ("policyCapacityUnavailable", None, "overloaded"),
            ("internalServerError", None, "overloaded"),
            ("httpConnectionFailed", Some(401), "authentication"),
            ("httpConnectionFailed", Some(403), "authentication"),
            ("httpConnectionFailed", Some(402), "billing"),
            ("httpConnectionFailed", Some(404), "configuration"),
            ("httpConnectionFailed", Some(503), "overloaded"),
            ("httpConnectionFailed", None, "other"),
            ("responseStreamConnectionFailed", None, "other"),
            ("responseStreamDisconnected", None, "other"),
            ("responseTooManyFailedAttempts", Some(429), "overloaded"),
            ("contextWindowExceeded", None, "execution error"),
            ("badRequest", None, "execution error"),
            ("cyberPolicy", None, "execution error"),
            ("misalignmentPolicyViolation", None, "execution error"),
            ("tooManyDenials", None, "execution error"),
            ("sandboxError", None, "execution error"),
            ("threadRollbackFailed", None, "execution error"),
            ("other", None, "execution error"),
            ("somethingNew", None, "execution error"),
        ] {
            let mut info = ErrorInfo::named(name);
            info.status = status;

            assert_eq!(verdict(&failed_by(info)), expected, "{name} {status:?}");
        }
    }

    #[test]
    fn each_status_has_its_outcome() {
        use TurnStatus::{Completed, Failed, InProgress, Interrupted, Unknown};
        for (status, stopped, expected) in [
            (Some(Completed), None, "completed"),
            (Some(Completed), Some(HostAction::Interrupted), "completed"),
            (Some(Interrupted), None, "was interrupted"),
            (
                Some(Interrupted),
                Some(HostAction::MaxTurns),
                "used all of its turns",
            ),
            (Some(Failed), None, "execution error"),
            (Some(InProgress), None, "protocol"),
            (Some(Unknown), None, "protocol"),
            (None, None, "crashed"),
            (None, Some(HostAction::Interrupted), "was interrupted"),
            (None, Some(HostAction::MaxTurns), "used all of its turns"),
        ] {
            let ending = Ending {
                status,
                stopped,
                ..Ending::default()
            };

            assert_eq!(verdict(&ending), expected, "{status:?} {stopped:?}");
        }
    }

    #[test]
    fn the_last_retry_counts_when_the_final_error_is_vague() {
        let lost = Some(ErrorInfo::named("responseStreamDisconnected"));
        for (name, expected) in [
            ("other", "other"),
            ("contextWindowExceeded", "execution error"),
        ] {
            let mut ending = failed_by(ErrorInfo::named(name));
            ending.last_retry.clone_from(&lost);

            assert_eq!(verdict(&ending), expected, "{name}");
        }
    }

    #[test]
    fn the_reset_is_that_of_the_exhausted_window() {
        for (limits, expected) in [
            (
                r#"{"primary": {"usedPercent": 100, "resetsAt": 60}, "secondary": {"usedPercent": 3, "resetsAt": 900}}"#,
                Some(60),
            ),
            (
                r#"{"primary": {"usedPercent": 100, "resetsAt": 60}, "secondary": {"usedPercent": 100, "resetsAt": 900}}"#,
                Some(900),
            ),
            (r#"{"primary": {"usedPercent": 9, "resetsAt": 60}}"#, None),
            (r#"{"primary": {"usedPercent": 100}}"#, None),
            ("{}", None),
        ] {
            let mut ending = failed_by(ErrorInfo::named("usageLimitExceeded"));
            ending.limits = serde_json::from_str::<RateLimits>(limits).expect("limits");

            let Ok(SessionOutcome::QuotaExceeded { resets_at, .. }) = decide(&ending) else {
                panic!("{limits}");
            };

            assert_eq!(resets_at.map(|at| at.as_second()), expected, "{limits}");
        }
    }
}
