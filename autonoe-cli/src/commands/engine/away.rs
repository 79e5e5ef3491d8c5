//! An engine that is away for a while.

use std::sync::Mutex;

use async_trait::async_trait;
use autonoe_core::{
    Engine, EngineError, Placement, RunId, RunInstruction, RunOutcome, RunPhase, RunSpec, RunView,
};

/// Does not answer until it was waited for so many times; then its run has ended.
pub(super) struct Away {
    times: Mutex<u32>,
    tells_status: bool,
    is_gone: bool,
}

impl Away {
    pub(super) fn for_times(times: u32) -> Self {
        Self {
            times: Mutex::new(times),
            tells_status: false,
            is_gone: false,
        }
    }

    /// Tells how its run stands all the time.
    pub(super) fn but_tells_status(self) -> Self {
        Self {
            tells_status: true,
            ..self
        }
    }

    pub(super) fn for_ever() -> Self {
        Self::for_times(u32::MAX)
    }

    /// The one who would ask has died.
    pub(super) fn for_good() -> Self {
        Self {
            is_gone: true,
            ..Self::for_ever()
        }
    }

    fn is_there(&self) -> Result<(), EngineError> {
        match *self.times.lock().expect("not poisoned") {
            0 => Ok(()),
            _ if self.is_gone => Err(EngineError::Gone {
                reason: "the program has died".to_owned(),
                source: None,
            }),
            _ => Err(EngineError::Failed {
                reason: "the server is away".to_owned(),
                source: None,
            }),
        }
    }
}

#[async_trait]
impl Engine for Away {
    async fn submit(&self, run: RunSpec, _: Placement) -> Result<RunId, EngineError> {
        self.is_there().map(|()| run.id)
    }

    async fn cancel(&self, _: &RunId, _: &str) -> Result<(), EngineError> {
        self.is_there()
    }

    async fn instruct(&self, _: &RunId, _: RunInstruction) -> Result<(), EngineError> {
        self.is_there()
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        if !self.tells_status {
            self.is_there()?;
        }
        let mut view = RunView::new(run.clone());
        view.phase = RunPhase::Ended;
        view.outcome = Some(RunOutcome::cancelled("enough"));
        Ok(view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        if run.as_str() == "nobody" {
            return Err(EngineError::Unknown(run.clone()));
        }
        self.is_there()
            .inspect_err(|_| *self.times.lock().expect("not poisoned") -= 1)?;
        Ok(RunOutcome::cancelled("enough"))
    }
}
