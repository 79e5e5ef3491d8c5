//! Exit codes, for scripts.

use std::process::ExitCode;

use autonoe_core::ExitReason;
use autonoe_core::agent::{SessionEnd, SessionOutcome};
use autonoe_core::run::ExitClass;

/// Failure.
pub const FAILURE: u8 = 1;
/// Wrong usage.
pub const USAGE: u8 = 2;
/// An agent reached its limit of iterations or turns.
pub const ITERATIONS: u8 = 4;
/// The quota is exhausted.
pub const QUOTA: u8 = 5;
/// The cost or time budget is exhausted.
pub const BUDGET: u8 = 6;
/// The run was cancelled.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit code of a check.
pub fn success_if(is_success: bool) -> ExitCode {
    if is_success {
        ExitCode::SUCCESS
    } else {
        FAILURE.into()
    }
}

/// Returns the exit code of a run that ended for `reason`.
pub fn for_run(reason: &ExitReason) -> u8 {
    for_class(reason.class())
}

/// Returns the exit code of a run or a flow whose end has this class.
pub fn for_class(class: ExitClass) -> u8 {
    match class {
        ExitClass::Success => 0,
        ExitClass::Failed => FAILURE,
        ExitClass::Blocked => 3,
        ExitClass::Iterations => ITERATIONS,
        ExitClass::Quota => QUOTA,
        ExitClass::Budget => BUDGET,
        ExitClass::Retries => 7,
        ExitClass::Stalled => 8,
        ExitClass::Interrupted => INTERRUPTED,
    }
}

/// Returns the exit code of a single session.
pub fn for_session(end: &SessionEnd) -> u8 {
    match end {
        SessionEnd::Outcome(SessionOutcome::Completed) => 0,
        SessionEnd::Outcome(SessionOutcome::MaxTurns) => ITERATIONS,
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. }) => QUOTA,
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) | SessionEnd::BudgetSpent { .. } => {
            BUDGET
        }
        SessionEnd::Outcome(SessionOutcome::Interrupted) | SessionEnd::Cancelled => INTERRUPTED,
        SessionEnd::Outcome(SessionOutcome::ExecutionError { .. }) | SessionEnd::Failed { .. } => {
            FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::Mode;
    use autonoe_core::agent::BudgetKind;
    use autonoe_core::event::Failure;

    use super::*;

    /// All reasons with their documented codes.
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
    fn no_reason_is_undocumented() {
        let schema = serde_json::to_value(schemars::schema_for!(ExitReason)).expect("JSON");
        let variants = schema["oneOf"].as_array().expect("an enum");
        let mut all: Vec<_> = variants
            .iter()
            .map(|variant| variant["properties"]["exitReason"]["const"].as_str())
            .map(|name| name.expect("a name").to_owned())
            .collect();
        all.sort();

        let mut listed = documented().map(|(reason, _)| reason.code().to_owned());
        listed.sort();

        assert_eq!(all, listed);
    }

    #[test]
    fn each_reason_has_the_code_that_is_documented() {
        for (reason, code) in documented() {
            assert_eq!(for_run(&reason), code, "{reason}");
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
            assert_eq!(for_session(&end), code, "{end}");
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

    #[test]
    fn the_reference_has_the_code_of_each_reason() {
        let page = include_str!("../../docs/reference/exit-codes.md");
        for (reason, code) in documented() {
            let json = serde_json::to_value(&reason).expect("JSON");
            let name = json["exitReason"].as_str().expect("a name");
            let row = format!("| {code} | `{name}` | ");
            let is_listed = page.lines().any(|line| line.starts_with(&row));
            assert!(is_listed, "docs/reference/exit-codes.md lacks {row}");
        }
    }
}
