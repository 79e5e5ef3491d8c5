//! How a run under way is told what persons tell it.

use std::convert::Infallible;
use std::time::Duration;

use autonoe_core::{RunControl, RunInstruction, RunMessage};
use temporalio_client::WorkflowExecuteUpdateOptions;
use temporalio_sdk::activities::ActivityContext;

use super::JobWorkflow;
use crate::beat::Beats;
use crate::wire::Told;

/// How long to wait before asking again, if the server did not answer.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Tells a run what its workflow is told, in order, for as long as it is there.
///
/// An attempt that follows on another is told again what was not settled, and whether to pause.
pub(super) async fn tell(ctx: &ActivityContext, control: &RunControl, beats: &Beats) -> Infallible {
    let Some(workflow) = ctx.workflow_handle::<JobWorkflow>() else {
        return std::future::pending().await;
    };
    let settled = beats.latest().settled;
    let mut read = 0;
    loop {
        // An id of its own for each place, so that an attempt that asks again is answered the same.
        let options = WorkflowExecuteUpdateOptions::builder()
            .update_id(format!("told-{read}"))
            .build();
        let answer = workflow.execute_update(JobWorkflow::told, read, options);
        match answer.await {
            Ok(Told(told)) if told.is_empty() => return std::future::pending().await,
            Ok(Told(told)) => {
                for instruction in told {
                    pass_on(instruction, read, read < settled, control, beats);
                    read += 1;
                }
            }
            Err(error) => {
                tracing::debug!(%error, "what the run is told cannot be asked for");
                tokio::time::sleep(ASK_AGAIN).await;
            }
        }
    }
}

fn pass_on(
    instruction: RunInstruction,
    number: usize,
    is_settled: bool,
    control: &RunControl,
    beats: &Beats,
) {
    match instruction {
        RunInstruction::Say(_) if is_settled => {}
        RunInstruction::Say(text) => {
            let beats = beats.clone();
            let message = RunMessage::new(text)
                .with_id(number.to_string())
                .with_receipt(move || beats.settle(number));
            control.tell(message);
        }
        // Told to each attempt: none of them knows what was told to another.
        RunInstruction::Pause => {
            control.pause();
            beats.settle(number);
        }
        RunInstruction::Resume => {
            control.resume();
            beats.settle(number);
        }
    }
}
