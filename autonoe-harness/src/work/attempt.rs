//! Attempts at a task: turns and recoveries until it is verified or nothing is left to try.

use std::time::Duration;

use autonoe_core::event::Failure;
use jiff::Timestamp;

use super::WorkEvent;
use super::decide::{IterationState, NextStep, TaskFailure, next_step};
use super::messages::WaitOutcome;
use super::task_loop::{TaskEnd, Work};
use super::turn::{Turn, TurnContext, TurnError};
use crate::executor::{ExecuteError, Task, TaskId};
use crate::recovery::{LoopContext, RecoveryChange, WorkFolderKind};

/// A task in progress. Its details are in the state of the work.
struct Attempt<'t> {
    task: &'t Task,
    place: TurnContext,
    iteration: u32,
}

impl Work<'_> {
    /// Works on a task until it is verified, or nothing more can be tried.
    ///
    /// # Errors
    ///
    /// An event could not be recorded.
    pub(super) async fn run_task(&mut self, task: &Task) -> Result<TaskEnd, Failure> {
        let task_started = WorkEvent::TaskStarted {
            task: task.id.clone(),
            at: self.task_loop.clock.now(),
        };
        self.record(&task_started).await?;
        let iteration = self.state.iterations_of(&task.id);
        self.report(Some(task), iteration, &self.folder);
        let mut attempt = Attempt {
            task,
            place: self.turn_context(self.folder.clone(), None).await,
            iteration,
        };
        let mut end = self.resume(&mut attempt).await?;
        let end = loop {
            match end {
                Some(end) => break end,
                None => end = self.advance(&mut attempt).await?,
            }
        };
        self.record_end(&task.id, &end, attempt.iteration).await?;
        Ok(end)
    }

    /// Records the ends of verified tasks whose process was lost before it recorded them, because
    /// observers receive the end of each task.
    pub(super) async fn record_missing_ends(&mut self) -> Result<(), Failure> {
        let verified: Vec<TaskId> = self.verified().map(|(task, _)| task.id.clone()).collect();
        for task in verified {
            let state = self.state.task_state(&task);
            if !state.has_ended {
                self.record_end(&task, &TaskEnd::Done, state.iterations)
                    .await?;
            }
        }
        Ok(())
    }

    async fn record_end(
        &mut self,
        task: &TaskId,
        end: &TaskEnd,
        iterations: u32,
    ) -> Result<(), Failure> {
        let (task, at) = (task.clone(), self.task_loop.clock.now());
        let ended = |task, success, reason: &str| WorkEvent::Ended {
            task,
            at,
            success,
            reason: reason.to_owned(),
            iterations,
        };
        let event = match end {
            TaskEnd::Done => ended(task, true, "it is done and verified"),
            TaskEnd::Failed(reason) => ended(task, false, reason),
            TaskEnd::Stopped => WorkEvent::Stopped {
                task,
                at,
                iterations,
            },
        };
        self.record(&event).await
    }

    /// Continues where the task was when an earlier process was lost; `None` if the task continues.
    async fn resume(&mut self, attempt: &mut Attempt<'_>) -> Result<Option<TaskEnd>, Failure> {
        let id = &attempt.task.id;
        let most = self.order.max_iterations_of(id);
        let state = self.state.task_state(id);
        if state.counted(attempt.iteration) >= most {
            let mut reason = TaskFailure::Iterations(most).to_string();
            if let Some(problem) = &state.problem {
                reason.push_str(&format!("; last problem: {problem}"));
            }
            return Ok(Some(TaskEnd::Failed(reason)));
        }
        if let Some(until) = state.waits_until
            && self.wait_until(until).await == WaitOutcome::Stop
        {
            return Ok(Some(TaskEnd::Stopped));
        }
        let Some(change) = state.changed else {
            return Ok(None);
        };
        match self.apply(attempt, change).await? {
            Some(TaskEnd::Failed(_)) => self.recover(attempt).await,
            end => Ok(end),
        }
    }

    /// Returns the time limit of a task in seconds, if it has passed.
    pub(super) fn exceeded_timeout(&self, task: &Task) -> Option<u64> {
        let is_over = self.time_left(task).is_none();
        is_over.then_some(task.timeout_seconds)
    }

    /// Waits until a time.
    pub(super) async fn wait_until(&mut self, until: Timestamp) -> WaitOutcome {
        let left = until.duration_since(self.task_loop.clock.now());
        let left = Duration::try_from(left).unwrap_or_default();
        let time = self.task_loop.clock.sleep(left);
        self.messages.wait(time).await
    }

    /// Runs one turn, and handles its result; `None` if the task continues.
    async fn advance(&mut self, attempt: &mut Attempt<'_>) -> Result<Option<TaskEnd>, Failure> {
        if self.messages.wait_while_paused().await == WaitOutcome::Stop {
            return Ok(Some(TaskEnd::Stopped));
        }
        attempt.iteration += 1;
        let (task, iteration) = (attempt.task, attempt.iteration);
        let now = self.current(task);
        let problem = self.state.task_state(&task.id).problem;
        let turn = self
            .turn(&mut attempt.place, &now, iteration, problem.as_deref())
            .await;
        let failed = |reason: String| Ok(Some(TaskEnd::Failed(reason)));
        let most = self.order.max_iterations_of(&task.id);
        let turn = match turn {
            Ok(turn) => turn,
            Err(TurnError::NotRecorded(failure)) => return Err(failure),
            Err(TurnError::BudgetExhausted(kind)) => {
                return failed(TaskFailure::Budget(kind).to_string());
            }
            Err(TurnError::TimedOut) => {
                return failed(TaskFailure::Time(task.timeout_seconds).to_string());
            }
            Err(TurnError::NotStarted(error)) => {
                let another_may = matches!(
                    error,
                    ExecuteError::UnknownCli { .. }
                        | ExecuteError::WrongCli { .. }
                        | ExecuteError::Setup { .. }
                );
                let counted = self.state.task_state(&task.id).counted(iteration);
                return if another_may && counted < most {
                    self.recover(attempt).await
                } else {
                    failed(error.to_string())
                };
            }
        };
        let state = self.state.task_state(&task.id);
        let counts = (state.counted(iteration), most);
        let waits = (state.waits, state.waits_in_a_row);
        match self.next_step(task, &turn, counts, waits) {
            NextStep::Done => Ok(Some(TaskEnd::Done)),
            NextStep::Continue => Ok(None),
            NextStep::Stop => Ok(Some(TaskEnd::Stopped)),
            NextStep::Fail(failure) => {
                failed(format!("{failure}; last problem: {}", turn.verification))
            }
            NextStep::Recover => self.recover(attempt).await,
            NextStep::Wait { until } => {
                let task = task.id.clone();
                self.record(&WorkEvent::Waiting { task, until }).await?;
                Ok(match self.wait_until(until).await {
                    WaitOutcome::Continue => None,
                    WaitOutcome::Stop => Some(TaskEnd::Stopped),
                })
            }
        }
    }

    /// Decides the next step after a turn. `counts` are the counted iterations and their maximum,
    /// `waits` the number of waits in total and in a row.
    pub(super) fn next_step(
        &self,
        task: &Task,
        turn: &Turn,
        (iteration, max_iterations): (u32, u32),
        (waits, waits_in_a_row): (u32, u32),
    ) -> NextStep {
        next_step(&IterationState {
            end: &turn.result.end,
            verification: &turn.verification,
            report: &turn.report,
            iteration,
            max_iterations,
            exhausted: self.account.exhausted(),
            is_cancelled: self.messages.is_cancelled(),
            waits,
            waits_in_a_row,
            max_wait: Duration::from_secs(self.order.max_wait_seconds),
            exceeded_timeout: self.exceeded_timeout(task),
            now: self.task_loop.clock.now(),
        })
    }

    /// Applies the next step of the ladder; `None` if the task continues with it.
    async fn recover(&mut self, attempt: &mut Attempt<'_>) -> Result<Option<TaskEnd>, Failure> {
        let task = attempt.task;
        loop {
            let context = self.loop_context(attempt);
            let mut recovery_attempt = self.state.task_state(&task.id).recovery_attempt;
            let ladder = self.order.ladder_of(&task.id);
            let recovery = ladder.next_step(&mut recovery_attempt, &context);
            let Some((strategy, step)) = recovery.step else {
                let reasons = context.report.reasons.iter().map(ToString::to_string);
                let reasons: Vec<_> = reasons.chain(context.problem).collect();
                let over = recovery.skipped.iter();
                let over: Vec<_> = over
                    .map(|it| format!("{}: {}", it.strategy, it.reason))
                    .collect();
                let mut reason = format!("the task is stuck ({})", reasons.join("; "));
                reason.push_str(", and all recovery steps are used");
                if !over.is_empty() {
                    reason.push_str(&format!(" ({})", over.join("; ")));
                }
                return Ok(Some(TaskEnd::Failed(reason)));
            };
            let change = step.change.clone();
            let recovered = WorkEvent::Recovered {
                task: task.id.clone(),
                iteration: attempt.iteration,
                strategy,
                step,
                skipped: recovery.skipped,
                attempt: recovery_attempt,
            };
            self.record(&recovered).await?;
            match self.apply(attempt, change).await? {
                Some(TaskEnd::Failed(_)) => {}
                end => return Ok(end),
            }
        }
    }

    /// Applies a change: `None` if the task continues with it, [`TaskEnd::Failed`] if another
    /// change is needed. A new prompt and another backend are in the state already.
    async fn apply(
        &mut self,
        attempt: &mut Attempt<'_>,
        change: RecoveryChange,
    ) -> Result<Option<TaskEnd>, Failure> {
        match change {
            RecoveryChange::Prompt { .. } | RecoveryChange::Escalate { .. } => {}
            RecoveryChange::Ask { question } => {
                let answered = self.ask_operator(attempt.task, attempt.iteration, question);
                if answered.await == WaitOutcome::Stop {
                    return Ok(Some(TaskEnd::Stopped));
                }
            }
            RecoveryChange::Explore {
                branches,
                iterations,
            } => {
                let now = self.current(attempt.task);
                let end = self.explore(&now, &branches, iterations).await?;
                if let TaskEnd::Failed(reason) = &end {
                    self.state
                        .record_failed_exploration(&attempt.task.id, reason.clone());
                }
                return Ok(Some(end));
            }
        }
        attempt.place.stuck.record_recovery();
        Ok(None)
    }

    /// Returns a task with its current goal, backend and model.
    fn current(&self, task: &Task) -> Task {
        let state = self.state.task_state(&task.id);
        let mut now = task.clone();
        now.cli = now.cli.or_else(|| self.order.backend.clone()).or(state.cli);
        now.model = now.model.or_else(|| self.order.model.clone());
        if let Some(to) = state.escalated {
            now.cli = Some(to.cli);
            now.model = to.model;
        }
        now.goal = state.goal.unwrap_or(now.goal);
        now
    }

    fn loop_context(&self, attempt: &Attempt<'_>) -> LoopContext {
        let task = attempt.task;
        let (now, state) = (self.current(task), self.state.task_state(&task.id));
        let report = state.report.unwrap_or_default();
        let mut context = LoopContext::new(task.clone(), now.cli.unwrap_or_default(), report);
        context.model = now.model;
        context.iteration = attempt.iteration;
        context.problem = state.problem;
        context.backend_failed = state.backend_failed;
        context.free = self.account.free();
        context.costliest_iteration = self.state.costliest_iteration();
        context.attendance = self.order.attendance;
        context.work_folder_kind = match self.worktree {
            Some(_) => WorkFolderKind::Worktree,
            None => WorkFolderKind::Folder,
        };
        context
    }
}
