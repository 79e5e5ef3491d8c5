//! What earlier lives of a run came to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use autonoe_core::{RunId, Spent};
use jiff::Timestamp;

use super::account::Tally;
use super::passed_checks::PassedChecks;
use super::task_so_far::TaskSoFar;
use super::{ToldMessage, WorkEvent};
use crate::{ExecutionEnd, ExecutionResult, Spending, TaskId, WorkPlace};

/// What earlier lives of a run came to, by what was noted of them, one event after the other.
///
/// The process that noted them is gone: an iteration that began and of which nothing more was noted
/// was cut off. It counts as an iteration and as a session, and what it cost is unknown. One that was
/// interrupted, because the work was left, has come to its end; but who had it may not have told all.
///
/// ```
/// use autonoe_harness::{TaskId, WorkEvent, WorkSoFar};
/// # let at = "2026-01-01T00:00:00Z".parse::<jiff::Timestamp>()?;
///
/// let task = "T-1".parse::<TaskId>()?;
/// let killed_in_its_third: WorkSoFar = (1..=3)
///     .map(|iteration| WorkEvent::IterationBegan {
///         task: task.clone(),
///         iteration,
///         branch: None,
///         at,
///     })
///     .collect();
///
/// assert_eq!(killed_in_its_third.iterations_of(&task), 3);
/// assert_eq!(killed_in_its_third.spending().spent.cost.unknown_parts, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkSoFar {
    run: Option<RunId>,
    /// In the order in which they were done.
    done: Vec<(TaskId, ExecutionResult)>,
    failed: BTreeMap<TaskId, String>,
    tasks: BTreeMap<TaskId, TaskSoFar>,
    /// What passed its checks on a branch, until that is merged.
    on_branches: BTreeMap<String, ExecutionResult>,
    checks: PassedChecks,
    tally: Tally,
    /// The iteration that began and has not ended.
    open: Option<Open>,
    cut_off: u32,
    /// How many parts of the cost nobody told because the work was left.
    untold: u32,
    told: BTreeSet<String>,
    failures: u32,
    kept: Vec<WorkPlace>,
    began: Option<Timestamp>,
}

/// An iteration that began and has not ended.
#[derive(Clone, Debug, PartialEq)]
struct Open {
    task: TaskId,
    branch: Option<String>,
    at: Timestamp,
}

impl WorkSoFar {
    /// Takes in what was noted next.
    pub fn add(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::Opened { run, at } => {
                self.run.get_or_insert_with(|| run.clone());
                self.began.get_or_insert(*at);
            }
            WorkEvent::Began { task, .. } => {
                self.task(task);
            }
            WorkEvent::IterationBegan {
                task,
                iteration,
                branch,
                at,
            } => {
                self.close_cut_off();
                self.open = Some(Open {
                    task: task.clone(),
                    branch: branch.clone(),
                    at: *at,
                });
                match branch {
                    None => self.task(task).begins(*iteration),
                    Some(branch) => self.task(task).ways.begins(branch, *iteration),
                }
            }
            WorkEvent::NotBegun {
                task,
                branch,
                reason,
                ..
            } => {
                self.open = None;
                if branch.is_none() {
                    self.task(task).did_not_begin(reason);
                }
            }
            WorkEvent::Iterated { .. } => self.iterated(event),
            WorkEvent::Waited { task, until } => self.task(task).waits(*until),
            WorkEvent::Recovered {
                task, step, climb, ..
            } => self.task(task).is_helped(step, climb),
            WorkEvent::Explored {
                task,
                branch,
                merged,
                kept,
                ..
            } => {
                self.kept.extend(kept.clone());
                self.task(task).ways.ends();
                if let Some(result) = self.on_branches.remove(branch)
                    && *merged
                {
                    self.is_done(task, result);
                }
            }
            WorkEvent::Checked {
                checks,
                interrupted,
            } => {
                let checks = self.told_of(*checks, *interrupted);
                self.tally.all.merge(&checks);
            }
            WorkEvent::Ended {
                task,
                success,
                reason,
                ..
            } => {
                // That it is done was told, with what came of it, by its last iteration.
                if !success {
                    self.failed.insert(task.clone(), reason.clone());
                }
            }
            WorkEvent::Stopped { .. } | WorkEvent::Closed { .. } => {}
        }
    }

    /// Returns the tasks that are done and verified, in their order, with what came of each.
    pub fn done(&self) -> impl Iterator<Item = (&TaskId, &ExecutionResult)> {
        self.done.iter().map(|(task, result)| (task, result))
    }

    /// Returns the tasks that failed for good, and why.
    pub fn failed(&self) -> impl Iterator<Item = (&TaskId, &str)> {
        self.failed.iter().map(|(task, why)| (task, why.as_str()))
    }

    /// Returns how many iterations a task had, those on branches apart, and those after which it
    /// waited among them.
    pub fn iterations_of(&self, task: &TaskId) -> u32 {
        self.tasks.get(task).map_or(0, |task| task.iterations)
    }

    /// Returns what was spent. What nobody told is an unknown part of the cost.
    pub fn spending(&self) -> Spending {
        let mut spending = self.tally.all;
        let cut_off = self.cut_off();
        let parts = &mut spending.spent.cost.unknown_parts;
        *parts = parts.saturating_add(cut_off).saturating_add(self.untold);
        spending.sessions = spending.sessions.saturating_add(u64::from(cut_off));
        spending
    }

    /// Returns the ids of what persons said and agents were told.
    pub fn told(&self) -> &BTreeSet<String> {
        &self.told
    }

    /// Returns where work is that was kept.
    pub fn kept(&self) -> &[WorkPlace] {
        &self.kept
    }

    /// Returns how many iterations were no success.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns the run that it is about; `None` if nothing was before.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Returns how many tests passed when they were counted last; `None` if they never were.
    pub fn tests_passed(&self) -> Option<u64> {
        self.checks.tests()
    }

    /// Returns what the checks found to hold.
    pub(super) fn passed_checks(&self) -> &PassedChecks {
        &self.checks
    }

    /// Returns when the run was first carried out.
    pub fn began(&self) -> Option<Timestamp> {
        self.began
    }

    /// Returns how many iterations were cut off: nobody knows what they took.
    pub fn cut_off(&self) -> u32 {
        let open = u32::from(self.open.is_some());
        self.cut_off.saturating_add(open)
    }

    /// Returns how many parts of the cost nobody told because the work was left.
    pub(super) fn untold(&self) -> u32 {
        self.untold
    }

    /// Returns what those iterations took that came to their end, as far as it was to be told.
    pub(super) fn told_spending(&self) -> Tally {
        self.tally
    }

    /// Returns how a task stood when the process was lost.
    pub(super) fn of_task(&self, task: &TaskId) -> TaskSoFar {
        let mut so_far = self.tasks.get(task).cloned().unwrap_or_default();
        let open = self.open.as_ref();
        if open.is_some_and(|open| open.task == *task && open.branch.is_none()) {
            so_far.was_cut_off();
        }
        so_far
    }

    /// Returns what passed its checks on a branch, if it is not known that it was merged.
    pub(super) fn passed_on(&self, branch: &str) -> Option<&ExecutionResult> {
        self.on_branches.get(branch)
    }

    fn task(&mut self, task: &TaskId) -> &mut TaskSoFar {
        self.tasks.entry(task.clone()).or_default()
    }

    fn close_cut_off(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.cut_off = self.cut_off.saturating_add(1);
        if open.branch.is_none() {
            self.task(&open.task).was_cut_off();
        }
    }

    fn iterated(&mut self, event: &WorkEvent) {
        let WorkEvent::Iterated {
            task,
            branch,
            at,
            end,
            verification,
            told,
            cost,
            tokens,
            duration_ms,
            checks,
            interrupted,
            result,
            ..
        } = event
        else {
            return;
        };
        if let Some(open) = self.open.take() {
            let took = Duration::try_from(at.duration_since(open.at)).unwrap_or_default();
            let worked = &mut self.task(task).worked;
            *worked = worked.saturating_add(took);
        }
        let mut spending = Spending {
            spent: Spent {
                cost: *cost,
                tokens: *tokens,
                time: Duration::from_millis(*duration_ms),
            },
            sessions: 1,
        };
        spending.merge(checks);
        let interrupted = *interrupted || *end == ExecutionEnd::Cancelled;
        let spending = self.told_of(spending, interrupted);
        self.tally.add(&spending);
        let ids = told.iter().filter_map(|ToldMessage { id, .. }| id.clone());
        self.told.extend(ids);
        match verification.is_success() {
            true => self.checks.add(task, verification),
            // That there is no quota is nobody's failure.
            false if matches!(end, ExecutionEnd::QuotaExceeded { .. }) => {}
            false => self.failures = self.failures.saturating_add(1),
        }
        match (branch, result) {
            (None, Some(result)) => self.is_done(task, (**result).clone()),
            (None, None) => self.task(task).iterated(event),
            (Some(branch), Some(result)) => {
                self.on_branches.insert(branch.clone(), (**result).clone());
            }
            (Some(_), None) => {}
        }
    }

    /// Returns what was told of a spending. Where the work was left, what was not told is counted
    /// apart: that says nothing about who does not tell.
    fn told_of(&mut self, mut spending: Spending, interrupted: bool) -> Spending {
        if interrupted {
            let untold = std::mem::take(&mut spending.spent.cost.unknown_parts);
            self.untold = self.untold.saturating_add(untold);
        }
        spending
    }

    fn is_done(&mut self, task: &TaskId, result: ExecutionResult) {
        if !self.done.iter().any(|(done, _)| done == task) {
            self.done.push((task.clone(), result));
        }
    }
}

impl<'a> FromIterator<&'a WorkEvent> for WorkSoFar {
    fn from_iter<I: IntoIterator<Item = &'a WorkEvent>>(events: I) -> Self {
        let mut so_far = Self::default();
        for event in events {
            so_far.add(event);
        }
        so_far
    }
}

impl FromIterator<WorkEvent> for WorkSoFar {
    fn from_iter<I: IntoIterator<Item = WorkEvent>>(events: I) -> Self {
        let mut so_far = Self::default();
        for event in events {
            so_far.add(&event);
        }
        so_far
    }
}
