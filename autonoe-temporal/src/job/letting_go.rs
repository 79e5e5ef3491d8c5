//! Why an activity is to end.

use std::time::Duration;

use temporalio_client::{RetryOptions, RpcOptions, WorkflowDescribeOptions};
use temporalio_sdk::activities::ActivityContext;

use super::JobWorkflow;

/// How long the server has to say it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tells whether somebody cancelled the run of an activity that is to end.
///
/// An activity is also told to end when the server has not heard of it for too long, when it has
/// been given to another worker, and when its own worker is told to stop; the SDK does not say
/// which of these it is. What is cancelled is recorded as cancelled and is never begun again, so
/// whoever cannot be sure lets go instead.
pub(crate) async fn is_cancelled_by_somebody(ctx: &ActivityContext) -> bool {
    let Some(workflow) = ctx.workflow_handle::<JobWorkflow>() else {
        return false;
    };
    let rpc = RpcOptions::builder()
        .timeout(PATIENCE)
        .retry_options(RetryOptions::no_retries())
        .build();
    let options = WorkflowDescribeOptions::builder().rpc_options(rpc).build();
    match workflow.describe(options).await {
        Ok(description) => {
            let info = &description.raw().workflow_extended_info;
            info.as_ref().is_some_and(|info| info.cancel_requested)
        }
        Err(error) => {
            tracing::warn!(%error, "nobody says why the run is to end");
            false
        }
    }
}
