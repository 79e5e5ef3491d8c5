//! What follows from an iteration: a pure decision.

use std::fmt;

use autonoe_core::Retry;
use jiff::Timestamp;

use crate::{BudgetedKind, ExecutionEnd, StuckReport, Verification};

/// How often a task waits for its quota.
const MOST_WAITS: u32 = 50;

/// What is known after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iterated<'a> {
    /// How the execution ended.
    pub end: &'a ExecutionEnd,
    /// Whether what the task asks for holds.
    pub verification: &'a Verification,
    /// Whether the agent is stuck.
    pub report: &'a StuckReport,
    /// The number of the iteration, from 1.
    pub iteration: u32,
    /// How many there may be.
    pub max_iterations: u32,
    /// What is spent to the last.
    pub spent: Option<BudgetedKind>,
    /// Whether we were told to stop.
    pub is_cancelled: bool,
    /// How often the task has waited for its quota.
    pub waits: u32,
    /// What time it is.
    pub now: Timestamp,
}

/// What follows from an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The task is done and verified.
    Done,
    /// Another iteration.
    Again,
    /// Another iteration, once the quota is back.
    Wait {
        /// When that is.
        until: Timestamp,
    },
    /// Something has to change first.
    Recover,
    /// The work is stopped from outside.
    Stop,
    /// The task has failed.
    GiveUp(GivenUp),
}

/// Why a task has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// It had all of its iterations.
    Iterations(u32),
    /// Nothing is left of a budget.
    Budget(BudgetedKind),
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iterations(most) => write!(f, "it is not done after {most} iterations"),
            Self::Budget(BudgetedKind::Cost) => {
                f.write_str("no money is left, or nobody knows how much was spent")
            }
            Self::Budget(kind) => write!(f, "nothing is left of its {kind}"),
        }
    }
}

/// Says what follows from an iteration.
///
/// ```
/// use autonoe_harness::{
///     ExecutionEnd, Iterated, NextStep, StuckLevel, StuckReport, Verification, next_step,
/// };
///
/// let iterated = Iterated {
///     end: &ExecutionEnd::Completed,
///     verification: &Verification::failed("the tests are red"),
///     report: &StuckReport { level: StuckLevel::Fine, reasons: Vec::new() },
///     iteration: 1,
///     max_iterations: 20,
///     spent: None,
///     is_cancelled: false,
///     waits: 0,
///     now: "2026-01-01T00:00:00Z".parse()?,
/// };
///
/// assert_eq!(next_step(&iterated), NextStep::Again);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn next_step(iterated: &Iterated<'_>) -> NextStep {
    // What is done is done, also if there is nothing left to do more.
    if iterated.verification.is_success() {
        return NextStep::Done;
    }
    if iterated.is_cancelled {
        return NextStep::Stop;
    }
    if let Some(kind) = iterated.spent {
        return NextStep::GiveUp(GivenUp::Budget(kind));
    }
    if let ExecutionEnd::QuotaExceeded {
        resets_at: Some(until),
        ..
    } = iterated.end
        && *until > iterated.now
        && iterated.waits < MOST_WAITS
    {
        return NextStep::Wait { until: *until };
    }
    if iterated.iteration >= iterated.max_iterations {
        return NextStep::GiveUp(GivenUp::Iterations(iterated.max_iterations));
    }
    match is_permanent(iterated.end) || iterated.report.is_stuck() {
        true => NextStep::Recover,
        false => NextStep::Again,
    }
}

/// Tells whether the backend failed in a way that another try gives again.
pub(super) fn is_permanent(end: &ExecutionEnd) -> bool {
    matches!(end, ExecutionEnd::Failed { error } if error.retry == Retry::Useless)
}

#[cfg(test)]
mod tests {
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
                again.clone(),
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
                again.clone(),
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
                    ..usual
                },
                again,
            ),
            (
                Iterated {
                    end: &quota(None),
                    report: &stuck,
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
            with_quota: bool,
            iteration in 1_u32..30,
            waits in 0_u32..100,
        ) {
            let verification = match passed {
                true => Verification::passed("green"),
                false => Verification::failed("red"),
            };
            let report = report(if stuck { StuckLevel::Stuck } else { StuckLevel::Fine });
            let end = if with_quota { quota(Some(200)) } else { ExecutionEnd::Completed };
            let next = next_step(&Iterated {
                end: &end,
                verification: &verification,
                report: &report,
                iteration,
                max_iterations: 20,
                spent: is_spent.then_some(BudgetedKind::Tokens),
                is_cancelled,
                waits,
                now: at(100),
            });
            prop_assert_eq!(next == NextStep::Done, passed);
            // Whatever goes on takes one of a number that is limited.
            match next {
                NextStep::Again | NextStep::Recover => prop_assert!(iteration < 20 && !is_spent && !is_cancelled),
                NextStep::Wait { .. } => prop_assert!(waits < MOST_WAITS && !is_spent && !is_cancelled),
                NextStep::Done | NextStep::Stop | NextStep::GiveUp(_) => {}
            }
        }
    }
}
