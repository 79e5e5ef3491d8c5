//! [`LocalRun`], one run in this process, and the transitions of its [`RunState`].

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use tokio::sync::watch;

use crate::agent::CostTotal;
use crate::engine::{
    EngineError, JobContext, JobRunner, RunEnding, RunInstruction, RunOutcome, RunPhase,
    RunProgress, RunSpec, RunView,
};
use crate::event::Failure;
use crate::run::RunControl;
use crate::time::RunId;

/// One run: its specification, its state and its control.
pub(super) struct LocalRun {
    pub(super) spec: RunSpec,
    control: RunControl,
    state: Mutex<RunState>,
    outcome: watch::Sender<Option<RunOutcome>>,
}

impl LocalRun {
    pub(super) fn new(spec: RunSpec) -> Self {
        Self {
            spec,
            control: RunControl::new(),
            state: Mutex::default(),
            outcome: watch::Sender::new(None),
        }
    }

    /// Executes the run. It gets an end in every case, even if its task is dropped.
    pub(super) fn run_to_end(
        self: Arc<Self>,
        runner: Arc<dyn JobRunner>,
    ) -> impl Future<Output = ()> + Send {
        // Created here, because a task may be dropped before its first poll.
        let ending = Ending { run: self };
        async move { ending.run.execute(&*runner).await }
    }

    async fn execute(self: &Arc<Self>, runner: &dyn JobRunner) {
        let started = self.state().start();
        if let Err(reason) = started {
            self.end(RunOutcome::cancelled(reason));
            return;
        }
        let run = Arc::downgrade(self);
        let context = JobContext::new(self.control.clone(), move |at| {
            if let Some(run) = run.upgrade() {
                run.state().set_progress(at);
            }
        });
        let work = async { runner.run(&self.spec, &context).await };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(outcome) => self.end(outcome),
            Err(_panic) => self.abort("panicked", "the job runner panicked"),
        }
    }

    /// Cancels the run, unless it has ended.
    pub(super) fn cancel(&self, reason: &str) {
        let mut state = self.state();
        if state.outcome().is_none() {
            state.cancel(reason);
            self.control.cancel();
        }
    }

    /// Sends the run an instruction. The lock keeps the order of concurrent callers, and an ended
    /// run receives nothing.
    pub(super) fn instruct(&self, instruction: RunInstruction) -> Result<(), EngineError> {
        let mut state = self.state();
        let run = || self.spec.id.clone();
        if state.outcome().is_some() {
            return Err(EngineError::Ended(run()));
        }
        if state.is_cancelled() {
            let reason = "it was cancelled".to_owned();
            return Err(EngineError::Refused { run: run(), reason });
        }
        match instruction {
            RunInstruction::Message(text) => self.control.instruct(text),
            RunInstruction::Pause => {
                state.set_paused(true);
                self.control.pause();
            }
            RunInstruction::Resume => {
                state.set_paused(false);
                self.control.resume();
            }
        }
        Ok(())
    }

    pub(super) fn view(&self) -> RunView {
        self.state().view(&self.spec.id)
    }

    /// Waits for the end. Returns `None` if the sender is gone, which does not happen.
    pub(super) async fn wait(&self) -> Option<RunOutcome> {
        let mut outcome = self.outcome.subscribe();
        let ended = outcome.wait_for(Option::is_some).await.ok()?;
        ended.clone()
    }

    fn end(&self, outcome: RunOutcome) {
        let outcome = self.state().end(outcome);
        self.outcome.send_replace(Some(outcome));
    }

    fn abort(&self, code: &str, message: &str) {
        tracing::error!(run = %self.spec.id, code, "a run was aborted");
        let failure = Failure::permanent(code, message);
        let outcome = self.state().abort(failure);
        self.outcome.send_replace(Some(outcome));
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a run whose task is dropped before its end, for example with its runtime.
struct Ending {
    run: Arc<LocalRun>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let has_ended = self.run.state().outcome().is_some();
        if !has_ended {
            self.run.abort(
                "broken_off",
                "the task of the run was dropped before the run ended",
            );
        }
    }
}

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    has_started: bool,
    is_paused: bool,
    /// The reason of the first cancellation.
    cancelled: Option<String>,
    at: RunProgress,
    outcome: Option<RunOutcome>,
}

impl RunState {
    /// Marks the run as started. Returns the reason if it was cancelled before.
    pub(super) fn start(&mut self) -> Result<(), String> {
        match &self.cancelled {
            Some(reason) => Err(reason.clone()),
            None => {
                self.has_started = true;
                Ok(())
            }
        }
    }

    pub(super) fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Marks the run as cancelled, unless it was cancelled before.
    pub(super) fn cancel(&mut self, reason: &str) {
        self.cancelled.get_or_insert_with(|| reason.to_owned());
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some()
    }

    /// Records the progress. Reports after the end are ignored.
    pub(super) fn set_progress(&mut self, at: RunProgress) {
        if self.outcome.is_none() {
            self.at = at;
        }
    }

    pub(super) fn outcome(&self) -> Option<&RunOutcome> {
        self.outcome.as_ref()
    }

    /// Records the outcome and returns the final one: the first outcome wins.
    pub(super) fn end(&mut self, outcome: RunOutcome) -> RunOutcome {
        let outcome = match (outcome.ending, &self.cancelled) {
            // The runner sees the cancellation, but not its reason.
            (RunEnding::Cancelled { .. }, Some(reason)) => RunOutcome {
                ending: RunEnding::Cancelled {
                    reason: reason.clone(),
                },
                ..outcome
            },
            (ending, _) => RunOutcome { ending, ..outcome },
        };
        self.outcome.get_or_insert(outcome).clone()
    }

    /// Records that the runner ended without an outcome. The usage since its last report is
    /// unknown.
    pub(super) fn abort(&mut self, failure: Failure) -> RunOutcome {
        let mut spent = self.at.spent;
        spent.cost.merge(CostTotal::unknown());
        self.end(RunOutcome::failed(failure).with_spent(spent))
    }

    pub(super) fn view(&self, id: &RunId) -> RunView {
        let phase = match self {
            Self {
                outcome: Some(_), ..
            } => RunPhase::Ended,
            Self {
                cancelled: Some(_), ..
            } => RunPhase::Stopping,
            Self {
                has_started: false, ..
            } => RunPhase::Waiting,
            Self {
                is_paused: true, ..
            } => RunPhase::Paused,
            _ => RunPhase::Running,
        };
        RunView {
            phase,
            progress: Some(self.at.clone()),
            outcome: self.outcome.clone(),
            ..RunView::new(id.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn phase(state: &RunState) -> RunPhase {
        state.view(&RunId::new("run")).phase
    }

    #[test]
    fn a_run_reports_its_phases() {
        let mut state = RunState::default();
        assert_eq!(phase(&state), RunPhase::Waiting);

        assert_eq!(state.start(), Ok(()));
        assert_eq!(phase(&state), RunPhase::Running);
        state.set_paused(true);
        assert_eq!(phase(&state), RunPhase::Paused);
        state.cancel("enough");
        assert_eq!(phase(&state), RunPhase::Stopping);
        state.end(RunOutcome::cancelled(""));

        assert_eq!(phase(&state), RunPhase::Ended);
    }

    #[test]
    fn a_run_that_was_cancelled_does_not_begin() {
        let mut state = RunState::default();
        state.cancel("first");
        state.cancel("second");

        assert_eq!(state.start(), Err("first".to_owned()));
    }

    #[test]
    fn a_cancelled_run_ends_with_the_reason_of_its_cancellation() {
        let mut state = RunState::default();
        state.cancel("another was first");

        let outcome = state.end(RunOutcome::cancelled("").with_output(json!("half")));

        let expected = RunOutcome::cancelled("another was first").with_output(json!("half"));
        assert_eq!(outcome, expected);
    }

    #[test]
    fn the_first_outcome_wins() {
        let mut state = RunState::default();
        let done = RunOutcome::succeeded(json!("done"));
        state.end(done.clone());

        state.set_progress(RunProgress::new(0.5));
        let late = state.abort(Failure::permanent("late", "too late"));

        assert_eq!(late, done);
        assert_eq!(state.at, RunProgress::default());
    }

    #[test]
    fn the_cost_of_an_interrupted_run_is_unknown() {
        let mut state = RunState::default();
        let mut at = RunProgress::new(0.5);
        at.spent.tokens.input = 7;
        state.set_progress(at);

        let outcome = state.abort(Failure::permanent("panicked", "it panicked"));

        assert_eq!(outcome.spent.tokens.input, 7);
        assert_eq!(outcome.spent.cost, CostTotal::unknown());
    }
}
