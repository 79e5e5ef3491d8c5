//! [`LocalRun`], one run in this process.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use tokio::sync::watch;

use super::run_state::RunState;
use crate::engine::{
    EngineError, JobContext, JobRunner, RunInstruction, RunOutcome, RunSpec, RunView,
};
use crate::event::Failure;
use crate::run::RunControl;

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
            Err(_panic) => self.break_off("panicked", "the job runner panicked"),
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

    fn break_off(&self, code: &str, message: &str) {
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
            self.run.break_off(
                "broken_off",
                "the task of the run was dropped before the run ended",
            );
        }
    }
}
