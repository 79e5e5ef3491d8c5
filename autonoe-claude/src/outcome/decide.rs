//! Decides the outcome of a session.

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentError, sanitize};

use super::{ApiFailure, Evidence, Exit, HostAction, TurnResult};
use super::{is_quota_text, reset_time};

/// Remedy for missing or refused credentials.
pub(crate) const LOG_IN: &str = "start `claude` and enter /login, or set ANTHROPIC_API_KEY or \
    CLAUDE_CODE_OAUTH_TOKEN (created by `claude setup-token`)";

/// Remedy for an account that cannot pay.
const ADD_CREDIT: &str = "add credit to the account, or log in to another one";

/// Remedy for a model that is not available.
const OTHER_MODEL: &str = "choose another model, or use an account that has this one";

type Outcome = Result<SessionOutcome, AgentError>;

/// Decides the outcome of a session.
///
/// A turn without a result never counts as completed, whatever the exit code of the process. The
/// behaviour of the process after its last result concerns its shutdown, not the work.
///
/// # Errors
///
/// The agent could not do its work.
///
/// ```
/// use autonoe_claude::outcome::{Evidence, Exit, decide};
///
/// let mut evidence = Evidence::new("2026-11-15T00:00:00Z".parse()?);
/// evidence.exit = Some(Exit::Code(1));
/// evidence.stderr = "error: unknown option '--wat'".into();
///
/// let error = decide(&evidence).expect_err("it did not start");
/// assert_eq!(
///     error.to_string(),
///     "Claude Code exited with code 1: error: unknown option '--wat'",
/// );
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn decide(evidence: &Evidence) -> Outcome {
    match &evidence.result {
        Some(result) => with_result(evidence, result),
        None => without_result(evidence),
    }
}

fn with_result(evidence: &Evidence, result: &TurnResult) -> Outcome {
    if result.succeeded() {
        return match evidence.exit {
            Some(exit) if evidence.live_tasks > 0 && evidence.host == HostAction::Nothing => {
                let tasks = evidence.live_tasks;
                let description =
                    format!("{exit} while {tasks} of its background tasks were running");
                Err(crashed(evidence, &description))
            }
            _ => Ok(SessionOutcome::Completed),
        };
    }
    if result.subtype == "error_during_execution" {
        if result.startup_failure_reason.is_some() || !evidence.has_started {
            let message = error_text(result, "Claude Code could not start");
            return Err(AgentError::new(AgentErrorKind::Configuration, message));
        }
        if let Some(stopped) = stopped(evidence) {
            return stopped;
        }
    }
    if let Some(quota) = quota(evidence, result) {
        return Ok(quota);
    }
    match result.subtype.as_str() {
        "error_max_turns" => Ok(SessionOutcome::MaxTurns),
        "error_max_budget_usd" => Ok(SessionOutcome::BudgetExceeded),
        "success" => failed_call(evidence, result),
        _ => Ok(failed(result)),
    }
}

/// Returns the outcome if the host stopped the session.
fn stopped(evidence: &Evidence) -> Option<Outcome> {
    match evidence.host {
        HostAction::Nothing => None,
        HostAction::Stopped => Some(Ok(SessionOutcome::Interrupted)),
        HostAction::GaveUp => {
            let failure = evidence.retrying.map(|call| call.failure);
            let message = retried(evidence);
            let error = by_failure(failure, &message);
            let overloaded = || AgentError::new(AgentErrorKind::Overloaded, message);
            Some(Err(error.unwrap_or_else(overloaded)))
        }
    }
}

/// Describes the model call that the program kept retrying.
fn retried(evidence: &Evidence) -> String {
    let Some(call) = evidence.retrying else {
        return ended(
            evidence,
            "got no answer from the model service and kept retrying",
        );
    };
    let problem = match call.failure {
        ApiFailure::Authentication => "refused the credentials",
        ApiFailure::Billing => "refused the account's payment",
        ApiFailure::ModelNotFound => "does not have the model for this account",
        ApiFailure::RateLimit => "limits the number of requests",
        ApiFailure::Server => "is overloaded or failing",
        ApiFailure::InvalidRequest | ApiFailure::Other => "did not answer a request",
    };
    let status = call.status.map(http_status).unwrap_or_default();
    match stderr_excerpt(&evidence.stderr) {
        Some(excerpt) => format!("the model service {problem}{status}: {excerpt}"),
        None => format!("the model service {problem}{status}"),
    }
}

fn http_status(status: u64) -> String {
    format!(" (HTTP {status})")
}

/// Returns the error of a failed model call; `None` if the agent caused the failure.
fn by_failure(failure: Option<ApiFailure>, message: &str) -> Option<AgentError> {
    let error = |kind| AgentError::new(kind, message);
    Some(match failure? {
        ApiFailure::Authentication => error(AgentErrorKind::Authentication).with_remedy(LOG_IN),
        ApiFailure::Billing => error(AgentErrorKind::Billing).with_remedy(ADD_CREDIT),
        ApiFailure::ModelNotFound => error(AgentErrorKind::Configuration).with_remedy(OTHER_MODEL),
        ApiFailure::RateLimit | ApiFailure::Server => error(AgentErrorKind::Overloaded),
        ApiFailure::InvalidRequest | ApiFailure::Other => return None,
    })
}

/// Returns the outcome if the quota is spent.
fn quota(evidence: &Evidence, result: &TurnResult) -> Option<SessionOutcome> {
    let rejected = evidence.rejected.as_ref();
    let by_event = rejected.is_some_and(|quota| quota.claim.is_some());
    let by_name = result.api_error.as_deref() == Some("usage_limit_reached");
    let by_text =
        matches!(result.api_error_status, None | Some(429)) && is_quota_text(&result.text);
    if !by_event && !by_name && !by_text {
        return None;
    }
    let reported = rejected.and_then(|quota| quota.resets_at);
    Some(SessionOutcome::QuotaExceeded {
        message: error_text(result, SPENT),
        resets_at: reported.or_else(|| reset_time(&result.text, evidence.now)),
    })
}

const SPENT: &str = "the quota of the subscription is spent";

/// Returns the outcome of a turn that ended with a failed model call.
fn failed_call(evidence: &Evidence, result: &TurnResult) -> Outcome {
    let failure = ApiFailure::resolve(evidence.reported_failure, result.api_error_status);
    let message = with_status(error_text(result, "a model call failed"), result);
    by_failure(failure, &message).map_or_else(|| Ok(failed(result)), Err)
}

/// Appends the HTTP status of the failed call, unless the message already contains it.
fn with_status(message: String, result: &TurnResult) -> String {
    match result.api_error_status {
        Some(status) if !message.contains(&status.to_string()) => message + &http_status(status),
        _ => message,
    }
}

fn failed(result: &TurnResult) -> SessionOutcome {
    let mut messages = result.error_messages();
    if let Some(last) = messages.pop() {
        messages.push(with_status(last, result));
    }
    if messages.is_empty() {
        let reason = result
            .terminal_reason
            .as_deref()
            .unwrap_or("no reason given");
        messages.push(format!("{} ({reason})", result.subtype));
    }
    SessionOutcome::ExecutionError { messages }
}

fn error_text(result: &TurnResult, otherwise: &str) -> String {
    match result.error_messages() {
        messages if messages.is_empty() => otherwise.to_owned(),
        messages => messages.join("; "),
    }
}

fn without_result(evidence: &Evidence) -> Outcome {
    if let Some(stopped) = stopped(evidence) {
        return stopped;
    }
    if let Some(quota) = &evidence.rejected
        && quota.claim.is_some()
    {
        return Ok(SessionOutcome::QuotaExceeded {
            message: SPENT.to_owned(),
            resets_at: quota.resets_at,
        });
    }
    Err(match (evidence.exit, evidence.has_started) {
        (Some(exit @ Exit::Code(1..)), false) => {
            let message = ended(evidence, &exit.to_string());
            AgentError::new(AgentErrorKind::Configuration, message)
        }
        (Some(exit), _) => crashed(evidence, &format!("{exit} in the middle of a turn")),
        (None, _) => crashed(evidence, "did not finish its turn"),
    })
}

/// Returns the error of a program that ended before it reported the result of its turn.
fn crashed(evidence: &Evidence, description: &str) -> AgentError {
    AgentError::new(AgentErrorKind::Crashed, ended(evidence, description))
}

fn ended(evidence: &Evidence, description: &str) -> String {
    match stderr_excerpt(&evidence.stderr) {
        Some(excerpt) => format!("Claude Code {description}: {excerpt}"),
        None => format!("Claude Code {description}"),
    }
}

/// Maximum number of lines of an error message.
const LINES: usize = 5;

/// Maximum number of characters of an error message.
const CHARACTERS: usize = 600;

/// Returns the last non-blank lines of the program's standard error, without control characters.
///
/// ```
/// use autonoe_claude::outcome::stderr_excerpt;
///
/// assert_eq!(stderr_excerpt("\nerror: unknown option\n\n  --wat  \n"), Some("error: unknown option; --wat".into()));
/// assert_eq!(stderr_excerpt("\u{1b}[2Jgone"), Some("[2Jgone".into()));
/// assert_eq!(stderr_excerpt(" \n"), None);
/// ```
pub fn stderr_excerpt(stderr: &str) -> Option<String> {
    let lines: Vec<String> = stderr
        .lines()
        .map(|line| sanitize(line).trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(LINES);
    let text = lines.get(from..).unwrap_or_default().join("; ");
    let skipped = text.chars().count().saturating_sub(CHARACTERS);
    let text: String = text.chars().skip(skipped).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stderr_excerpt_is_bounded() {
        let long = "é".repeat(10_000);
        let many = "one\n".repeat(100);

        assert_eq!(
            stderr_excerpt(&long).map(|excerpt| excerpt.chars().count()),
            Some(600)
        );
        assert_eq!(
            stderr_excerpt(&many).as_deref(),
            Some("one; one; one; one; one")
        );
    }
}
