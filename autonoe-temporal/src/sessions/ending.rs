//! What a run came to, for who submitted it.

use autonoe_core::{ExitReason, Failure, RunOutcome, RunProgress, RunReport, Spent};

/// Makes the outcome of a report. The report is what the run gave.
pub(super) fn outcome(report: &RunReport, cancelled: Option<String>) -> RunOutcome {
    let outcome = match &report.exit {
        exit if exit.is_success() => RunOutcome::succeeded(serde_json::Value::Null),
        ExitReason::Interrupted => RunOutcome::cancelled(cancelled.unwrap_or_default()),
        ExitReason::Failed { error } => RunOutcome::failed(error.clone()),
        exit => RunOutcome::failed(Failure::permanent(exit.code(), exit.to_string())),
    };
    // A report is always JSON; should one be none, the ending still stands.
    let output = serde_json::to_value(report).unwrap_or_default();
    outcome
        .with_output(output)
        .with_spent(spent(report))
        .with_sessions(report.sessions.into())
}

/// Says how far a run is of which this is the report.
pub(crate) fn progress(report: &RunReport) -> RunProgress {
    let mut at = match report.deliverables {
        None => RunProgress::default(),
        Some(counts) if counts.total == 0 => RunProgress::default(),
        Some(counts) => RunProgress::of(counts.passed as f64 / counts.total as f64),
    };
    at.iteration = report.sessions;
    at.spent = spent(report);
    at
}

fn spent(report: &RunReport) -> Spent {
    Spent {
        cost: report.cost,
        tokens: report.tokens,
        time: report.elapsed,
    }
}
