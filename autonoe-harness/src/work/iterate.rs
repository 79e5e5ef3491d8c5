//! One turn of an agent, and what it came to.

use std::path::PathBuf;
use std::time::Duration;

use autonoe_core::{AgentSessionId, Failure, RunControl, RunProgress};

use super::account::spending;
use super::conversation::Conversation;
use super::messages::Held;
use super::task_loop::Work;
use super::{ToldMessage, WorkEvent};
use crate::progress::ledger_counts;
use crate::{
    BudgetedKind, ExecuteError, Execution, ExecutionEnd, ExecutionResult, Executors, Iteration,
    Novelty, ProgressDetector, ProgressSignal, Spending, StuckDetector, StuckLevel, StuckReport,
    Task, TreeSnapshot, Verification, VerificationTab,
};

/// Where an agent has its turns, and what is known of them.
pub(super) struct Place {
    pub(super) executors: Executors,
    pub(super) folder: PathBuf,
    /// The branch, if it is one of several ways.
    pub(super) branch: Option<String>,
    /// What the next turn continues.
    pub(super) conversation: Option<Conversation>,
    pub(super) stuck: StuckDetector,
    progress: ProgressDetector,
    novelty: Novelty,
    tree: TreeSnapshot,
    /// How much of what its ledger asks for has passed.
    passed: f64,
}

/// One turn of an agent.
pub(super) struct Turn {
    pub(super) result: ExecutionResult,
    pub(super) verification: Verification,
    pub(super) report: StuckReport,
}

/// Why there was no turn.
pub(super) enum NoTurn {
    /// Nothing is left of that.
    Spent(BudgetedKind),
    /// The task had all of its time.
    TimeIsOver,
    /// The executor did not begin.
    NotBegun(ExecuteError),
    /// Nobody could take note of it.
    NotRecorded(Failure),
}

impl Work<'_> {
    pub(super) async fn place(&self, folder: PathBuf, branch: Option<String>) -> Place {
        let tree = self.snapshot(folder.clone()).await.unwrap_or_default();
        let passed = passed_in(folder.clone()).await;
        Place {
            executors: (self.lines.workshop)(&folder),
            folder,
            branch,
            conversation: None,
            stuck: StuckDetector::new(self.order.thresholds),
            progress: ProgressDetector::new(tree.clone()).with_limits(self.lines.limits),
            novelty: Novelty::default(),
            tree,
            passed,
        }
    }

    /// Gives an agent a turn at `task`. `problem` is why the last one was no success.
    pub(super) async fn iterate(
        &mut self,
        place: &mut Place,
        task: &Task,
        iteration: u32,
        problem: Option<&str>,
    ) -> Result<Turn, NoTurn> {
        let Some(left) = self.time_left(task) else {
            return Err(NoTurn::TimeIsOver);
        };
        let mut limited = task.clone().timeout(left);
        // Part of the task: a continued conversation has it already.
        if let Some(input) = &self.order.input {
            let before = format!("Result of the previous stage:\n{input}");
            let context = limited.context.into_iter().chain([before]);
            limited.context = Some(context.collect::<Vec<_>>().join("\n\n"));
        }
        let free = self.account.free();
        let budget = self.account.begin().map_err(NoTurn::Spent)?;
        let began = self.lines.clock.now();
        let begins = WorkEvent::IterationBegan {
            task: task.id.clone(),
            iteration,
            branch: place.branch.clone(),
            at: began,
        };
        if let Err(failure) = self.note(&begins).await {
            self.account.end(None);
            return Err(NoTurn::NotRecorded(failure));
        }
        // Who looks while the agent works sees in which turn it is.
        self.report(Some(task), iteration);
        let child = RunControl::new();
        let mut execution = Execution::new(&child).budget(budget);
        let last = |problem| format!("The last attempt failed: {problem}");
        execution.context = problem.map(last);
        execution.resume = place.conversation_for(&limited);
        execution.conversations = self.lines.conversations.clone();
        let executing = place.executors.run(&limited, &execution);
        let (result, given) = self.messages.accompany(&child, executing).await;
        let told = self.messages.sort(given);
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                self.account.end(None);
                let event = WorkEvent::NotBegun {
                    task: task.id.clone(),
                    iteration,
                    branch: place.branch.clone(),
                    reason: error.to_string(),
                };
                self.note(&event).await.map_err(NoTurn::NotRecorded)?;
                return Err(NoTurn::NotBegun(error));
            }
        };
        let (model, id) = (result.model.as_deref(), result.conversation.as_ref());
        let of_turn = Conversation::of_turn(&result.cli, model, id);
        let before = place.conversation.take();
        place.conversation = Conversation::after_turn(before, &result.end, of_turn);
        let mut spent = spending(&result);
        let tab = VerificationTab::new(free.minus(&spent));
        let looking = place.executors.verify_on_tab(task, &result, &tab);
        let verification = self.unless_stopped(looking).await;
        let checks = tab.spending();
        spent.merge(&checks);
        self.account.end(Some(&spent));
        match verification.is_success() {
            true => self.checks.add(&task.id, &verification),
            // That there is no quota is nobody's failure.
            false if matches!(result.end, ExecutionEnd::QuotaExceeded { .. }) => {}
            false => self.failures = self.failures.saturating_add(1),
        }
        let (signal, score, report) = self.judge(place, &result).await;
        let at = self.lines.clock.now();
        let took = Duration::try_from(at.duration_since(began)).unwrap_or_default();
        self.worked = self.worked.saturating_add(took);
        let event = WorkEvent::Iterated {
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
            told: told.iter().map(ToldMessage::from).collect(),
            cost: result.cost,
            tokens: result.tokens,
            duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
            signal,
            output: match verification.is_success() {
                true => String::new(),
                false => result.output.clone(),
            },
            checks,
            interrupted: self.is_interrupted(&verification),
            result: verification.is_success().then(|| Box::new(result.clone())),
        };
        self.note(&event).await.map_err(NoTurn::NotRecorded)?;
        self.messages.settle(told);
        self.iteration = iteration;
        self.report(Some(task), iteration);
        Ok(Turn {
            result,
            verification,
            report,
        })
    }

    /// Returns how much is left of the time of the task under way: that of all its iterations, those
    /// on branches and their checks among them. What it waits and is held is not counted.
    pub(super) fn time_left(&self, task: &Task) -> Option<Duration> {
        let left = task.time().saturating_sub(self.worked);
        (!left.is_zero()).then_some(left)
    }

    /// Says how far the work is.
    pub(super) fn report(&self, task: Option<&Task>, iteration: u32) {
        self.desk.report(self.run_progress(task, iteration));
    }

    /// Asks a person something, and waits for an answer or for a resume.
    pub(super) async fn ask(&mut self, task: &Task, iteration: u32, question: String) -> Held {
        let mut progress = self.run_progress(Some(task), iteration);
        progress.question = Some(question);
        self.desk.report(progress);
        let held = self.messages.ask().await;
        self.report(Some(task), iteration);
        held
    }

    fn run_progress(&self, task: Option<&Task>, iteration: u32) -> RunProgress {
        let mut progress = RunProgress::of(self.progress());
        progress.task = task.map(|task| task.id.to_string());
        progress.iteration = iteration;
        progress.spent = self.account.spent();
        progress.working_dir = Some(self.folder.clone());
        progress
    }

    /// Looks whether something holds. Who was stopped does not know.
    pub(super) async fn unless_stopped(
        &self,
        looking: impl Future<Output = Result<Verification, ExecuteError>>,
    ) -> Verification {
        let control = self.desk.control();
        tokio::select! {
            biased;
            () = control.cancelled() => Verification::unverified("the work was stopped"),
            looked = looking => looked
                .unwrap_or_else(|error| Verification::unverified(error.to_string())),
        }
    }

    /// Takes note of what it took to verify again what was verified.
    pub(super) async fn pay_checks(&mut self, tab: &VerificationTab) -> Result<(), Failure> {
        let checks = tab.spending();
        if checks == Spending::default() {
            return Ok(());
        }
        self.account.charge(&checks);
        let interrupted = self.messages.is_cancelled();
        let checked = WorkEvent::Checked {
            checks,
            interrupted,
        };
        self.note(&checked).await
    }

    /// Tells whether the work was stopped before it was known that a turn was a success.
    fn is_interrupted(&self, verification: &Verification) -> bool {
        !verification.is_success() && self.messages.is_cancelled()
    }

    /// Tells how far the agent came on, and whether it is stuck.
    async fn judge(
        &self,
        place: &mut Place,
        result: &ExecutionResult,
    ) -> (ProgressSignal, f64, StuckReport) {
        if let ExecutionEnd::QuotaExceeded { .. } = result.end {
            // That there is no quota says nothing about the agent.
            let report = StuckReport {
                level: StuckLevel::Fine,
                reasons: Vec::new(),
            };
            return (ProgressSignal::default(), 0.0, report);
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
        let limits = self.lines.limits;
        let taken = tokio::task::spawn_blocking(move || TreeSnapshot::take(&folder, &limits));
        match taken.await {
            Ok(Ok(tree)) => Some(tree),
            Ok(Err(error)) => {
                tracing::warn!(%error, "changes of files do not count as progress");
                None
            }
            Err(error) => {
                tracing::error!(%error, "the look at the folder broke");
                None
            }
        }
    }
}

impl Place {
    /// Returns the conversation that a turn at `task` continues.
    fn conversation_for(&self, task: &Task) -> Option<AgentSessionId> {
        let executor = self.executors.for_task(task).ok()?;
        let model = task.model.as_deref().or(executor.default_model());
        let conversation = self.conversation.as_ref()?;
        conversation.id_for(executor.cli_name(), model).cloned()
    }
}

/// Returns how much of what the ledger in a folder asks for has passed, from 0 to 1.
async fn passed_in(folder: PathBuf) -> f64 {
    let counted = tokio::task::spawn_blocking(move || ledger_counts(&folder));
    match counted.await.ok().flatten() {
        Some(counts) if counts.total > 0 => counts.passed as f64 / counts.total as f64,
        _ => 0.0,
    }
}
