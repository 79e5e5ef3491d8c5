//! Two-line summary of a run.

use autonoe_core::event::Failure;
use autonoe_core::run::ExitClass;
use autonoe_core::{ExitReason, RunReport};

use super::sanitize_line;

const STALLED_HINT: &str = "`autonoe log` shows what the sessions did; clarify SPEC.md or the instructions \
     and start again, or allow more sessions with --max-stalled-sessions (0 means no limit)";

/// Formats why a run ended and its progress, on a line each.
///
/// The reason may contain foreign text with several lines that look like ours. Therefore it is put
/// on one line.
pub fn summary(report: &RunReport) -> [String; 2] {
    let text = report.to_string();
    let (reason, counts) = text.rsplit_once('\n').unwrap_or((&text, ""));
    [sanitize_line(reason.trim_end()), counts.to_owned()]
}

/// Formats the result of a run for people.
pub fn report_text(report: &RunReport) -> String {
    let [reason, counts] = summary(report);
    format!("{reason}\n{counts}\n")
}

/// Returns a hint about the end of a run, if there is one.
pub fn exit_hint(exit: &ExitReason) -> Option<String> {
    match exit.class() {
        ExitClass::Stalled => Some(STALLED_HINT.to_owned()),
        ExitClass::Failed
        | ExitClass::Retries
        | ExitClass::Success
        | ExitClass::Blocked
        | ExitClass::Iterations
        | ExitClass::Quota
        | ExitClass::Budget
        | ExitClass::Interrupted => exit.failure().and_then(failure_hint),
    }
}

/// Returns a hint about a failure, if it has a remedy.
pub fn failure_hint(error: &Failure) -> Option<String> {
    let remedy = error.remedy.as_ref()?;
    let flag = match error.code.as_str() {
        "sandbox_not_supported" => ", or run without the sandbox with --no-sandbox",
        _ => "",
    };
    Some(format!(
        "{remedy}{flag}; `autonoe doctor` checks whether a run can start"
    ))
}
