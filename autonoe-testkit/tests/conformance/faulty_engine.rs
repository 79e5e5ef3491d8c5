//! Engine with an injected fault.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::engine::{
    Engine, EngineError, JobContext, JobRunner, LocalEngine, Placement, RunEnding, RunInstruction,
    RunOutcome, RunPhase, RunProgress, RunSpec, RunView,
};
use autonoe_core::{RunControl, RunId};
use serde_json::json;

/// The fault of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Nothing,
    StartsTwice,
    TakesAnotherRun,
    ForgetsOutcomes,
    TakesFailuresForSuccesses,
    LosesCost,
    ReportsCancelledRunsEarly,
    DoesNotCancel,
    CancelsAll,
    LosesCancelReason,
    CancelsEndedRuns,
    DeliversTwice,
    DeliversInReverse,
    TakesInstructionsAfterTheEnd,
    HidesPauses,
    HidesProgress,
    HidesOutcomes,
    KnowsEverybody,
    CancelsWithTheWaiter,
}

/// An engine that conforms except for its fault.
pub(super) struct FaultyEngine {
    fault: Fault,
    runner: Arc<dyn JobRunner>,
    inner: Arc<LocalEngine>,
    submitted: Mutex<Vec<RunId>>,
    cancelled: Mutex<Vec<RunId>>,
    held_back: Mutex<Option<RunInstruction>>,
    waits: AtomicUsize,
}

impl FaultyEngine {
    pub(super) fn around(fault: Fault, runner: Arc<dyn JobRunner>) -> Arc<dyn Engine> {
        Arc::new(Self {
            fault,
            inner: Arc::new(LocalEngine::new(runner.clone())),
            runner,
            submitted: Mutex::default(),
            cancelled: Mutex::default(),
            held_back: Mutex::default(),
            waits: AtomicUsize::new(0),
        })
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn was_cancelled(&self, run: &RunId) -> bool {
        self.cancelled.lock().expect("whole").contains(run)
    }
}

#[async_trait]
impl Engine for FaultyEngine {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let id = run.id.clone();
        let is_known = {
            let mut submitted = self.submitted.lock().expect("whole");
            submitted.push(id.clone());
            submitted.iter().filter(|known| **known == id).count() > 1
        };
        if is_known && self.is(Fault::StartsTwice) {
            let (runner, run) = (self.runner.clone(), run.clone());
            tokio::spawn(async move {
                let context = JobContext::new(RunControl::new(), |_| {});
                runner.run(&run, &context).await
            });
            tokio::task::yield_now().await;
        }
        match self.inner.submit(run, place).await {
            Err(EngineError::Conflict(_)) if self.is(Fault::TakesAnotherRun) => Ok(id),
            submitted => submitted,
        }
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        self.cancelled.lock().expect("whole").push(run.clone());
        match self.fault {
            Fault::DoesNotCancel => self.inner.status(run).await.map(|_| ()),
            Fault::CancelsAll => {
                let all = self.submitted.lock().expect("whole").clone();
                for run in all {
                    self.inner.cancel(&run, reason).await?;
                }
                self.inner.cancel(run, reason).await
            }
            Fault::LosesCancelReason => self.inner.cancel(run, "").await,
            Fault::KnowsEverybody => {
                let _ = self.inner.cancel(run, reason).await;
                Ok(())
            }
            _ => self.inner.cancel(run, reason).await,
        }
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        match self.fault {
            Fault::DeliversTwice => {
                self.inner.instruct(run, instruction.clone()).await?;
            }
            Fault::DeliversInReverse => {
                let before = self.held_back.lock().expect("whole").take();
                let Some(before) = before else {
                    self.inner.status(run).await?;
                    if self.inner.status(run).await?.outcome.is_some() {
                        return Err(EngineError::Ended(run.clone()));
                    }
                    *self.held_back.lock().expect("whole") = Some(instruction);
                    return Ok(());
                };
                self.inner.instruct(run, instruction).await?;
                return self.inner.instruct(run, before).await;
            }
            Fault::TakesInstructionsAfterTheEnd => {
                return match self.inner.instruct(run, instruction).await {
                    Err(EngineError::Ended(_)) => Ok(()),
                    result => result,
                };
            }
            _ => {}
        }
        self.inner.instruct(run, instruction).await
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        let mut view = match self.inner.status(run).await {
            Err(_) if self.is(Fault::KnowsEverybody) => RunView::new(run.clone()),
            view => view?,
        };
        match self.fault {
            Fault::HidesPauses if view.phase == RunPhase::Paused => view.phase = RunPhase::Running,
            Fault::HidesProgress => view.progress = Some(RunProgress::default()),
            Fault::HidesOutcomes => view.outcome = None,
            Fault::CancelsEndedRuns if self.was_cancelled(run) => {
                view.outcome = Some(RunOutcome::cancelled("too late"));
            }
            _ => {}
        }
        Ok(view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        if self.is(Fault::ReportsCancelledRunsEarly) && self.was_cancelled(run) {
            let view = self.inner.status(run).await?;
            let early = RunOutcome::cancelled("enough of it");
            return Ok(view.outcome.unwrap_or(early));
        }
        let leaving = self.is(Fault::CancelsWithTheWaiter).then(|| CancelOnDrop {
            engine: self.inner.clone(),
            run: run.clone(),
        });
        let mut outcome = self.inner.wait(run).await?;
        if let Some(leaving) = leaving {
            std::mem::forget(leaving);
        }
        match self.fault {
            Fault::ForgetsOutcomes if self.waits.fetch_add(1, Ordering::Relaxed) > 0 => {
                outcome = RunOutcome::succeeded(json!(null));
            }
            Fault::TakesFailuresForSuccesses => outcome.ending = RunEnding::Succeeded,
            Fault::LosesCost => outcome.spent = Default::default(),
            Fault::CancelsEndedRuns if self.was_cancelled(run) => {
                outcome.ending = RunEnding::Cancelled {
                    reason: "too late".to_owned(),
                };
            }
            _ => {}
        }
        Ok(outcome)
    }
}

/// Cancels a run when its last waiter is dropped.
struct CancelOnDrop {
    engine: Arc<LocalEngine>,
    run: RunId,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (engine, run) = (self.engine.clone(), self.run.clone());
        tokio::spawn(async move { engine.cancel(&run, "nobody waits").await });
    }
}
