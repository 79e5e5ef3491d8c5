//! The members of a fleet: workflows below it.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use autonoe_core::{CostTotal, EngineError, Placement, RunId, RunOutcome, RunSpec, Spent};
use autonoe_harness::{HarnessId, STRATEGY_JOB};
use temporalio_sdk::{
    ChildWorkflowExecutionError, ChildWorkflowOptions, ChildWorkflowStartError, ParentClosePolicy,
    WorkflowCancellationToken, WorkflowContext, WorkflowIdReusePolicy,
};

use super::FleetWorkflow;
use crate::Pace;
use crate::beginning::Beginning;
use crate::job::JobWorkflow;
use crate::payload::too_large;
use crate::sessions::SessionsWorkflow;
use crate::wire::host_queue;

type Outcome = Result<RunOutcome, EngineError>;
type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// What is heard of a member.
pub(super) enum Heard {
    /// It works.
    Began(HarnessId),
    /// It could not be started.
    NotStarted(HarnessId, EngineError),
    /// It has ended, or nobody knows what became of it.
    Ended(HarnessId, Outcome),
}

/// Where a member is.
enum Place {
    Starting(Local<Result<Local<Outcome>, EngineError>>),
    AtWork(Local<Outcome>),
}

/// The members that are at work or about to be.
#[derive(Default)]
pub(super) struct Members {
    /// In the order in which they were started, which is the same in each replay.
    places: Vec<(HarnessId, Place)>,
    tokens: BTreeMap<HarnessId, WorkflowCancellationToken>,
}

impl Members {
    /// Starts a member. That it works is heard later.
    pub(super) fn start(
        &mut self,
        ctx: &WorkflowContext<FleetWorkflow>,
        member: HarnessId,
        run: RunSpec,
        place: &Placement,
        pace: Pace,
    ) {
        // One of its own: what cancels the fleet stops its members by and by.
        let token = WorkflowCancellationToken::new();
        let starting = start(ctx.clone(), run, place.clone(), pace, token.clone());
        self.tokens.insert(member.clone(), token);
        self.places
            .push((member, Place::Starting(Box::pin(starting))));
    }

    /// Has a member end.
    pub(super) fn stop(&self, member: &HarnessId, why: &str) {
        if let Some(token) = self.tokens.get(member) {
            token.cancel_with_reason(why);
        }
    }

    /// Waits for news, and returns all that are there. With nobody at work it waits for ever.
    pub(super) async fn news(&mut self) -> Vec<Heard> {
        poll_fn(|context| {
            let heard = self.poll(context);
            match heard.is_empty() {
                true => Poll::Pending,
                false => Poll::Ready(heard),
            }
        })
        .await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Vec<Heard> {
        let mut heard = Vec::new();
        self.places.retain_mut(|(member, place)| {
            if let Place::Starting(starting) = place {
                match starting.as_mut().poll(context) {
                    Poll::Pending => return true,
                    Poll::Ready(Err(error)) => {
                        heard.push(Heard::NotStarted(member.clone(), error));
                        return false;
                    }
                    Poll::Ready(Ok(working)) => {
                        heard.push(Heard::Began(member.clone()));
                        *place = Place::AtWork(working);
                    }
                }
            }
            let Place::AtWork(working) = place else {
                return true;
            };
            let Poll::Ready(outcome) = working.as_mut().poll(context) else {
                return true;
            };
            heard.push(Heard::Ended(member.clone(), outcome));
            false
        });
        heard
    }
}

/// Starts the workflow of a member, and returns what waits for its end.
async fn start(
    ctx: WorkflowContext<FleetWorkflow>,
    run: RunSpec,
    place: Placement,
    pace: Pace,
    token: WorkflowCancellationToken,
) -> Result<Local<Outcome>, EngineError> {
    let id = run.id.clone();
    if let Some(reason) = too_large("what it is to do", &run) {
        return Err(EngineError::Refused { run: id, reason });
    }
    if run.job == STRATEGY_JOB {
        let reason = "a fleet cannot be the member of a fleet".to_owned();
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
    let not_started = |error| not_started(&id, &error);
    match Beginning::of(run, host_queue, pace)? {
        Beginning::Job(begin) => {
            let started = ctx.start_child_workflow(JobWorkflow::run, begin, options);
            let ended = started.await.map_err(not_started)?.result();
            Ok(Box::pin(async move {
                ended.await.or_else(|error| without_outcome(&error))
            }))
        }
        Beginning::Sessions(begin) => {
            let started = ctx.start_child_workflow(SessionsWorkflow::run, *begin, options);
            let ended = started.await.map_err(not_started)?.result();
            Ok(Box::pin(async move {
                ended.await.or_else(|error| without_outcome(&error))
            }))
        }
        // It was refused above.
        Beginning::Fleet(begin) => Err(EngineError::Conflict(begin.run.id)),
    }
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

/// Says what a member came to that did not return an outcome.
fn without_outcome(error: &ChildWorkflowExecutionError) -> Outcome {
    if error.as_cancelled().is_some() {
        let spent = Spent {
            cost: CostTotal::unknown(),
            ..Spent::default()
        };
        return Ok(RunOutcome::cancelled("").with_spent(spent));
    }
    Err(EngineError::Failed {
        reason: format!("its workflow failed: {error}"),
        source: None,
    })
}
