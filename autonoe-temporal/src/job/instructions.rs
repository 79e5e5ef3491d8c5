//! Delivery of instructions to a job in progress.

use std::convert::Infallible;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::engine::RunInstruction;
use autonoe_core::run::RunMessage;
use temporalio_client::WorkflowExecuteUpdateOptions;
use temporalio_sdk::activities::ActivityContext;

use super::JobWorkflow;
use crate::heartbeat::HeartbeatState;
use crate::wire::Instructions;

/// Wait before the next request, if the server did not answer.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// Delivers the instructions of the workflow to a job, in order, until it is dropped.
///
/// A new attempt receives the unsettled instructions again, and the current pause state.
pub(super) async fn deliver_instructions(
    ctx: &ActivityContext,
    control: &RunControl,
    beats: &HeartbeatState,
) -> Infallible {
    let Some(workflow) = ctx.workflow_handle::<JobWorkflow>() else {
        return std::future::pending().await;
    };
    let settled = beats.latest().settled;
    let mut read = 0;
    loop {
        // Each position has its own update ID, so that a repeated request has the same answer.
        let options = WorkflowExecuteUpdateOptions::builder()
            .update_id(format!("told-{read}"))
            .build();
        let answer = workflow.execute_update(JobWorkflow::instructions, read, options);
        match answer.await {
            Ok(Instructions(told)) if told.is_empty() => return std::future::pending().await,
            Ok(Instructions(told)) => {
                for instruction in told {
                    deliver(instruction, read, read < settled, control, beats);
                    read += 1;
                }
            }
            Err(error) => {
                tracing::debug!(%error, "cannot query the instructions of the run");
                tokio::time::sleep(RETRY_WAIT).await;
            }
        }
    }
}

fn deliver(
    instruction: RunInstruction,
    number: usize,
    is_settled: bool,
    control: &RunControl,
    beats: &HeartbeatState,
) {
    match instruction {
        RunInstruction::Message(_) if is_settled => {}
        RunInstruction::Message(text) => {
            let beats = beats.clone();
            let message = RunMessage::new(text)
                .with_id(number.to_string())
                .with_receipt(move || beats.settle(number));
            control.send_message(message);
        }
        // Sent to each attempt, because an attempt does not know the instructions of the previous
        // one.
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
