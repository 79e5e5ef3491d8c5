//! What a run came to, for who submitted it.

use autonoe_core::{ExitReason, Failure, RunOutcome, RunReport, Spent};

/// Makes the outcome of a report. The report is what the run gave.
pub(super) fn outcome(report: &RunReport, cancelled: Option<String>) -> RunOutcome {
    let outcome = match &report.exit {
        exit if exit.is_success() => RunOutcome::succeeded(serde_json::Value::Null),
        ExitReason::Interrupted => RunOutcome::cancelled(cancelled.unwrap_or_default()),
        ExitReason::Failed { error } => RunOutcome::failed(error.clone()),
        exit => RunOutcome::failed(Failure::permanent(exit.code(), exit.to_string())),
    };
    let spent = Spent {
        cost: report.cost,
        tokens: report.tokens,
        time: report.elapsed,
    };
    // A report is always JSON; should one be none, the ending still stands.
    let output = serde_json::to_value(report).unwrap_or_default();
    outcome.with_output(output).with_spent(spent)
}
