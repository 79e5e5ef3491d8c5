//! Members of a fleet, as child workflows.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use autonoe_core::RunId;
use autonoe_core::engine::{EngineError, Placement, RunOutcome, RunSpec};
use autonoe_harness::coordinate::STRATEGY_JOB;
use autonoe_harness::strategy::MemberId;
use temporalio_sdk::{
    ChildWorkflowExecutionError, ChildWorkflowOptions, ChildWorkflowStartError, ParentClosePolicy,
    WorkflowCancellationToken, WorkflowContext, WorkflowIdReusePolicy,
};

use super::FleetWorkflow;
use crate::Timeouts;
use crate::failure::unknown_spending;
use crate::payload::too_large;
use crate::run_workflow::RunWorkflow;
use crate::wire::host_queue;

type Outcome = Result<RunOutcome, EngineError>;
type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// An event of a member.
pub(super) enum MemberEvent {
    /// It has started.
    Started(MemberId),
    /// It could not be started.
    NotStarted(MemberId, EngineError),
    /// It has ended, or its fate is unknown.
    Ended(MemberId, Box<Outcome>),
}

/// The next event of a member, and what follows it.
struct NextEvent(Local<(MemberEvent, Option<NextEvent>)>);

/// The members that are starting or running.
#[derive(Default)]
pub(super) struct Members {
    /// In start order, which is the same in each replay.
    next: Vec<NextEvent>,
    tokens: BTreeMap<MemberId, WorkflowCancellationToken>,
}

impl Members {
    /// Starts a member. [`MemberEvent::Started`] reports its start later.
    pub(super) fn start(
        &mut self,
        ctx: &WorkflowContext<FleetWorkflow>,
        member: MemberId,
        run: RunSpec,
        place: &Placement,
        timeouts: Timeouts,
    ) {
        // A separate token, because cancelling the fleet stops its members one by one.
        let token = WorkflowCancellationToken::new();
        let starting = start(ctx.clone(), run, place.clone(), timeouts, token.clone());
        self.tokens.insert(member.clone(), token);
        self.next.push(NextEvent(Box::pin(async move {
            let working = match starting.await {
                Ok(working) => working,
                Err(error) => return (MemberEvent::NotStarted(member, error), None),
            };
            let started = MemberEvent::Started(member.clone());
            let ended = async move { (MemberEvent::Ended(member, Box::new(working.await)), None) };
            (started, Some(NextEvent(Box::pin(ended))))
        })));
    }

    /// Cancels a member.
    pub(super) fn stop(&self, member: &MemberId, reason: &str) {
        if let Some(token) = self.tokens.get(member) {
            token.cancel_with_reason(reason);
        }
    }

    /// Waits for events and returns all available ones. Without members it waits forever.
    pub(super) async fn next_events(&mut self) -> Vec<MemberEvent> {
        poll_fn(|context| {
            let events = self.poll(context);
            if events.is_empty() {
                Poll::Pending
            } else {
                Poll::Ready(events)
            }
        })
        .await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Vec<MemberEvent> {
        let mut events = Vec::new();
        self.next.retain_mut(|next| {
            while let Poll::Ready((event, following)) = next.0.as_mut().poll(context) {
                events.push(event);
                match following {
                    Some(following) => *next = following,
                    None => return false,
                }
            }
            true
        });
        events
    }
}

/// Starts the workflow of a member, and returns a future of its outcome.
async fn start(
    ctx: WorkflowContext<FleetWorkflow>,
    run: RunSpec,
    place: Placement,
    timeouts: Timeouts,
    token: WorkflowCancellationToken,
) -> Result<Local<Outcome>, EngineError> {
    let id = run.id.clone();
    if let Some(reason) = too_large("the run of the member", &run) {
        return Err(EngineError::Refused { run: id, reason });
    }
    if run.job == STRATEGY_JOB {
        let reason = "a fleet cannot be a member of a fleet".to_owned();
        return Err(EngineError::Refused { run: id, reason });
    }
    let host = place.host.as_deref();
    let host_queue = host.map(|host| host_queue(ctx.info().task_queue(), host));
    let options = ChildWorkflowOptions::builder()
        .workflow_id(id.to_string())
        .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
        .cancellation_token(token)
        .parent_close_policy(ParentClosePolicy::RequestCancel)
        .build();
    let (workflow, input) = RunWorkflow::from_spec(run, host_queue, timeouts)?;
    let started = ctx.start_child_workflow(workflow, input, options).await;
    let ended = started.map_err(|error| not_started(&id, &error))?.result();
    Ok(Box::pin(async move {
        ended.await.or_else(|error| without_outcome(&error))
    }))
}

fn not_started(run: &RunId, error: &ChildWorkflowStartError) -> EngineError {
    let run = run.clone();
    match error {
        ChildWorkflowStartError::StartFailed { .. } => EngineError::Conflict(run),
        error => EngineError::Refused {
            run,
            reason: error.to_string(),
        },
    }
}

/// Returns the outcome of a member whose workflow returned none.
fn without_outcome(error: &ChildWorkflowExecutionError) -> Outcome {
    if error.as_cancelled().is_some() {
        return Ok(RunOutcome::cancelled("").with_spent(unknown_spending()));
    }
    Err(EngineError::Failed {
        reason: format!("its workflow failed: {error}"),
        source: None,
    })
}
