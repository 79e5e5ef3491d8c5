//! One run in this process.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use tokio::sync::watch;

use super::standing::Standing;
use crate::domain::Failure;
use crate::engine::{
    EngineError, JobRunner, RunDesk, RunInstruction, RunOutcome, RunSpec, RunView,
};
use crate::run::RunControl;

/// One run: what it is to do, how it stands, and how it is reached.
pub(super) struct LocalRun {
    pub(super) spec: RunSpec,
    control: RunControl,
    standing: Mutex<Standing>,
    outcome: watch::Sender<Option<RunOutcome>>,
}

impl LocalRun {
    pub(super) fn new(spec: RunSpec) -> Self {
        Self {
            spec,
            control: RunControl::new(),
            standing: Mutex::default(),
            outcome: watch::Sender::new(None),
        }
    }

    /// Has the run carried out to its end, whatever happens to who does it.
    pub(super) fn carry_out(
        self: Arc<Self>,
        runner: Arc<dyn JobRunner>,
    ) -> impl Future<Output = ()> + Send {
        // Made here: a task may be dropped before it was ever looked at.
        let ending = Ending { run: self };
        async move { ending.run.carry_out_once(&*runner).await }
    }

    async fn carry_out_once(self: &Arc<Self>, runner: &dyn JobRunner) {
        let begun = self.standing().begin();
        if let Err(reason) = begun {
            self.end(RunOutcome::cancelled(reason));
            return;
        }
        let run = Arc::downgrade(self);
        let desk = RunDesk::new(self.control.clone(), move |at| {
            if let Some(run) = run.upgrade() {
                run.standing().reached(at);
            }
        });
        let work = async { runner.run(&self.spec, &desk).await };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(outcome) => self.end(outcome),
            Err(_panic) => self.break_off("panicked", "what carried out the run panicked"),
        }
    }

    /// Ends the run, if it has not ended.
    pub(super) fn cancel(&self, reason: &str) {
        let mut standing = self.standing();
        if standing.outcome().is_none() {
            standing.cancel(reason);
            self.control.cancel();
        }
    }

    /// Tells the run something. Under the lock, so that two callers cannot get into each other's
    /// order, and none is told a run that has ended.
    pub(super) fn instruct(&self, instruction: RunInstruction) -> Result<(), EngineError> {
        let mut standing = self.standing();
        let run = || self.spec.id.clone();
        if standing.outcome().is_some() {
            return Err(EngineError::Ended(run()));
        }
        if standing.is_cancelled() {
            let reason = "it was told to end".to_owned();
            return Err(EngineError::Refused { run: run(), reason });
        }
        match instruction {
            RunInstruction::Say(text) => self.control.instruct(text),
            RunInstruction::Pause => {
                standing.set_paused(true);
                self.control.pause();
            }
            RunInstruction::Resume => {
                standing.set_paused(false);
                self.control.resume();
            }
        }
        Ok(())
    }

    pub(super) fn view(&self) -> RunView {
        self.standing().view(&self.spec.id)
    }

    /// Waits for the end. Returns `None` if nobody is left to tell it, which does not happen.
    pub(super) async fn wait(&self) -> Option<RunOutcome> {
        let mut outcome = self.outcome.subscribe();
        let ended = outcome.wait_for(Option::is_some).await.ok()?;
        ended.clone()
    }

    fn end(&self, outcome: RunOutcome) {
        let outcome = self.standing().end(outcome);
        self.outcome.send_replace(Some(outcome));
    }

    fn break_off(&self, code: &str, message: &str) {
        tracing::error!(run = %self.spec.id, code, "a run did not finish");
        let failure = Failure::permanent(code, message);
        let outcome = self.standing().break_off(failure);
        self.outcome.send_replace(Some(outcome));
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a run an end also when its task is dropped in the middle, with its runtime for example.
struct Ending {
    run: Arc<LocalRun>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let has_ended = self.run.standing().outcome().is_some();
        if !has_ended {
            self.run
                .break_off("broken_off", "what carried out the run was dropped");
        }
    }
}
