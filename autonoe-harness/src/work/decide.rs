//! What follows from an iteration: a pure decision.

use std::fmt;
use std::time::Duration;

use autonoe_core::Retry;
use jiff::Timestamp;

use crate::words::counted;
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
            Self::Iterations(most) => {
                write!(
                    f,
                    "it is not done after {}",
                    counted(*most as usize, "iteration")
                )
            }
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
mod tests;
