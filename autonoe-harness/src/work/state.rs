//! State of a run's work, replayed from its events.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use autonoe_core::agent::{BudgetUsage, CostTotal};
use autonoe_core::{CostUsd, RunId};
use jiff::Timestamp;

use super::conversation::Conversation;
use super::decide::is_permanent;
use super::{DeliveredMessage, WorkEvent};
use crate::budget::{Account, Allowance, Spending};
use crate::executor::{ExecutionOutcome, ExecutionReport, TaskId, Verification};
use crate::isolation::WorkLocation;
use crate::recovery::{BackendModel, RecoveryAttempt, RecoveryChange, RecoveryStep};
use crate::stuck::StuckReport;

/// State of a run, replayed from the recorded events of its earlier processes.
///
/// The process that recorded them is gone: an iteration with a start but no end was interrupted by
/// a kill. It counts as an iteration and as a session, and its cost is unknown. An iteration that
/// was interrupted because the work was stopped has ended, but its agent may not have reported all
/// of its spending.
///
/// ```
/// use autonoe_harness::work::{WorkEvent, RecoveredState};
/// use autonoe_harness::TaskId;
/// # let at = "2026-01-01T00:00:00Z".parse::<jiff::Timestamp>()?;
///
/// let task = "T-1".parse::<TaskId>()?;
/// let killed_in_its_third: RecoveredState = (1..=3)
///     .map(|iteration| WorkEvent::IterationStarted {
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
pub struct RecoveredState {
    run: Option<RunId>,
    /// In the order in which they were completed.
    done: Vec<(TaskId, ExecutionReport)>,
    failed: BTreeMap<TaskId, String>,
    tasks: BTreeMap<TaskId, TaskState>,
    /// Results that passed their checks on a branch, until it is merged.
    on_branches: BTreeMap<String, ExecutionReport>,
    tests_passed: Option<u64>,
    /// Per task, from its last check that passed.
    criteria_passed: BTreeMap<TaskId, u64>,
    /// The reported spending of ended iterations and of checks.
    spent: Spending,
    /// The maximum spending of an iteration, per kind.
    costliest: Spending,
    /// The iteration that started and has not ended.
    open: Option<Open>,
    cut_off: u32,
    /// Number of unreported parts of the cost, because the work was stopped.
    unreported: u32,
    delivered: BTreeSet<String>,
    failures: u32,
    unmerged_work: Vec<WorkLocation>,
    started_at: Option<Timestamp>,
}

/// An iteration that started and has not ended.
#[derive(Clone, Debug, PartialEq)]
struct Open {
    task: TaskId,
    branch: Option<String>,
    at: Timestamp,
}

impl RecoveredState {
    /// Applies the next recorded event.
    pub fn apply(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::Opened { run, at } => {
                self.close_cut_off();
                self.run.get_or_insert_with(|| run.clone());
                self.started_at.get_or_insert(*at);
            }
            WorkEvent::TaskStarted { task, .. } => self.task(task).has_ended = false,
            WorkEvent::IterationStarted {
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
                    None => self.task(task).start_iteration(*iteration),
                    Some(branch) => self
                        .task(task)
                        .exploration
                        .start_iteration(branch, *iteration),
                }
            }
            WorkEvent::NotStarted {
                task,
                branch,
                reason,
                ..
            } => {
                self.open = None;
                if branch.is_none() {
                    self.task(task).record_start_failure(reason);
                }
            }
            WorkEvent::IterationEnded { .. } => self.iterated(event),
            WorkEvent::Waiting { task, until } => self.task(task).waits(*until),
            WorkEvent::Recovered {
                task,
                step,
                attempt: recovery_attempt,
                ..
            } => self.task(task).apply_recovery_step(step, recovery_attempt),
            WorkEvent::Explored {
                task,
                branch,
                merged,
                unmerged_work,
                ..
            } => {
                self.unmerged_work.extend(unmerged_work.clone());
                self.task(task).exploration.ends();
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
                let checks = self.reported_part(*checks, *interrupted);
                self.spent.merge(&checks);
            }
            WorkEvent::Ended {
                task,
                success,
                reason,
                ..
            } => {
                self.task(task).has_ended = true;
                // A success was recorded, with its result, by the last iteration.
                if !success {
                    self.failed.insert(task.clone(), reason.clone());
                }
            }
            WorkEvent::Stopped { .. } | WorkEvent::Closed { .. } => {}
        }
    }

    /// Returns the tasks that are done and verified, in order, each with its result.
    pub fn done(&self) -> impl Iterator<Item = (&TaskId, &ExecutionReport)> {
        self.done.iter().map(|(task, result)| (task, result))
    }

    /// Returns the tasks that failed for good, each with the reason.
    pub fn failed(&self) -> impl Iterator<Item = (&TaskId, &str)> {
        self.failed
            .iter()
            .map(|(task, reason)| (task, reason.as_str()))
    }

    /// Returns the number of iterations of a task, excluding those on branches, and including those
    /// after which it waited.
    pub fn iterations_of(&self, task: &TaskId) -> u32 {
        self.tasks.get(task).map_or(0, |task| task.iterations)
    }

    /// Returns the spending. Unreported spending is an unknown part of the cost.
    pub fn spending(&self) -> Spending {
        let mut spending = self.spent;
        let cut_off = self.interrupted();
        let parts = &mut spending.spent.cost.unknown_parts;
        *parts = parts
            .saturating_add(cut_off)
            .saturating_add(self.unreported);
        spending.sessions = spending.sessions.saturating_add(u64::from(cut_off));
        spending
    }

    /// Returns the IDs of the messages that agents have received.
    pub fn delivered(&self) -> &BTreeSet<String> {
        &self.delivered
    }

    /// Returns the locations of work that was not merged.
    pub fn unmerged_work(&self) -> &[WorkLocation] {
        &self.unmerged_work
    }

    /// Returns the number of unsuccessful iterations.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns the run; `None` if no event was recorded.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Returns the number of passed tests as of their last count; `None` if they were never
    /// counted.
    pub fn tests_passed(&self) -> Option<u64> {
        self.tests_passed
    }

    /// Returns the number of criteria that held at the last successful check of each task.
    pub(super) fn criteria_passed(&self) -> u64 {
        self.criteria_passed.values().sum()
    }

    /// Returns the time at which the run was first started.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// Returns the number of iterations that a kill interrupted: their spending is unknown.
    pub fn interrupted(&self) -> u32 {
        let open = u32::from(self.open.is_some());
        self.cut_off.saturating_add(open)
    }

    /// Returns the maximum spending of an iteration, per kind.
    pub(super) fn costliest_iteration(&self) -> Spending {
        self.costliest
    }

    /// Opens an account with the allowance that earlier processes of the run have left.
    ///
    /// The spending of an iteration that a kill interrupted is unknown, and a stopped one may not
    /// have reported it. The estimate is the most expensive known iteration or, if there is none, a
    /// part of an allowance for `turns` iterations. Charging nothing would be wrong, and charging
    /// everything that is left would end every run that is killed or stopped once.
    pub(super) fn open_account(&self, allowance: Allowance, turns: u32) -> Account {
        let mut account = Account::new(allowance);
        account.charge(&self.spent);
        let mut estimate = self.costliest;
        let part = |all: u64| all / u64::from(turns.max(1));
        if estimate.spent.cost.known_usd == CostUsd::ZERO {
            let all = allowance.budget.cost_usd.map_or(0, CostUsd::picos);
            estimate.spent.cost = CostTotal::known(CostUsd::from_picos(part(all)));
        }
        if estimate.spent.tokens.total() == 0 {
            estimate.spent.tokens.input = part(allowance.budget.tokens.unwrap_or_default());
        }
        estimate.sessions = 1;
        for _ in 0..self.interrupted() {
            account.charge_estimate(&estimate);
        }
        // The time of a stopped iteration, and its session, were reported.
        (estimate.spent.time, estimate.sessions) = (Duration::ZERO, 0);
        for _ in 0..self.unreported {
            account.charge_estimate(&estimate);
        }
        account
    }

    /// Returns the state of a task.
    pub(super) fn task_state(&self, task: &TaskId) -> TaskState {
        self.tasks.get(task).cloned().unwrap_or_default()
    }

    /// Records why no explored approach succeeded.
    pub(super) fn record_failed_exploration(&mut self, task: &TaskId, reason: String) {
        self.task(task).problem = Some(reason);
    }

    /// Returns the result that passed its checks on a branch, unless it was merged.
    pub(super) fn passed_on(&self, branch: &str) -> Option<&ExecutionReport> {
        self.on_branches.get(branch)
    }

    fn task(&mut self, task: &TaskId) -> &mut TaskState {
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
        let WorkEvent::IterationEnded {
            task,
            branch,
            at,
            end,
            verification,
            messages,
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
            let elapsed = Duration::try_from(at.duration_since(open.at)).unwrap_or_default();
            let worked = &mut self.task(task).working_time;
            *worked = worked.saturating_add(elapsed);
        }
        let mut spending = Spending {
            spent: BudgetUsage {
                cost: *cost,
                tokens: *tokens,
                time: Duration::from_millis(*duration_ms),
            },
            sessions: 1,
        };
        spending.merge(checks);
        let interrupted = *interrupted || *end == ExecutionOutcome::Cancelled;
        let spending = self.reported_part(spending, interrupted);
        self.spent.merge(&spending);
        self.costliest.raise_to(&spending);
        let ids = messages
            .iter()
            .filter_map(|DeliveredMessage { id, .. }| id.clone());
        self.delivered.extend(ids);
        if verification.is_success() {
            self.passed(task, verification);
        } else if !matches!(end, ExecutionOutcome::QuotaExceeded { .. }) {
            // A missing quota is not a failure of the agent.
            self.failures = self.failures.saturating_add(1);
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

    /// Returns the reported part of a spending. If the work was stopped, the unreported part is
    /// counted separately: it does not mean that the agent does not report its cost.
    fn reported_part(&mut self, mut spending: Spending, interrupted: bool) -> Spending {
        if interrupted {
            let unreported = std::mem::take(&mut spending.spent.cost.unknown_parts);
            self.unreported = self.unreported.saturating_add(unreported);
        }
        spending
    }

    fn passed(&mut self, task: &TaskId, verification: &Verification) {
        self.tests_passed = verification.tests_passed().or(self.tests_passed);
        let criteria = verification.criteria_passed();
        self.criteria_passed.insert(task.clone(), criteria);
    }

    fn is_done(&mut self, task: &TaskId, result: ExecutionReport) {
        if !self.done.iter().any(|(done, _)| done == task) {
            self.done.push((task.clone(), result));
        }
    }
}

impl<'a> FromIterator<&'a WorkEvent> for RecoveredState {
    fn from_iter<I: IntoIterator<Item = &'a WorkEvent>>(events: I) -> Self {
        let mut so_far = Self::default();
        for event in events {
            so_far.apply(event);
        }
        so_far
    }
}

impl FromIterator<WorkEvent> for RecoveredState {
    fn from_iter<I: IntoIterator<Item = WorkEvent>>(events: I) -> Self {
        let mut so_far = Self::default();
        for event in events {
            so_far.apply(&event);
        }
        so_far
    }
}

/// State of a task, replayed from its events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TaskState {
    pub(super) iterations: u32,
    /// Whether its end was recorded after its last start.
    pub(super) has_ended: bool,
    pub(super) waits: u32,
    /// Number of waits without a counted iteration in between.
    pub(super) waits_in_a_row: u32,
    /// Whether the task waited after its last iteration.
    waited: bool,
    /// The duration of its iterations, including their checks.
    pub(super) working_time: Duration,
    /// The end of the wait for its quota.
    pub(super) waits_until: Option<Timestamp>,
    pub(super) recovery_attempt: RecoveryAttempt,
    /// The recovery change after which no iteration has started.
    pub(super) changed: Option<RecoveryChange>,
    /// The explored approaches of that change.
    pub(super) exploration: ExplorationState,
    /// The goal, if it was changed.
    pub(super) goal: Option<String>,
    /// The backend and model that it was escalated to.
    pub(super) escalated: Option<BackendModel>,
    /// The executor of its first turn.
    pub(super) cli: Option<String>,
    pub(super) problem: Option<String>,
    pub(super) backend_failed: bool,
    pub(super) report: Option<StuckReport>,
    /// The conversation that its next turn continues.
    pub(super) conversation: Option<Conversation>,
}

/// State of an exploration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ExplorationState {
    /// Number of approaches that ended.
    pub(super) ended: usize,
    /// The branch of the approach in progress, and the number of its started iterations.
    pub(super) open: Option<(String, u32)>,
}

impl ExplorationState {
    fn start_iteration(&mut self, branch: &str, iteration: u32) {
        self.open = Some((branch.to_owned(), iteration));
    }

    fn ends(&mut self) {
        self.ended += 1;
        self.open = None;
    }
}

impl TaskState {
    /// Returns how many of `iterations` count: those after which the task waited do not.
    pub(super) fn counted(&self, iterations: u32) -> u32 {
        iterations.saturating_sub(self.waits)
    }

    fn start_iteration(&mut self, iteration: u32) {
        self.iterations = self.iterations.max(iteration);
        if !self.waited {
            self.waits_in_a_row = 0;
        }
        self.waited = false;
        self.waits_until = None;
        self.changed = None;
    }

    fn was_cut_off(&mut self) {
        self.problem = Some("the process ended during the turn".to_owned());
    }

    fn record_start_failure(&mut self, reason: &str) {
        self.problem = Some(reason.to_owned());
        self.backend_failed = true;
    }

    /// Applies an unsuccessful iteration.
    fn iterated(&mut self, event: &WorkEvent) {
        let WorkEvent::IterationEnded {
            iteration,
            cli,
            model,
            end,
            conversation,
            verification,
            stuck,
            ..
        } = event
        else {
            return;
        };
        self.iterations = self.iterations.max(*iteration);
        self.problem = Some(verification.reason().to_owned());
        self.backend_failed = is_permanent(end);
        self.report = Some(stuck.clone());
        self.cli.get_or_insert_with(|| cli.clone());
        let of_turn = Conversation::of_turn(cli, model.as_deref(), conversation.as_ref());
        let before = self.conversation.take();
        self.conversation = Conversation::after_turn(before, end, of_turn);
    }

    fn waits(&mut self, until: Timestamp) {
        self.waits = self.waits.saturating_add(1);
        self.waits_in_a_row = self.waits_in_a_row.saturating_add(1);
        self.waited = true;
        self.waits_until = Some(until);
    }

    fn apply_recovery_step(&mut self, step: &RecoveryStep, recovery_attempt: &RecoveryAttempt) {
        self.recovery_attempt = recovery_attempt.clone();
        self.changed = Some(step.change.clone());
        self.exploration = ExplorationState::default();
        let before = self.conversation.take();
        self.conversation = Conversation::after_change(before, &step.change);
        match &step.change {
            RecoveryChange::Prompt { goal } => self.goal = Some(goal.clone()),
            RecoveryChange::Escalate { to } => {
                self.escalated = Some(to.clone());
                self.backend_failed = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_check_of_each_task_that_passed_counts() {
        let [one, two] = ["one", "two"].map(|id| id.parse::<TaskId>().expect("a name"));
        let two_criteria = Verification::Passed {
            reason: "p".to_owned(),
            tests_passed: None,
            criteria_passed: 2,
        };
        let mut state = RecoveredState::default();

        state.passed(&one, &two_criteria);
        state.passed(&two, &Verification::passed_tests("t", 5));
        state.passed(&one, &Verification::passed("p"));

        assert_eq!(state.tests_passed(), Some(5));
        assert_eq!(state.criteria_passed(), 2);
    }
}
