//! Decides the [`Outcome`] of a session.

use super::{ApiFailure, Evidence, Exit, HostAction, Outcome, TurnResult};
use super::{exit_text, is_quota_text, reset_time, stderr_excerpt};

/// Decides the outcome of a session.
///
/// A turn without a result never counts as completed, whatever the exit code of the process. The
/// behaviour of the process after its last result concerns its shutdown, not the work.
///
/// ```
/// use autonoe_claude::outcome::{Evidence, Exit, Outcome, outcome};
///
/// let mut evidence = Evidence::new("2026-11-15T00:00:00Z".parse()?);
/// evidence.exit = Some(Exit::Code(1));
/// evidence.stderr = "error: unknown option '--wat'".into();
///
/// assert_eq!(
///     outcome(&evidence),
///     Outcome::StartFailed { message: "Claude Code exited with code 1: error: unknown option '--wat'".into() }
/// );
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn outcome(evidence: &Evidence) -> Outcome {
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
                let exit = exit_text(exit);
                crashed(
                    evidence,
                    &format!("{exit} while {tasks} of its background tasks were running"),
                )
            }
            _ => Outcome::Completed,
        };
    }
    if result.subtype == "error_during_execution" {
        if result.startup_failure_reason.is_some() || !evidence.has_started {
            let message = error_text(result, "Claude Code could not start");
            return Outcome::StartFailed { message };
        }
        if let Some(stopped) = stopped(evidence) {
            return stopped;
        }
    }
    if let Some(quota) = quota(evidence, result) {
        return quota;
    }
    match result.subtype.as_str() {
        "error_max_turns" => Outcome::MaxTurns,
        "error_max_budget_usd" => Outcome::BudgetSpent,
        "success" => failed_call(evidence, result),
        _ => failed(result),
    }
}

/// Returns the outcome if the host stopped the session.
fn stopped(evidence: &Evidence) -> Option<Outcome> {
    match evidence.host {
        HostAction::Nothing => None,
        HostAction::Stopped => Some(Outcome::Interrupted),
        HostAction::GaveUp => {
            let failure = evidence.retrying.map(|call| call.failure);
            let message = retried(evidence);
            let transient = Outcome::Transient {
                message: message.clone(),
            };
            Some(by_failure(failure, message).unwrap_or(transient))
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
        Some(words) => format!("the model service {problem}{status}: {words}"),
        None => format!("the model service {problem}{status}"),
    }
}

fn http_status(status: u64) -> String {
    format!(" (HTTP {status})")
}

/// Returns the outcome of a failed model call; `None` if the agent caused the failure.
fn by_failure(failure: Option<ApiFailure>, message: String) -> Option<Outcome> {
    Some(match failure? {
        ApiFailure::Authentication => Outcome::Authentication { message },
        ApiFailure::Billing => Outcome::Billing { message },
        ApiFailure::ModelNotFound => Outcome::ModelNotFound { message },
        ApiFailure::RateLimit | ApiFailure::Server => Outcome::Transient { message },
        ApiFailure::InvalidRequest | ApiFailure::Other => return None,
    })
}

/// Returns the outcome if the quota is spent.
fn quota(evidence: &Evidence, result: &TurnResult) -> Option<Outcome> {
    let rejected = evidence.rejected.as_ref();
    let by_event = rejected.is_some_and(|quota| quota.claim.is_some());
    let by_name = result.api_error.as_deref() == Some("usage_limit_reached");
    let by_text =
        matches!(result.api_error_status, None | Some(429)) && is_quota_text(&result.text);
    if !by_event && !by_name && !by_text {
        return None;
    }
    let reported = rejected.and_then(|quota| quota.resets_at);
    Some(Outcome::QuotaSpent {
        message: error_text(result, SPENT),
        resets_at: reported.or_else(|| reset_time(&result.text, evidence.now)),
    })
}

const SPENT: &str = "the quota of the subscription is spent";

/// Returns the outcome of a turn that ended with a failed model call.
fn failed_call(evidence: &Evidence, result: &TurnResult) -> Outcome {
    let failure = ApiFailure::resolve(evidence.reported_failure, result.api_error_status);
    let message = with_status(error_text(result, "a model call failed"), result);
    by_failure(failure, message).unwrap_or_else(|| failed(result))
}

/// Appends the HTTP status of the failed call, unless the message already contains it.
fn with_status(message: String, result: &TurnResult) -> String {
    match result.api_error_status {
        Some(status) if !message.contains(&status.to_string()) => message + &http_status(status),
        _ => message,
    }
}

fn failed(result: &TurnResult) -> Outcome {
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
    Outcome::Failed { messages }
}

fn error_text(result: &TurnResult, otherwise: &str) -> String {
    match result.error_messages() {
        complaints if complaints.is_empty() => otherwise.to_owned(),
        complaints => complaints.join("; "),
    }
}

fn without_result(evidence: &Evidence) -> Outcome {
    if let Some(stopped) = stopped(evidence) {
        return stopped;
    }
    if let Some(quota) = &evidence.rejected
        && quota.claim.is_some()
    {
        return Outcome::QuotaSpent {
            message: SPENT.to_owned(),
            resets_at: quota.resets_at,
        };
    }
    match (evidence.exit, evidence.has_started) {
        (Some(exit @ Exit::Code(1..)), false) => Outcome::StartFailed {
            message: ended(evidence, &exit_text(exit)),
        },
        (Some(exit), _) => {
            let exit = exit_text(exit);
            crashed(evidence, &format!("{exit} in the middle of a turn"))
        }
        (None, _) => crashed(evidence, "did not finish its turn"),
    }
}

fn crashed(evidence: &Evidence, description: &str) -> Outcome {
    Outcome::Crashed {
        message: ended(evidence, description),
    }
}

fn ended(evidence: &Evidence, description: &str) -> String {
    match stderr_excerpt(&evidence.stderr) {
        Some(words) => format!("Claude Code {description}: {words}"),
        None => format!("Claude Code {description}"),
    }
}
