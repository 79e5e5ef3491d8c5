//! Pure decision about the next step after an iteration.

use std::fmt;
use std::time::Duration;

use autonoe_core::event::Retry;
use autonoe_core::time::backoff;
use jiff::Timestamp;

use crate::budget::BudgetedKind;
use crate::executor::{ExecutionOutcome, Verification};
use crate::pluralize::pluralize;
use crate::stuck::StuckReport;

/// Maximum number of waits for a quota per task.
const MOST_WAITS: u32 = 50;

/// Maximum number of consecutive retries if the reset time of the quota is unknown.
const NO_QUOTA_IN_A_ROW: u32 = 50;

/// Maximum number of consecutive retries, with a backoff, after a failure that may pass.
const FAILED_IN_A_ROW: u32 = 10;

/// The first backoff; it doubles with each retry.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest backoff.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// State after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct IterationState<'a> {
    /// The outcome of the execution.
    pub end: &'a ExecutionOutcome,
    /// The verification of the task.
    pub verification: &'a Verification,
    /// The report of the stuck detector.
    pub report: &'a StuckReport,
    /// The number of the iteration, starting at 1, among those that count: an iteration after which
    /// the task waits does not count.
    pub iteration: u32,
    /// The maximum number of iterations.
    pub max_iterations: u32,
    /// The kind of budget that is exhausted.
    pub exhausted: Option<BudgetedKind>,
    /// Whether the work is cancelled.
    pub is_cancelled: bool,
    /// The number of waits of the task.
    pub waits: u32,
    /// The number of waits without a counted iteration in between.
    pub waits_in_a_row: u32,
    /// The maximum duration of a wait.
    pub max_wait: Duration,
    /// The time limit of the task in seconds, if it has passed.
    pub exceeded_timeout: Option<u64>,
    /// The current time.
    pub now: Timestamp,
}

/// Next step after an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The task is done and verified.
    Done,
    /// Run another iteration.
    Continue,
    /// Run another iteration, once the quota has reset or after a backoff.
    Wait {
        /// The end of the wait.
        until: Timestamp,
    },
    /// A recovery is needed first.
    Recover,
    /// The work is stopped from outside.
    Stop,
    /// The task has failed.
    Fail(TaskFailure),
}

/// Reason of a failed task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskFailure {
    /// All of its iterations are used up.
    Iterations(u32),
    /// A budget is exhausted.
    Budget(BudgetedKind),
    /// Its time limit, in seconds, has passed.
    Time(u64),
    /// Its quota resets at this time, which is later than it may wait.
    Quota(Timestamp),
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iterations(most) => {
                write!(
                    f,
                    "it is not done after {}",
                    pluralize(*most as usize, "iteration")
                )
            }
            Self::Budget(BudgetedKind::Cost) => {
                f.write_str("the cost budget is spent, or the cost is unknown")
            }
            Self::Budget(kind) => write!(f, "its {kind} budget is spent"),
            Self::Time(seconds) => write!(f, "it timed out after {seconds} seconds"),
            Self::Quota(until) => write!(f, "its quota does not reset before {until}"),
        }
    }
}

/// Decides the next step after an iteration.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_harness::executor::{ExecutionOutcome, Verification};
/// use autonoe_harness::stuck::{StuckLevel, StuckReport};
/// use autonoe_harness::work::{IterationState, NextStep, next_step};
///
/// let iterated = IterationState {
///     end: &ExecutionOutcome::Completed,
///     verification: &Verification::failed("the tests are red"),
///     report: &StuckReport { level: StuckLevel::Fine, reasons: Vec::new() },
///     iteration: 1,
///     max_iterations: 20,
///     exhausted: None,
///     is_cancelled: false,
///     waits: 0,
///     waits_in_a_row: 0,
///     max_wait: Duration::from_secs(3600),
///     exceeded_timeout: None,
///     now: "2026-01-01T00:00:00Z".parse()?,
/// };
///
/// assert_eq!(next_step(&iterated), NextStep::Continue);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn next_step(iterated: &IterationState<'_>) -> NextStep {
    // A success counts, even if nothing is left for further work.
    if iterated.verification.is_success() {
        return NextStep::Done;
    }
    if iterated.is_cancelled {
        return NextStep::Stop;
    }
    if let Some(kind) = iterated.exhausted {
        return NextStep::Fail(TaskFailure::Budget(kind));
    }
    if let Some(seconds) = iterated.exceeded_timeout {
        return NextStep::Fail(TaskFailure::Time(seconds));
    }
    match wait(iterated) {
        Some(Ok(until)) => return NextStep::Wait { until },
        Some(Err(failure)) => return NextStep::Fail(failure),
        None => {}
    }
    if iterated.iteration >= iterated.max_iterations {
        return NextStep::Fail(TaskFailure::Iterations(iterated.max_iterations));
    }
    if is_permanent(iterated.end) || iterated.report.is_stuck() {
        NextStep::Recover
    } else {
        NextStep::Continue
    }
}

/// Returns the end of the wait before a retry, if a retry may help.
pub(super) fn wait(iterated: &IterationState<'_>) -> Option<Result<Timestamp, TaskFailure>> {
    let IterationState {
        end,
        now,
        waits_in_a_row: in_a_row,
        ..
    } = *iterated;
    let after_a_pause = || Some(Ok(now.saturating_add(pause(in_a_row)).unwrap_or(now)));
    match end {
        ExecutionOutcome::QuotaExceeded {
            resets_at: Some(until),
            ..
        } if *until > now => {
            if iterated.waits >= MOST_WAITS {
                return None;
            }
            let time = Duration::try_from(until.duration_since(now)).unwrap_or_default();
            Some(if time <= iterated.max_wait {
                Ok(*until)
            } else {
                Err(TaskFailure::Quota(*until))
            })
        }
        ExecutionOutcome::QuotaExceeded { .. } if in_a_row < NO_QUOTA_IN_A_ROW => after_a_pause(),
        ExecutionOutcome::Failed { .. } if end.is_transient() && in_a_row < FAILED_IN_A_ROW => {
            after_a_pause()
        }
        ExecutionOutcome::Completed
        | ExecutionOutcome::TimedOut { .. }
        | ExecutionOutcome::Cancelled
        | ExecutionOutcome::QuotaExceeded { .. }
        | ExecutionOutcome::MaxTurns
        | ExecutionOutcome::BudgetSpent { .. }
        | ExecutionOutcome::Failed { .. } => None,
    }
}

/// Returns the length of the backoff with this index, starting at 0.
fn pause(number: u32) -> Duration {
    backoff(FIRST_PAUSE, LONGEST_PAUSE, number.saturating_add(1))
}

/// Returns whether the backend failed in a way that a retry would repeat.
pub(super) fn is_permanent(end: &ExecutionOutcome) -> bool {
    matches!(end, ExecutionOutcome::Failed { error } if error.retry == Retry::Permanent)
}

#[cfg(test)]
mod tests;
