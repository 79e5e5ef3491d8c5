//! What follows from an iteration: a pure decision.

use std::fmt;
use std::time::Duration;

use autonoe_core::Retry;
use jiff::Timestamp;

use crate::{BudgetedKind, ExecutionEnd, StuckReport, Verification};

/// How often a task waits for its quota to be back.
const MOST_WAITS: u32 = 50;

/// How often in a row a task tries again when nobody says when its quota is back.
const NO_QUOTA_IN_A_ROW: u32 = 50;

/// How often in a row a task tries again, after a pause, what may go well at another time.
const FAILED_IN_A_ROW: u32 = 10;

/// The first such pause; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// What is known after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iterated<'a> {
    /// How the execution ended.
    pub end: &'a ExecutionEnd,
    /// Whether what the task asks for holds.
    pub verification: &'a Verification,
    /// Whether the agent is stuck.
    pub report: &'a StuckReport,
    /// The number of the iteration, from 1, among those that count: one after which the task waits
    /// does not.
    pub iteration: u32,
    /// How many there may be.
    pub max_iterations: u32,
    /// What is spent to the last.
    pub spent: Option<BudgetedKind>,
    /// Whether we were told to stop.
    pub is_cancelled: bool,
    /// How often the task has waited.
    pub waits: u32,
    /// How often it has waited without an iteration between that counts.
    pub waits_in_a_row: u32,
    /// How long it waits at most.
    pub max_wait: Duration,
    /// How many seconds the task had, if they are over.
    pub over: Option<u64>,
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
    /// Another iteration, once the quota is back or after a pause.
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
    /// It had all of its time, which is so many seconds.
    Time(u64),
    /// Its quota is back only then, and it does not wait as long as that.
    Quota(Timestamp),
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iterations(most) => write!(f, "it is not done after {most} iterations"),
            Self::Budget(BudgetedKind::Cost) => {
                f.write_str("no money is left, or nobody knows how much was spent")
            }
            Self::Budget(kind) => write!(f, "nothing is left of its {kind}"),
            Self::Time(seconds) => write!(f, "its {seconds} seconds were over"),
            Self::Quota(until) => write!(f, "its quota is not back before {until}"),
        }
    }
}

/// Says what follows from an iteration.
///
/// ```
/// use std::time::Duration;
///
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
///     waits_in_a_row: 0,
///     max_wait: Duration::from_secs(3600),
///     over: None,
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
    if let Some(seconds) = iterated.over {
        return NextStep::GiveUp(GivenUp::Time(seconds));
    }
    match wait(iterated) {
        Some(Ok(until)) => return NextStep::Wait { until },
        Some(Err(why)) => return NextStep::GiveUp(why),
        None => {}
    }
    if iterated.iteration >= iterated.max_iterations {
        return NextStep::GiveUp(GivenUp::Iterations(iterated.max_iterations));
    }
    match is_permanent(iterated.end) || iterated.report.is_stuck() {
        true => NextStep::Recover,
        false => NextStep::Again,
    }
}

/// Returns until when to wait before another try, if that may help.
pub(super) fn wait(iterated: &Iterated<'_>) -> Option<Result<Timestamp, GivenUp>> {
    let Iterated {
        end,
        now,
        waits_in_a_row: in_a_row,
        ..
    } = *iterated;
    let after_a_pause = || Some(Ok(now.saturating_add(pause(in_a_row)).unwrap_or(now)));
    match end {
        ExecutionEnd::QuotaExceeded {
            resets_at: Some(until),
            ..
        } if *until > now => {
            if iterated.waits >= MOST_WAITS {
                return None;
            }
            let time = Duration::try_from(until.duration_since(now)).unwrap_or_default();
            Some(match time <= iterated.max_wait {
                true => Ok(*until),
                false => Err(GivenUp::Quota(*until)),
            })
        }
        ExecutionEnd::QuotaExceeded { .. } if in_a_row < NO_QUOTA_IN_A_ROW => after_a_pause(),
        failed if failed.may_pass() && in_a_row < FAILED_IN_A_ROW => after_a_pause(),
        _ => None,
    }
}

/// Returns how long the pause of that number is, from 0.
fn pause(number: u32) -> Duration {
    let times = 2_u32.checked_pow(number).unwrap_or(u32::MAX);
    FIRST_PAUSE.saturating_mul(times).min(LONGEST_PAUSE)
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
}
