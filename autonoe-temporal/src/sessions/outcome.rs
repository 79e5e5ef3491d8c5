//! Conversion of a run's report into its outcome and progress.

use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{RunOutcome, RunProgress};
use autonoe_core::event::Failure;
use autonoe_core::RunReport;
use autonoe_core::run::ExitClass;

/// Creates the outcome of a report. The report is the output of the run.
pub(super) fn outcome(report: &RunReport, cancelled: Option<String>) -> RunOutcome {
    let exit = &report.exit;
    let outcome = match exit.class() {
        ExitClass::Success => RunOutcome::succeeded(serde_json::Value::Null),
        ExitClass::Interrupted => RunOutcome::cancelled(cancelled.unwrap_or_default()),
        ExitClass::Failed => RunOutcome::failed(match exit.failure() {
            Some(failure) => failure.clone(),
            None => Failure::permanent(exit.code(), exit.to_string()),
        }),
        ExitClass::Blocked
        | ExitClass::Iterations
        | ExitClass::Quota
        | ExitClass::Budget
        | ExitClass::Retries
        | ExitClass::Stalled => {
            RunOutcome::failed(Failure::permanent(exit.code(), exit.to_string()))
        }
    };
    // A report always serializes. If it did not, the ending would still be valid.
    let output = serde_json::to_value(report).unwrap_or_default();
    outcome
        .with_output(output)
        .with_spent(spent(report))
        .with_sessions(report.sessions.into())
}

/// Returns the progress of a run with this report.
pub(crate) fn progress(report: &RunReport) -> RunProgress {
    let mut at = match report.deliverables {
        None => RunProgress::default(),
        Some(counts) if counts.total == 0 => RunProgress::default(),
        Some(counts) => RunProgress::new(counts.passed as f64 / counts.total as f64),
    };
    at.iteration = report.sessions;
    at.spent = spent(report);
    at
}

fn spent(report: &RunReport) -> BudgetUsage {
    BudgetUsage {
        cost: report.cost,
        tokens: report.tokens,
        time: report.elapsed,
    }
}
