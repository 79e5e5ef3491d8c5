//! One turn of an agent on a task, with its verification.

use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::engine::RunProgress;
use autonoe_core::event::Failure;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{Budget, RunControl};

use super::conversation::Conversation;
use super::messages::WaitOutcome;
use super::task_loop::Work;
use super::{DeliveredMessage, WorkEvent};
use crate::budget::{Allowance, BudgetedKind, Spending, VerificationBudget};
use crate::executor::{
    ExecuteError, Execution, ExecutionOutcome, ExecutionReport, Executors, Task, Verification,
};
use crate::progress::ledger_counts;
use crate::progress::{Novelty, ProgressDetector, ProgressSignal, TreeSnapshot};
use crate::stuck::{Iteration, StuckDetector, StuckReport};

/// Name of the reservation of the current turn.
const TURN: &str = "turn";

/// Working place of an agent, with the state of its turns.
pub(super) struct TurnContext {
    pub(super) executors: Executors,
    pub(super) folder: PathBuf,
    /// The branch, if it is an exploration.
    pub(super) branch: Option<String>,
    /// The conversation that the next turn continues. Outside of branches, the state has it.
    conversation: Option<Conversation>,
    pub(super) stuck: StuckDetector,
    progress: ProgressDetector,
    novelty: Novelty,
    tree: TreeSnapshot,
    /// The share of passed deliverables in its ledger.
    passed: f64,
}

/// One turn of an agent.
pub(super) struct Turn {
    pub(super) result: ExecutionReport,
    pub(super) verification: Verification,
    pub(super) report: StuckReport,
}

/// Reason why no turn took place.
pub(super) enum TurnError {
    /// The budget of this kind is exhausted.
    BudgetExhausted(BudgetedKind),
    /// The time limit of the task has passed.
    TimedOut,
    /// The executor did not start.
    NotStarted(ExecuteError),
    /// The turn could not be recorded.
    NotRecorded(Failure),
}

impl Work<'_> {
    pub(super) async fn turn_context(
        &self,
        folder: PathBuf,
        branch: Option<String>,
    ) -> TurnContext {
        let tree = self.snapshot(folder.clone()).await.unwrap_or_default();
        let passed = passed_in(folder.clone()).await;
        TurnContext {
            executors: (self.task_loop.executor_factory)(&folder),
            folder,
            branch,
            conversation: None,
            stuck: StuckDetector::new(self.order.thresholds),
            progress: ProgressDetector::new(tree.clone()).limits(self.task_loop.limits),
            novelty: Novelty::default(),
            tree,
            passed,
        }
    }

    /// Runs a turn of an agent on `task`. `problem` is the reason why the last one failed.
    pub(super) async fn turn(
        &mut self,
        place: &mut TurnContext,
        task: &Task,
        iteration: u32,
        problem: Option<&str>,
    ) -> Result<Turn, TurnError> {
        let Some(left) = self.time_left(task) else {
            return Err(TurnError::TimedOut);
        };
        let mut limited = task.clone().timeout(left);
        // Part of the task: a continued conversation has it already.
        if let Some(input) = &self.order.input {
            let before = format!("Result of the previous stage:\n{input}");
            let context = limited.context.into_iter().chain([before]);
            limited.context = Some(context.collect::<Vec<_>>().join("\n\n"));
        }
        let budget = self.reserve_turn().map_err(TurnError::BudgetExhausted)?;
        let begins = WorkEvent::IterationStarted {
            task: task.id.clone(),
            iteration,
            branch: place.branch.clone(),
            at: self.task_loop.clock.now(),
        };
        if let Err(failure) = self.record(&begins).await {
            self.account.close_reservation(TURN, &Spending::default());
            return Err(TurnError::NotRecorded(failure));
        }
        // Reported now, so that observers see the current turn while the agent works.
        self.report(Some(task), iteration, &place.folder);
        let child = RunControl::new();
        let last = |problem| format!("The last attempt failed: {problem}");
        if place.branch.is_none() {
            place.conversation = self.state.task_state(&task.id).conversation;
        }
        let execution = Execution {
            context: problem.map(last),
            resume: place.conversation_for(&limited),
            conversations: self.task_loop.conversations.clone(),
            budget,
            ..Execution::new(&child)
        };
        let executing = place.executors.run(&limited, &execution);
        let (result, forwarded) = self.messages.run_with_messages(&child, executing).await;
        let delivered = self.messages.split_delivered(forwarded);
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                self.account.close_reservation(TURN, &Spending::default());
                let event = WorkEvent::NotStarted {
                    task: task.id.clone(),
                    iteration,
                    branch: place.branch.clone(),
                    reason: error.to_string(),
                };
                self.record(&event).await.map_err(TurnError::NotRecorded)?;
                return Err(TurnError::NotStarted(error));
            }
        };
        let (model, id) = (result.model.as_deref(), result.conversation.as_ref());
        let of_turn = Conversation::of_turn(&result.cli, model, id);
        let before = place.conversation.take();
        place.conversation = Conversation::after_turn(before, &result.end, of_turn);
        self.account.close_reservation(TURN, &result.spending());
        let budget = VerificationBudget::new(self.account.free());
        let verifying = place.executors.verify_success(task, &result, &budget);
        let verification = self.verify_unless_stopped(verifying).await;
        let checks = budget.spending();
        self.account.charge(&checks);
        let (signal, score, report) = self.judge(place, &result).await;
        let at = self.task_loop.clock.now();
        let event = WorkEvent::IterationEnded {
            task: task.id.clone(),
            iteration,
            branch: place.branch.clone(),
            at,
            cli: result.cli.clone(),
            model: result.model.clone(),
            end: result.end.clone(),
            verification: verification.clone(),
            score,
            stuck: report.clone(),
            conversation: result.conversation.clone(),
            denied: u32::try_from(result.denied.len()).unwrap_or(u32::MAX),
            messages: delivered.iter().map(DeliveredMessage::from).collect(),
            cost: result.cost,
            tokens: result.tokens,
            duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
            signal,
            output: if verification.is_success() {
                String::new()
            } else {
                result.output.clone()
            },
            checks,
            interrupted: self.is_interrupted(&verification),
            result: verification.is_success().then(|| Box::new(result.clone())),
        };
        self.record(&event).await.map_err(TurnError::NotRecorded)?;
        self.messages.settle(delivered);
        self.iteration = iteration;
        self.report(Some(task), iteration, &place.folder);
        Ok(Turn {
            result,
            verification,
            report,
        })
    }

    /// Reserves everything that is free, and one session, for a turn.
    ///
    /// # Errors
    ///
    /// The budget of the returned kind is exhausted.
    fn reserve_turn(&mut self) -> Result<Budget, BudgetedKind> {
        if let Some(kind) = self.account.exhausted() {
            return Err(kind);
        }
        let free = self.account.free();
        let allowance = Allowance {
            sessions: free.sessions.map(|_| 1),
            ..free
        };
        let reserved = self.account.reserve(TURN, allowance);
        reserved.map_err(|_| BudgetedKind::Sessions)?;
        Ok(allowance.budget)
    }

    /// Returns the remaining time of the task: for all of its iterations, including those on
    /// branches and their checks. Waits and pauses do not count.
    pub(super) fn time_left(&self, task: &Task) -> Option<Duration> {
        let left = task
            .time()
            .saturating_sub(self.state.task_state(&task.id).working_time);
        (!left.is_zero()).then_some(left)
    }

    /// Reports the progress of the work. The agent of `task` works in `folder`, which differs from
    /// that of the member during an exploration.
    pub(super) fn report(&self, task: Option<&Task>, iteration: u32, folder: &Path) {
        let progress = self.run_progress(task, iteration, folder);
        self.context.report(progress);
    }

    /// Asks a person a question, and waits for an answer or a resume request.
    pub(super) async fn ask_operator(
        &mut self,
        task: &Task,
        iteration: u32,
        question: String,
    ) -> WaitOutcome {
        let mut progress = self.run_progress(Some(task), iteration, &self.folder);
        progress.question = Some(question);
        self.context.report(progress);
        let held = self.messages.wait_for_answer().await;
        self.report(Some(task), iteration, &self.folder);
        held
    }

    fn run_progress(&self, task: Option<&Task>, iteration: u32, folder: &Path) -> RunProgress {
        let mut progress = RunProgress::new(self.progress());
        progress.task = task.map(|task| task.id.to_string());
        progress.iteration = iteration;
        progress.spent = self.account.spent().spent;
        let cwd = task.and_then(|task| task.cwd.as_ref());
        progress.working_dir = Some(cwd.map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd)));
        progress
    }

    /// Waits for a verification. If the work is stopped, the result is unverified.
    pub(super) async fn verify_unless_stopped(
        &self,
        verifying: impl Future<Output = Result<Verification, ExecuteError>>,
    ) -> Verification {
        let control = self.context.control();
        tokio::select! {
            biased;
            () = control.cancelled() => Verification::unverified("the member was stopped"),
            verified = verifying => verified
                .unwrap_or_else(|error| Verification::unverified(error.to_string())),
        }
    }

    /// Charges and records the spending on a repeated verification.
    pub(super) async fn charge_checks(
        &mut self,
        budget: &VerificationBudget,
    ) -> Result<(), Failure> {
        let checks = budget.spending();
        if checks == Spending::default() {
            return Ok(());
        }
        self.account.charge(&checks);
        let interrupted = self.messages.is_cancelled();
        let checked = WorkEvent::Checked {
            checks,
            interrupted,
        };
        self.record(&checked).await
    }

    /// Returns whether the work was stopped before a turn was known to be a success.
    fn is_interrupted(&self, verification: &Verification) -> bool {
        !verification.is_success() && self.messages.is_cancelled()
    }

    /// Measures the progress of the agent, and checks whether it is stuck.
    async fn judge(
        &self,
        place: &mut TurnContext,
        result: &ExecutionReport,
    ) -> (ProgressSignal, f64, StuckReport) {
        if let ExecutionOutcome::QuotaExceeded { .. } = result.end {
            // A missing quota says nothing about the agent.
            return (ProgressSignal::default(), 0.0, StuckReport::default());
        }
        if let Some(tree) = self.snapshot(place.folder.clone()).await {
            place.tree = tree;
        }
        let passed = passed_in(place.folder.clone()).await;
        let ledger = (passed - place.passed).max(0.0);
        place.passed = passed;
        let signal = place
            .progress
            .detect(&result.output, place.tree.clone(), ledger);
        let score = self.order.weights.score(&signal);
        let new = self.order.weights.score(&place.novelty.reduce(&signal));
        let mut iteration = Iteration::new(&result.output, new);
        iteration.actions = result.calls.clone();
        iteration.error = result.error();
        iteration.denials = u32::try_from(result.denied.len()).unwrap_or(u32::MAX);
        iteration.time = result.duration;
        (signal, score, place.stuck.observe(iteration))
    }

    async fn snapshot(&self, folder: PathBuf) -> Option<TreeSnapshot> {
        let limits = self.task_loop.limits;
        let captured = tokio::task::spawn_blocking(move || TreeSnapshot::capture(&folder, &limits));
        match captured.await {
            Ok(Ok(tree)) => Some(tree),
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read the files; their changes are not counted");
                None
            }
            Err(error) => {
                tracing::error!(%error, "the snapshot of the project's files panicked");
                None
            }
        }
    }
}

impl TurnContext {
    /// Returns the conversation that a turn on `task` continues.
    fn conversation_for(&self, task: &Task) -> Option<AgentSessionId> {
        let executor = self.executors.for_task(task).ok()?;
        let model = task.model.as_deref().or(executor.default_model());
        let conversation = self.conversation.as_ref()?;
        conversation.id_for(executor.cli_name(), model).cloned()
    }
}

/// Returns the share of passed deliverables in the ledger of a folder, from 0 to 1.
async fn passed_in(folder: PathBuf) -> f64 {
    let counted = tokio::task::spawn_blocking(move || ledger_counts(&folder));
    match counted.await.ok().flatten() {
        Some(counts) if counts.total > 0 => counts.passed as f64 / counts.total as f64,
        _ => 0.0,
    }
}
