//! A task, from its first iteration to its end.

use std::time::Duration;

use autonoe_core::Failure;
use jiff::Timestamp;

use super::WorkEvent;
use super::conversation::Conversation;
use super::decide::{GivenUp, Iterated, NextStep, is_permanent, next_step};
use super::iterate::{NoTurn, Place, Turn};
use super::messages::Held;
use super::task_loop::Work;
use super::task_so_far::{TaskSoFar, WaysSoFar};
use crate::{
    Climb, ExecuteError, ExecutionResult, LoopContext, RecoveryChange, StuckLevel, StuckReport,
    Task, WorkingPlace,
};

/// How a task ended.
pub(super) enum TaskEnd {
    /// It is done and verified.
    Done(Box<ExecutionResult>),
    /// It is not, and nothing more is tried.
    Failed(String),
    /// The work was stopped from outside.
    Stopped,
}

/// How a task stands.
struct Standing {
    /// The task with the words, the backend and the model of now.
    now: Task,
    climb: Climb,
    iteration: u32,
    waits: u32,
    waits_in_a_row: u32,
    /// Why the last iteration is no success.
    problem: Option<String>,
    backend_failed: bool,
    report: StuckReport,
}

/// What follows from a recovery.
enum Recovered {
    GoOn,
    Ended(TaskEnd),
}

impl Work<'_> {
    /// Works on a task until it is verified, or nothing more can be tried.
    ///
    /// # Errors
    ///
    /// Nobody could take note of it.
    pub(super) async fn work_on(&mut self, task: &Task) -> Result<TaskEnd, Failure> {
        let began = WorkEvent::Began {
            task: task.id.clone(),
            at: self.lines.clock.now(),
        };
        self.note(&began).await?;
        let so_far = self.so_far.of_task(&task.id);
        let mut standing = self.standing(task, &so_far);
        self.worked = so_far.worked;
        self.report(Some(task), standing.iteration);
        let mut place = self.place(self.folder.clone(), None).await;
        place.conversation.clone_from(&so_far.conversation);
        let mut next = self
            .take_up(&mut place, task, &mut standing, so_far)
            .await?;
        let end = loop {
            match next {
                Recovered::GoOn => {}
                Recovered::Ended(end) => break end,
            }
            next = self.advance(&mut place, task, &mut standing).await?;
        };
        let (task, at) = (task.id.clone(), self.lines.clock.now());
        let iterations = standing.iteration;
        let (success, reason) = match &end {
            TaskEnd::Done(_) => (true, "it is done and verified".to_owned()),
            TaskEnd::Failed(why) => (false, why.clone()),
            TaskEnd::Stopped => {
                let stopped = WorkEvent::Stopped {
                    task,
                    at,
                    iterations,
                };
                self.note(&stopped).await?;
                return Ok(end);
            }
        };
        let ended = WorkEvent::Ended {
            task,
            at,
            success,
            reason,
            iterations,
        };
        self.note(&ended).await?;
        Ok(end)
    }

    /// Goes on where the task was when the process before this one was lost.
    async fn take_up(
        &mut self,
        place: &mut Place,
        task: &Task,
        standing: &mut Standing,
        so_far: TaskSoFar,
    ) -> Result<Recovered, Failure> {
        let most = self.order.iterations_of(&task.id);
        if standing.counted() >= most {
            let why = GivenUp::Iterations(most).to_string();
            let last = standing.problem.iter();
            let last: String = last.map(|why| format!("; at last: {why}")).collect();
            return Ok(Recovered::Ended(TaskEnd::Failed(why + &last)));
        }
        if let Some(until) = so_far.waits_until
            && self.wait_until(until).await == Held::Stop
        {
            return Ok(Recovered::Ended(TaskEnd::Stopped));
        }
        match so_far.changed {
            None => return Ok(Recovered::GoOn),
            Some(RecoveryChange::Prompt { .. } | RecoveryChange::Escalate { .. }) => {}
            Some(RecoveryChange::Ask { question }) => {
                if self.ask(task, standing.iteration, question).await == Held::Stop {
                    return Ok(Recovered::Ended(TaskEnd::Stopped));
                }
            }
            Some(RecoveryChange::Explore {
                branches,
                iterations,
            }) => {
                let before = so_far.ways;
                let explored = self
                    .explore(&standing.now, &branches, iterations, before)
                    .await?;
                return match explored.ended() {
                    Ok(end) => Ok(Recovered::Ended(end)),
                    Err(why) => {
                        standing.problem = Some(why);
                        self.recover(place, task, standing).await
                    }
                };
            }
        }
        place.stuck.helped();
        Ok(Recovered::GoOn)
    }

    /// Returns how many seconds a task had, if they are over.
    pub(super) fn is_over(&self, task: &Task) -> Option<u64> {
        let is_over = self.time_left(task).is_none();
        is_over.then_some(task.timeout_seconds)
    }

    /// Waits for a time to come.
    pub(super) async fn wait_until(&mut self, until: Timestamp) -> Held {
        let left = until.duration_since(self.lines.clock.now());
        let left = Duration::try_from(left).unwrap_or_default();
        let time = self.lines.clock.sleep(left);
        self.messages.wait(time).await
    }

    /// Has one iteration, and does what follows from it.
    async fn advance(
        &mut self,
        place: &mut Place,
        task: &Task,
        standing: &mut Standing,
    ) -> Result<Recovered, Failure> {
        if self.messages.hold().await == Held::Stop {
            return Ok(Recovered::Ended(TaskEnd::Stopped));
        }
        standing.iteration += 1;
        let (now, iteration) = (standing.now.clone(), standing.iteration);
        let problem = standing.problem.clone();
        let turn = self
            .iterate(place, &now, iteration, problem.as_deref())
            .await;
        let failed = |why: String| Ok(Recovered::Ended(TaskEnd::Failed(why)));
        let turn = match turn {
            Ok(turn) => turn,
            Err(NoTurn::NotRecorded(failure)) => return Err(failure),
            Err(NoTurn::Spent(kind)) => return failed(GivenUp::Budget(kind).to_string()),
            Err(NoTurn::TimeIsOver) => {
                return failed(GivenUp::Time(task.timeout_seconds).to_string());
            }
            Err(NoTurn::NotBegun(error)) => {
                standing.problem = Some(error.to_string());
                standing.backend_failed = true;
                let another_may = matches!(
                    error,
                    ExecuteError::UnknownCli { .. }
                        | ExecuteError::WrongCli { .. }
                        | ExecuteError::Setup { .. }
                );
                let most = self.order.iterations_of(&task.id);
                return match another_may && standing.counted() < most {
                    true => self.recover(place, task, standing).await,
                    false => failed(error.to_string()),
                };
            }
        };
        let next = next_step(&Iterated {
            end: &turn.result.end,
            verification: &turn.verification,
            report: &turn.report,
            iteration: standing.counted(),
            max_iterations: self.order.iterations_of(&task.id),
            spent: self.account.exhausted(),
            is_cancelled: self.messages.is_cancelled(),
            waits: standing.waits,
            waits_in_a_row: standing.waits_in_a_row,
            max_wait: Duration::from_secs(self.order.max_wait_seconds),
            over: self.is_over(task),
            now: self.lines.clock.now(),
        });
        standing.learn(&turn);
        if !matches!(next, NextStep::Wait { .. }) {
            standing.waits_in_a_row = 0;
        }
        match next {
            NextStep::Done => {
                let result = Box::new(turn.result);
                Ok(Recovered::Ended(TaskEnd::Done(result)))
            }
            NextStep::Again => Ok(Recovered::GoOn),
            NextStep::Stop => Ok(Recovered::Ended(TaskEnd::Stopped)),
            NextStep::GiveUp(why) => failed(format!("{why}; at last: {}", turn.verification)),
            NextStep::Recover => self.recover(place, task, standing).await,
            NextStep::Wait { until } => {
                standing.waits += 1;
                standing.waits_in_a_row += 1;
                let task = task.id.clone();
                self.note(&WorkEvent::Waited { task, until }).await?;
                match self.wait_until(until).await {
                    Held::GoOn => Ok(Recovered::GoOn),
                    Held::Stop => Ok(Recovered::Ended(TaskEnd::Stopped)),
                }
            }
        }
    }

    /// Changes something, as the ladder says.
    async fn recover(
        &mut self,
        place: &mut Place,
        task: &Task,
        standing: &mut Standing,
    ) -> Result<Recovered, Failure> {
        loop {
            let context = self.loop_context(task, standing);
            let ladder = self.order.ladder_of(&task.id);
            let recovery = ladder.climb(&mut standing.climb, &context);
            let Some((strategy, step)) = recovery.step else {
                let reasons = standing.report.reasons.iter().map(ToString::to_string);
                let reasons: Vec<_> = reasons.chain(standing.problem.clone()).collect();
                let over = recovery.passed_over.iter();
                let over: Vec<_> = over
                    .map(|it| format!("{}: {}", it.strategy, it.why))
                    .collect();
                let mut why = format!("it is stuck ({})", reasons.join("; "));
                why.push_str(", and nothing is left to try");
                if !over.is_empty() {
                    why.push_str(&format!(" ({})", over.join("; ")));
                }
                return Ok(Recovered::Ended(TaskEnd::Failed(why)));
            };
            let recovered = WorkEvent::Recovered {
                task: task.id.clone(),
                iteration: standing.iteration,
                strategy,
                step: step.clone(),
                passed_over: recovery.passed_over,
                climb: standing.climb.clone(),
            };
            self.note(&recovered).await?;
            let before = place.conversation.take();
            place.conversation = Conversation::after_change(before, &step.change);
            match step.change {
                RecoveryChange::Prompt { goal } => standing.now.goal = goal,
                RecoveryChange::Escalate { to } => {
                    standing.now.cli = Some(to.cli);
                    standing.now.model = to.model;
                    standing.backend_failed = false;
                }
                RecoveryChange::Ask { question } => {
                    if self.ask(task, standing.iteration, question).await == Held::Stop {
                        return Ok(Recovered::Ended(TaskEnd::Stopped));
                    }
                }
                RecoveryChange::Explore {
                    branches,
                    iterations,
                } => {
                    let before = WaysSoFar::default();
                    let explored = self
                        .explore(&standing.now, &branches, iterations, before)
                        .await?;
                    match explored.ended() {
                        Ok(end) => return Ok(Recovered::Ended(end)),
                        Err(why) => standing.problem = Some(why),
                    }
                    continue;
                }
            }
            place.stuck.helped();
            return Ok(Recovered::GoOn);
        }
    }

    fn loop_context(&self, task: &Task, standing: &Standing) -> LoopContext {
        let backend = standing.now.cli.clone().unwrap_or_default();
        let mut context = LoopContext::new(task.clone(), backend, standing.report.clone());
        context.model = standing.now.model.clone();
        context.iteration = standing.iteration;
        context.problem = standing.problem.clone();
        context.backend_failed = standing.backend_failed;
        context.free = self.account.free();
        context.dearest = self.account.dearest();
        context.attendance = self.order.attendance;
        context.place = match self.worktree {
            Some(_) => WorkingPlace::Worktree,
            None => WorkingPlace::Folder,
        };
        context
    }

    fn standing(&self, task: &Task, so_far: &TaskSoFar) -> Standing {
        let mut now = task.clone();
        now.cli = now.cli.or_else(|| self.order.backend.clone());
        now.model = now.model.or_else(|| self.order.model.clone());
        now.cli = now.cli.or_else(|| so_far.cli.clone());
        if let Some(to) = so_far.escalated.clone() {
            now.cli = Some(to.cli);
            now.model = to.model;
        }
        now.goal = so_far.goal.clone().unwrap_or(now.goal);
        Standing {
            now,
            climb: so_far.climb.clone(),
            iteration: so_far.iterations,
            waits: so_far.waits,
            waits_in_a_row: so_far.waits_in_a_row,
            problem: so_far.problem.clone(),
            backend_failed: so_far.backend_failed,
            report: so_far.report.clone().unwrap_or(StuckReport {
                level: StuckLevel::Fine,
                reasons: Vec::new(),
            }),
        }
    }
}

impl Standing {
    /// Returns how many iterations count: those after which it waited do not.
    fn counted(&self) -> u32 {
        self.iteration.saturating_sub(self.waits)
    }

    fn learn(&mut self, turn: &Turn) {
        self.problem = Some(turn.verification.reason().to_owned());
        self.backend_failed = is_permanent(&turn.result.end);
        self.report = turn.report.clone();
        // Who it really was, should nobody have been named.
        self.now.cli.get_or_insert_with(|| turn.result.cli.clone());
    }
}
