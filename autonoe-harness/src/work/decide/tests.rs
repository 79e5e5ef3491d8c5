//! Table and property tests of the decision after an iteration.

use autonoe_core::event::Failure;
use proptest::prelude::*;

use super::*;
use crate::stuck::{StuckLevel, StuckReason};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("a time")
}

fn quota(resets_at: Option<i64>) -> ExecutionOutcome {
    ExecutionOutcome::QuotaExceeded {
        message: "spent".to_owned(),
        resets_at: resets_at.map(at),
    }
}

fn report(level: StuckLevel) -> StuckReport {
    StuckReport {
        level,
        reasons: vec![StuckReason::NoProgress(3)],
    }
}

#[test]
fn the_next_step_after_an_iteration() {
    let broken = ExecutionOutcome::Failed {
        error: Failure::permanent("authentication", "no login"),
    };
    let shaky = ExecutionOutcome::Failed {
        error: Failure::retryable("network", "no answer"),
    };
    let (fine, stuck) = (report(StuckLevel::Warning), report(StuckLevel::Stuck));
    let critical = report(StuckLevel::Critical);
    let (passed, failed) = (Verification::passed("green"), Verification::failed("red"));
    let unknown = Verification::unverified("the checks did not run");
    let usual = IterationState {
        end: &ExecutionOutcome::Completed,
        verification: &failed,
        report: &fine,
        iteration: 3,
        max_iterations: 10,
        exhausted: None,
        is_cancelled: false,
        waits: 0,
        waits_in_a_row: 0,
        max_wait: Duration::from_secs(1000),
        exceeded_timeout: None,
        now: at(100),
    };
    let money = Some(BudgetedKind::Cost);
    let no_money = NextStep::Fail(TaskFailure::Budget(BudgetedKind::Cost));
    let too_many = NextStep::Fail(TaskFailure::Iterations(10));
    let continues = NextStep::Continue;
    for (iterated, expected) in [
        (usual, continues.clone()),
        (
            IterationState {
                verification: &passed,
                ..usual
            },
            NextStep::Done,
        ),
        (
            IterationState {
                verification: &passed,
                exhausted: money,
                ..usual
            },
            NextStep::Done,
        ),
        (
            IterationState {
                verification: &unknown,
                ..usual
            },
            continues.clone(),
        ),
        (
            IterationState {
                is_cancelled: true,
                ..usual
            },
            NextStep::Stop,
        ),
        (
            IterationState {
                is_cancelled: true,
                exhausted: money,
                ..usual
            },
            NextStep::Stop,
        ),
        (
            IterationState {
                end: &ExecutionOutcome::Cancelled,
                ..usual
            },
            continues.clone(),
        ),
        (
            IterationState {
                exhausted: money,
                report: &stuck,
                ..usual
            },
            no_money.clone(),
        ),
        (
            IterationState {
                exhausted: money,
                end: &quota(Some(200)),
                ..usual
            },
            no_money,
        ),
        (
            IterationState {
                report: &stuck,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            IterationState {
                report: &critical,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            IterationState {
                iteration: 10,
                report: &stuck,
                ..usual
            },
            too_many.clone(),
        ),
        (
            IterationState {
                iteration: 10,
                ..usual
            },
            too_many,
        ),
        (
            IterationState {
                end: &broken,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            IterationState {
                end: &shaky,
                ..usual
            },
            NextStep::Wait { until: at(105) },
        ),
        (
            IterationState {
                end: &shaky,
                report: &stuck,
                waits_in_a_row: 3,
                ..usual
            },
            NextStep::Wait { until: at(140) },
        ),
        (
            IterationState {
                end: &shaky,
                waits_in_a_row: 9,
                ..usual
            },
            NextStep::Wait { until: at(1000) },
        ),
        (
            IterationState {
                end: &shaky,
                report: &stuck,
                waits_in_a_row: FAILED_IN_A_ROW,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            IterationState {
                end: &shaky,
                exceeded_timeout: Some(90),
                ..usual
            },
            NextStep::Fail(TaskFailure::Time(90)),
        ),
        (
            IterationState {
                verification: &passed,
                exceeded_timeout: Some(90),
                ..usual
            },
            NextStep::Done,
        ),
        (
            IterationState {
                end: &quota(Some(1101)),
                ..usual
            },
            NextStep::Fail(TaskFailure::Quota(at(1101))),
        ),
        (
            IterationState {
                end: &quota(Some(200)),
                ..usual
            },
            NextStep::Wait { until: at(200) },
        ),
        (
            IterationState {
                end: &quota(Some(200)),
                iteration: 10,
                ..usual
            },
            NextStep::Wait { until: at(200) },
        ),
        (
            IterationState {
                end: &quota(Some(99)),
                ..usual
            },
            NextStep::Wait { until: at(105) },
        ),
        (
            IterationState {
                end: &quota(Some(200)),
                waits: MOST_WAITS,
                ..usual
            },
            continues.clone(),
        ),
        (
            IterationState {
                end: &quota(None),
                report: &stuck,
                waits_in_a_row: 20,
                ..usual
            },
            NextStep::Wait { until: at(1000) },
        ),
        (
            IterationState {
                end: &quota(None),
                waits_in_a_row: NO_QUOTA_IN_A_ROW,
                ..usual
            },
            continues,
        ),
        (
            IterationState {
                end: &quota(None),
                report: &stuck,
                waits_in_a_row: NO_QUOTA_IN_A_ROW,
                ..usual
            },
            NextStep::Recover,
        ),
    ] {
        assert_eq!(next_step(&iterated), expected, "{iterated:?}");
    }
}

proptest! {
    #[test]
    fn only_verified_tasks_are_done_and_every_task_ends(
        passed: bool,
        is_cancelled: bool,
        stuck: bool,
        is_spent: bool,
        way in 0_u8..4,
        is_over: bool,
        iteration in 1_u32..30,
        waits in 0_u32..100,
        in_a_row in 0_u32..100,
    ) {
        let verification = if passed {
            Verification::passed("green")
        } else {
            Verification::failed("red")
        };
        let report = report(if stuck { StuckLevel::Stuck } else { StuckLevel::Fine });
        let end = match way {
            0 => quota(Some(200)),
            1 => quota(None),
            2 => ExecutionOutcome::Failed { error: Failure::retryable("network", "no answer") },
            _ => ExecutionOutcome::Completed,
        };
        let next = next_step(&IterationState {
            end: &end,
            verification: &verification,
            report: &report,
            iteration,
            max_iterations: 20,
            exhausted: is_spent.then_some(BudgetedKind::Tokens),
            is_cancelled,
            waits,
            waits_in_a_row: in_a_row,
            max_wait: Duration::from_secs(1000),
            exceeded_timeout: is_over.then_some(90),
            now: at(100),
        });
        prop_assert_eq!(next == NextStep::Done, passed);
        // Every continuation consumes a limited resource.
        match next {
            NextStep::Continue | NextStep::Recover => {
                prop_assert!(iteration < 20 && !is_spent && !is_cancelled && !is_over);
            }
            NextStep::Wait { .. } => {
                let most = [MOST_WAITS, NO_QUOTA_IN_A_ROW, FAILED_IN_A_ROW][usize::from(way)];
                let had = if way == 0 { waits } else { in_a_row };
                prop_assert!(had < most && !is_spent && !is_cancelled && !is_over);
            }
            NextStep::Done | NextStep::Stop | NextStep::Fail(_) => {}
        }
    }
}
