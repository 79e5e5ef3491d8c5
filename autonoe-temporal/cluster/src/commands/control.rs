//! The commands `autonoe-cluster pause`, `resume`, `send` and `cancel`.

use autonoe_app::AppError;
use autonoe_core::RunId;
use autonoe_core::engine::{EngineError, RunInstruction, RunPhase};

use super::CommandContext;

impl CommandContext<'_> {
    /// Sends an instruction to a run.
    pub(super) async fn instruct(
        &self,
        run: &RunId,
        instruction: RunInstruction,
    ) -> Result<(), AppError> {
        let text = match &instruction {
            RunInstruction::Pause => {
                let resume = self.hint(&format!("resume {run}"));
                format!("The run {run} starts no further session; {resume} resumes it.\n")
            }
            RunInstruction::Resume => format!("The run {run} is resumed.\n"),
            RunInstruction::Message(text) if text.trim().is_empty() => {
                return Err(AppError::usage("the message is empty"));
            }
            RunInstruction::Message(_) => format!(
                "The agent of the run {run} gets the message in its next session, if it has one.\n"
            ),
        };
        let instructed = self.cluster.instruct(run, instruction).await;
        instructed.map_err(|error| self.control_error(error, run))?;
        self.print(&text)
    }

    /// Cancels a run.
    pub(super) async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), AppError> {
        // Cancelling an ended run is no error for an engine, but the operator expects an effect.
        if self.cluster.status(run).await?.phase == RunPhase::Ended {
            return Err(self.control_error(EngineError::Ended(run.clone()), run));
        }
        self.cluster.cancel(run, reason).await?;
        let status = self.hint(&format!("status {run}"));
        self.print(&format!(
            "The run {run} is being cancelled; {status} shows when it has ended.\n"
        ))
    }

    /// Adds a hint to the error for an ended run.
    fn control_error(&self, error: EngineError, run: &RunId) -> AppError {
        let has_ended = matches!(error, EngineError::Ended(_));
        let error = AppError::from(error);
        if has_ended {
            let status = self.hint(&format!("status {run}"));
            error.with_hint(format!("{status} shows its outcome"))
        } else {
            error
        }
    }
}
