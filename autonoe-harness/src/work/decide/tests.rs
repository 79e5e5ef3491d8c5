//! What follows from an iteration, case by case and for any course.

use autonoe_core::Failure;
use proptest::prelude::*;

use super::*;
use crate::{StuckLevel, StuckReason};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("a time")
}

fn quota(resets_at: Option<i64>) -> ExecutionEnd {
    ExecutionEnd::QuotaExceeded {
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
fn what_follows_from_an_iteration() {
    let broken = ExecutionEnd::Failed {
        error: Failure::permanent("authentication", "no login"),
    };
    let shaky = ExecutionEnd::Failed {
        error: Failure::retryable("network", "no answer"),
    };
    let (fine, stuck) = (report(StuckLevel::Warning), report(StuckLevel::Stuck));
    let critical = report(StuckLevel::Critical);
    let (passed, failed) = (Verification::passed("green"), Verification::failed("red"));
    let unknown = Verification::unverified("nobody looked");
    let usual = Iterated {
        end: &ExecutionEnd::Completed,
        verification: &failed,
        report: &fine,
        iteration: 3,
        max_iterations: 10,
        spent: None,
        is_cancelled: false,
        waits: 0,
        waits_in_a_row: 0,
        max_wait: Duration::from_secs(1000),
        over: None,
        now: at(100),
    };
    let money = Some(BudgetedKind::Cost);
    let no_money = NextStep::GiveUp(GivenUp::Budget(BudgetedKind::Cost));
    let too_many = NextStep::GiveUp(GivenUp::Iterations(10));
    let again = NextStep::Again;
    for (iterated, expected) in [
        (usual, again.clone()),
        (
            Iterated {
                verification: &passed,
                ..usual
            },
            NextStep::Done,
        ),
        (
            Iterated {
                verification: &passed,
                spent: money,
                ..usual
            },
            NextStep::Done,
        ),
        (
            Iterated {
                verification: &unknown,
                ..usual
            },
            again.clone(),
        ),
        (
            Iterated {
                is_cancelled: true,
                ..usual
            },
            NextStep::Stop,
        ),
        (
            Iterated {
                is_cancelled: true,
                spent: money,
                ..usual
            },
            NextStep::Stop,
        ),
        (
            Iterated {
                end: &ExecutionEnd::Cancelled,
                ..usual
            },
            again.clone(),
        ),
        (
            Iterated {
                spent: money,
                report: &stuck,
                ..usual
            },
            no_money.clone(),
        ),
        (
            Iterated {
                spent: money,
                end: &quota(Some(200)),
                ..usual
            },
            no_money,
        ),
        (
            Iterated {
                report: &stuck,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            Iterated {
                report: &critical,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            Iterated {
                iteration: 10,
                report: &stuck,
                ..usual
            },
            too_many.clone(),
        ),
        (
            Iterated {
                iteration: 10,
                ..usual
            },
            too_many,
        ),
        (
            Iterated {
                end: &broken,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            Iterated {
                end: &shaky,
                ..usual
            },
            NextStep::Wait { until: at(105) },
        ),
        (
            Iterated {
                end: &shaky,
                report: &stuck,
                waits_in_a_row: 3,
                ..usual
            },
            NextStep::Wait { until: at(140) },
        ),
        (
            Iterated {
                end: &shaky,
                waits_in_a_row: 9,
                ..usual
            },
            NextStep::Wait { until: at(1000) },
        ),
        (
            Iterated {
                end: &shaky,
                report: &stuck,
                waits_in_a_row: FAILED_IN_A_ROW,
                ..usual
            },
            NextStep::Recover,
        ),
        (
            Iterated {
                end: &shaky,
                over: Some(90),
                ..usual
            },
            NextStep::GiveUp(GivenUp::Time(90)),
        ),
        (
            Iterated {
                verification: &passed,
                over: Some(90),
                ..usual
            },
            NextStep::Done,
        ),
        (
            Iterated {
                end: &quota(Some(1101)),
                ..usual
            },
            NextStep::GiveUp(GivenUp::Quota(at(1101))),
        ),
        (
            Iterated {
                end: &quota(Some(200)),
                ..usual
            },
            NextStep::Wait { until: at(200) },
        ),
        (
            Iterated {
                end: &quota(Some(200)),
                iteration: 10,
                ..usual
            },
            NextStep::Wait { until: at(200) },
        ),
        (
            Iterated {
                end: &quota(Some(99)),
                ..usual
            },
            NextStep::Wait { until: at(105) },
        ),
        (
            Iterated {
                end: &quota(Some(200)),
                waits: MOST_WAITS,
                ..usual
            },
            again.clone(),
        ),
        (
            Iterated {
                end: &quota(None),
                report: &stuck,
                waits_in_a_row: 20,
                ..usual
            },
            NextStep::Wait { until: at(1000) },
        ),
        (
            Iterated {
                end: &quota(None),
                waits_in_a_row: NO_QUOTA_IN_A_ROW,
                ..usual
            },
            again,
        ),
        (
            Iterated {
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
    fn only_what_is_verified_is_done_and_every_task_ends(
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
        let verification = match passed {
            true => Verification::passed("green"),
            false => Verification::failed("red"),
        };
        let report = report(if stuck { StuckLevel::Stuck } else { StuckLevel::Fine });
        let end = match way {
            0 => quota(Some(200)),
            1 => quota(None),
            2 => ExecutionEnd::Failed { error: Failure::retryable("network", "no answer") },
            _ => ExecutionEnd::Completed,
        };
        let next = next_step(&Iterated {
            end: &end,
            verification: &verification,
            report: &report,
            iteration,
            max_iterations: 20,
            spent: is_spent.then_some(BudgetedKind::Tokens),
            is_cancelled,
            waits,
            waits_in_a_row: in_a_row,
            max_wait: Duration::from_secs(1000),
            over: is_over.then_some(90),
            now: at(100),
        });
        prop_assert_eq!(next == NextStep::Done, passed);
        // Whatever goes on takes one of a number that is limited.
        match next {
            NextStep::Again | NextStep::Recover => {
                prop_assert!(iteration < 20 && !is_spent && !is_cancelled && !is_over);
            }
            NextStep::Wait { .. } => {
                let most = [MOST_WAITS, NO_QUOTA_IN_A_ROW, FAILED_IN_A_ROW][usize::from(way)];
                let had = if way == 0 { waits } else { in_a_row };
                prop_assert!(had < most && !is_spent && !is_cancelled && !is_over);
            }
            NextStep::Done | NextStep::Stop | NextStep::GiveUp(_) => {}
        }
    }
}
