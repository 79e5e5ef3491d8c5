//! Runs as sub-harnesses.

use async_trait::async_trait;
use autonoe_core::{
    Engine, EngineError, InvalidValue, Placement, RunId, RunInstruction, RunOutcome, RunPhase,
    RunSpec, RunView,
};

use super::harness_manager::{HarnessManager, engine_error};
use crate::folder::Ordered;
use crate::{FolderError, HarnessHandle, HarnessId, HarnessStatus, HarnessView};

fn id_of(run: &RunId) -> HarnessId {
    HarnessId::new(run.as_str())
}

#[async_trait]
impl Engine for HarnessManager {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let (id, run_id) = (id_of(&run.id), run.id.clone());
        let refused = |reason: String| EngineError::Refused {
            run: run_id.clone(),
            reason,
        };
        if let Some(host) = place.host {
            return Err(refused(format!(
                "sub-harnesses run here, and not on {host}"
            )));
        }
        InvalidValue::check_time("every(0)", self.shared.every)
            .map_err(|invalid| refused(invalid.to_string()))?;
        let folder = crate::HarnessFolder::of(&self.shared.root, &id);
        let folder = folder.map_err(|error| refused(error.to_string()))?;
        match folder.order_once(&run) {
            Ok(Ordered::New | Ordered::Again) => {}
            Ok(Ordered::Conflict) => return Err(EngineError::Conflict(run_id)),
            Err(error) => return Err(engine_error(&id, error.into())),
        }
        let outcome = folder.outcome();
        if outcome
            .map_err(|error| engine_error(&id, error.into()))?
            .is_none()
        {
            self.look_after(folder);
        }
        Ok(run_id)
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        let handle = self.handle(&id_of(run))?;
        let stopped = handle.stop(reason).await;
        stopped.map_err(|error| engine_error(handle.id(), error))?;
        // One that nobody serves has to be told by somebody that it has ended.
        self.look_after(handle.folder().clone());
        Ok(())
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        let handle = self.handle(&id_of(run))?;
        let told = match instruction {
            RunInstruction::Say(text) => handle.send_instruction(&text).await.map(|_| ()),
            RunInstruction::Pause => handle.pause().await,
            RunInstruction::Resume => handle.resume().await,
        };
        told.map_err(|error| engine_error(handle.id(), error))
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        let handle = self.handle(&id_of(run))?;
        let view = handle.refresh().await;
        let view = view.map_err(|error| engine_error(handle.id(), error))?;
        let phase = phase_of(&view);
        let mut told = RunView::new(run.clone());
        told.phase = phase;
        told.at = Some(view.at);
        told.outcome = view.outcome;
        Ok(told)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        let id = id_of(run);
        let folder = self.folder(&id)?;
        let failed = |error: FolderError| engine_error(&id, error.into());
        folder.order().map_err(failed)?;
        if let Some(outcome) = folder.outcome().map_err(failed)? {
            return Ok(outcome);
        }
        let mut done = self.look_after(folder);
        let ended = done.wait_for(Option::is_some).await;
        let reason = format!("nobody looks after the sub-harness {id}");
        match ended.ok().and_then(|done| done.clone()) {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(error)) => Err(EngineError::Failed {
                reason,
                source: Some(Box::new(error)),
            }),
            None => Err(EngineError::Failed {
                reason,
                source: None,
            }),
        }
    }
}

/// Says what a run does, by how its sub-harness stands.
fn phase_of(view: &HarnessView) -> RunPhase {
    match view.status {
        _ if view.outcome.is_some() => RunPhase::Ended,
        _ if view.stopping.is_some() => RunPhase::Stopping,
        HarnessStatus::Running => RunPhase::Running,
        HarnessStatus::Paused => RunPhase::Paused,
        // One that was lost has no outcome, and can be started again.
        _ => RunPhase::Waiting,
    }
}
