//! The exit codes, for scripts.

use autonoe_core::{ExitReason, SessionEnd, SessionOutcome};

/// Something went wrong.
pub(crate) const FAILURE: u8 = 1;
/// The command was used wrongly.
pub(crate) const USAGE: u8 = 2;
/// An agent used as many iterations or turns as it was allowed.
pub(crate) const ITERATIONS: u8 = 4;
/// The quota is spent.
pub(crate) const QUOTA: u8 = 5;
/// The money or the time is spent.
pub(crate) const BUDGET: u8 = 6;
/// The run was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// Returns the exit code of a run that ended for `reason`.
pub(crate) fn of(reason: &ExitReason) -> u8 {
    match reason {
        ExitReason::AllPassed | ExitReason::AllVerified => 0,
        ExitReason::AllBlocked => 3,
        ExitReason::MaxIterations => ITERATIONS,
        ExitReason::QuotaExceeded | ExitReason::QuotaWaitTooLong { .. } => QUOTA,
        ExitReason::BudgetExceeded { .. } => BUDGET,
        ExitReason::MaxRetriesExceeded { .. } => 7,
        ExitReason::Stalled { .. } => 8,
        ExitReason::Interrupted => INTERRUPTED,
        // A reason that is not known yet is no success.
        _ => FAILURE,
    }
}

/// Returns the exit code of a single session.
pub(crate) fn of_session(end: &SessionEnd) -> u8 {
    match end {
        SessionEnd::Outcome(SessionOutcome::Completed) => 0,
        SessionEnd::Outcome(SessionOutcome::MaxTurns) => ITERATIONS,
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. }) => QUOTA,
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) | SessionEnd::BudgetSpent { .. } => {
            BUDGET
        }
        SessionEnd::Outcome(SessionOutcome::Interrupted) | SessionEnd::Cancelled => INTERRUPTED,
        // An end that is not known yet is no success.
        _ => FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{BudgetKind, Failure, Mode};

    use super::*;

    /// Every reason, and its documented code.
    fn documented() -> [(ExitReason, u8); 11] {
        let error = || Failure::permanent("crashed", "it crashed");
        [
            (ExitReason::AllPassed, 0),
            (ExitReason::AllVerified, 0),
            (ExitReason::Failed { error: error() }, 1),
            (ExitReason::AllBlocked, 3),
            (ExitReason::MaxIterations, 4),
            (ExitReason::QuotaExceeded, 5),
            (ExitReason::QuotaWaitTooLong { resets_at: None }, 5),
            (
                ExitReason::BudgetExceeded {
                    budget: BudgetKind::Cost,
                },
                6,
            ),
            (ExitReason::MaxRetriesExceeded { error: error() }, 7),
            (
                ExitReason::Stalled {
                    sessions: 5,
                    mode: Mode::Run,
                },
                8,
            ),
            (ExitReason::Interrupted, 130),
        ]
    }

    #[test]
    fn each_reason_has_the_code_that_is_documented() {
        for (reason, code) in documented() {
            assert_eq!(of(&reason), code, "{reason}");
        }
    }

    #[test]
    fn each_end_of_a_session_has_its_code() {
        let outcome = SessionEnd::Outcome;
        for (end, code) in [
            (outcome(SessionOutcome::Completed), 0),
            (
                outcome(SessionOutcome::ExecutionError { messages: vec![] }),
                1,
            ),
            (
                SessionEnd::Failed {
                    error: Failure::permanent("crashed", "it crashed"),
                },
                1,
            ),
            (outcome(SessionOutcome::MaxTurns), 4),
            (
                outcome(SessionOutcome::QuotaExceeded {
                    message: "tomorrow".to_owned(),
                    resets_at: None,
                }),
                5,
            ),
            (outcome(SessionOutcome::BudgetExceeded), 6),
            (
                SessionEnd::BudgetSpent {
                    budget: BudgetKind::Time,
                },
                6,
            ),
            (outcome(SessionOutcome::Interrupted), 130),
            (SessionEnd::Cancelled, 130),
        ] {
            assert_eq!(of_session(&end), code, "{end}");
        }
    }

    #[test]
    fn the_page_about_migration_has_the_code_of_each_reason() {
        let page = include_str!("../../docs/migration.md");
        for (reason, code) in documented() {
            let json = serde_json::to_value(&reason).expect("JSON");
            let name = json["exitReason"].as_str().expect("a name");
            let row = format!("| `{name}` | ");
            let row = page.lines().find_map(|line| line.strip_prefix(&row));
            let here = row.and_then(|row| row.trim_end_matches(" |").split(" | ").nth(1));
            assert_eq!(here, Some(code.to_string().as_str()), "{name}");
        }
    }
}
