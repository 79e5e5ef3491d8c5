//! How the actions of the machine are carried out by a workflow.

use std::time::Duration;

use autonoe_core::{
    Epoch, ExitReason, Failure, HostedSession, LedgerView, Retry, RunAction, RunFact,
    RunInstruction, SessionEnd, SessionPlan, SessionResult,
};
use jiff::Timestamp;
use temporalio_client::RetryPolicy;
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, TimeoutType, WorkflowContext,
};

use super::SessionActivities;
use super::calls::{Claim, SessionAnswer, SessionCall};
use super::losses::Losses;
use super::workflow::SessionsWorkflow;

type Context = WorkflowContext<SessionsWorkflow>;

/// How long to wait before a session is tried again that did not begin.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// Takes notice of what the run was told.
pub(super) async fn heed(ctx: &mut Context) {
    loop {
        let told = ctx.state_mut(|it| match it.known.inbox.is_empty() {
            true => None,
            false => Some(it.known.inbox.remove(0)),
        });
        let fact = match told {
            None => break,
            Some(RunInstruction::Say(text)) => RunFact::Instructed { text },
            Some(RunInstruction::Pause) => RunFact::PauseRequested,
            Some(RunInstruction::Resume) => {
                let is_held = ctx.state(|it| it.known.machine.action() == RunAction::Hold);
                let ledger = match is_held {
                    true => look(ctx).await,
                    false => Ok(ctx.state(|it| it.known.machine.ledger())),
                };
                let at = now(ctx);
                RunFact::ResumeRequested { at, ledger }
            }
        };
        apply(ctx, fact);
    }
    if ctx.cancellation_token().is_cancelled() {
        apply(ctx, RunFact::Cancelled);
    }
}

/// Carries out an action to its end, and tells the machine.
pub(super) async fn carry_out(ctx: &mut Context, action: RunAction) {
    match action {
        RunAction::Continue => begin(ctx).await,
        RunAction::StartSession(plan) => session(ctx, &plan).await,
        RunAction::StopSession => stopped(ctx),
        RunAction::Wait { until, .. } => wait(ctx, until).await,
        RunAction::Hold => {
            let _ = ctx.wait_condition(|it| !it.known.inbox.is_empty()).await;
        }
        RunAction::Finish { .. } => {}
    }
}

async fn begin(ctx: &mut Context) {
    match look(ctx).await {
        Ok(ledger) => {
            let at = now(ctx);
            apply(ctx, RunFact::Started { at, ledger });
        }
        Err(_) if ctx.cancellation_token().is_cancelled() => {}
        Err(error) if error.retry == Retry::MayHelp => {
            ctx.timer(TRY_AGAIN).await;
        }
        Err(error) => apply(ctx, RunFact::Failed { error }),
    }
}

/// Has a session carried out on the host of the run, until it has an end.
async fn session(ctx: &mut Context, plan: &SessionPlan) {
    let mut tries = 0;
    let mut losses = Losses::default();
    while !ctx.cancellation_token().is_cancelled() {
        let claim = match claimed(ctx).await {
            Ok(claim) => claim,
            Err(_) if ctx.cancellation_token().is_cancelled() => continue,
            Err(error) => return fail(ctx, plan, &losses, error),
        };
        match attach(ctx, plan, &claim).await {
            Ok(SessionAnswer::Ended(outcome)) => {
                lose(ctx, plan, losses.answered(outcome.lost));
                // What was told meanwhile comes first: a pause holds the next session.
                heed(ctx).await;
                ctx.state_mut(|it| it.sessions += 1);
                let ended = RunFact::SessionEnded {
                    at: now(ctx),
                    number: plan.number,
                    result: outcome.result,
                    ledger: outcome.ledger,
                };
                return apply(ctx, ended);
            }
            Ok(SessionAnswer::Fenced { latest }) => {
                let why = format!(
                    "somebody has taken over the project with epoch {}",
                    latest.0
                );
                let error = Failure::permanent("overtaken", why);
                return fail(ctx, plan, &losses, error);
            }
            Ok(SessionAnswer::Failed(error)) if error.retry == Retry::Useless => {
                return fail(ctx, plan, &losses, error);
            }
            Ok(SessionAnswer::Failed(error)) => {
                tries += 1;
                if tries >= attempts(ctx) {
                    return fail(ctx, plan, &losses, error);
                }
                ctx.timer(TRY_AGAIN).await;
            }
            Ok(SessionAnswer::Cancelled) | Err(Lost::Cancelled) => {}
            Err(Lost::HostIsGone) => {
                losses.host_is_gone();
                release(ctx);
            }
            Err(Lost::Worker(why)) => {
                losses.worker_is_gone();
                tries += 1;
                if tries >= attempts(ctx) {
                    let error = Failure::permanent("worker_lost", why);
                    return fail(ctx, plan, &losses, error);
                }
            }
        }
    }
    lose(ctx, plan, losses.unanswered());
    heed(ctx).await;
    stopped(ctx);
}

/// Tells the machine that the run cannot go on.
fn fail(ctx: &mut Context, plan: &SessionPlan, losses: &Losses, error: Failure) {
    lose(ctx, plan, losses.unanswered());
    apply(ctx, RunFact::Failed { error });
}

/// Tells the machine of sessions of which nobody knows what they cost.
fn lose(ctx: &mut Context, plan: &SessionPlan, count: u32) {
    let number = plan.number;
    for _ in 0..count {
        apply(ctx, RunFact::SessionLost { number });
    }
}

/// Tells the machine that the session that was to be stopped is over.
fn stopped(ctx: &mut Context) {
    let RunAction::StopSession = ctx.state(|it| it.known.machine.action()) else {
        return;
    };
    let ledger = ctx.state(|it| it.known.machine.ledger());
    let at = now(ctx);
    let exit = ExitReason::Interrupted;
    let report = ctx.state(|it| it.known.machine.report(&it.begin.run.id, exit, at));
    let ended = RunFact::SessionEnded {
        at,
        // The last that was started is the one under way.
        number: report.sessions,
        result: SessionResult::new(SessionEnd::Cancelled),
        ledger: Ok(ledger),
    };
    apply(ctx, ended);
}

async fn wait(ctx: &mut Context, until: Timestamp) {
    let left = Duration::try_from(until.duration_since(now(ctx))).unwrap_or_default();
    ctx.timer(left).await;
    if ctx.cancellation_token().is_cancelled() {
        return;
    }
    let ledger = look(ctx).await;
    // What was told meanwhile comes first: a pause holds the next session.
    heed(ctx).await;
    let at = now(ctx);
    apply(ctx, RunFact::WaitOver { at, ledger });
}

/// Why there is no answer from a host.
enum Lost {
    /// The run was cancelled.
    Cancelled,
    /// Nobody took the call.
    HostIsGone,
    /// Who took it is gone, or let go of it.
    Worker(String),
}

impl From<ActivityExecutionError> for Lost {
    fn from(error: ActivityExecutionError) -> Self {
        if let ActivityExecutionError::Cancelled(_) = error {
            return Self::Cancelled;
        }
        let timeout = error.as_timeout().map(|timeout| timeout.timeout_type());
        match timeout {
            Some(TimeoutType::ScheduleToStart) => Self::HostIsGone,
            _ => Self::Worker(format!("the session was lost with its worker: {error}")),
        }
    }
}

async fn attach(
    ctx: &mut Context,
    plan: &SessionPlan,
    claim: &Claim,
) -> Result<SessionAnswer, Lost> {
    let budget = plan.budget_at(now(ctx));
    let call = SessionCall {
        whose: ctx.state(SessionsWorkflow::whose),
        number: plan.number,
        epoch: claim.epoch,
        session: HostedSession::from(plan).budget(budget),
    };
    let pace = ctx.state(|it| it.begin.pace);
    let options = ActivityOptions::with_start_to_close_timeout(pace.longest)
        .heartbeat_timeout(pace.heartbeat)
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .task_queue(&claim.queue)
        .maybe_schedule_to_start_timeout(patience(ctx))
        // Whether to try again there or elsewhere is decided here.
        .retry_policy(RetryPolicy::builder().maximum_attempts(1).build())
        .build();
    let answered = ctx.execute_activity(SessionActivities::session, call, options);
    Ok(answered.await?)
}

/// Returns how long to wait for the host of the run; one that is bound to its host waits for it.
fn patience(ctx: &Context) -> Option<Duration> {
    ctx.state(|it| match it.begin.host_queue {
        Some(_) => None,
        None => Some(it.begin.pace.host),
    })
}

/// Returns the host that the run is on. If there is none, one claims it.
async fn claimed(ctx: &mut Context) -> Result<Claim, Failure> {
    if let Some(claim) = ctx.state(|it| it.known.claim.clone()) {
        return Ok(claim);
    }
    let whose = ctx.state(SessionsWorkflow::whose);
    let options = ActivityOptions::with_start_to_close_timeout(short(ctx))
        .maybe_task_queue(ctx.state(|it| it.begin.host_queue.clone()))
        .build();
    let claim = ctx.execute_activity(SessionActivities::claim, whose, options);
    let mut claim = claim.await.map_err(|error| unclaimed(&error))?;
    // Higher than that of any host before, also where nothing is known of them.
    let last = ctx.state(|it| it.known.epoch);
    claim.epoch = claim.epoch.max(Epoch(last.0.saturating_add(1)));
    ctx.state_mut(|it| {
        it.known.epoch = claim.epoch;
        it.known.claim = Some(claim.clone());
    });
    Ok(claim)
}

/// Returns how long a claim or a look may take. They say nothing meanwhile, so who takes longer is
/// dead.
fn short(ctx: &Context) -> Duration {
    ctx.state(|it| it.begin.pace.heartbeat)
}

/// Lets another host claim the run.
fn release(ctx: &mut Context) {
    ctx.state_mut(|it| it.known.claim = None);
}

/// Looks at the ledger on the host of the run; or says why it cannot be looked at.
async fn look(ctx: &mut Context) -> Result<LedgerView, Failure> {
    let Some(claim) = ctx.state(|it| it.known.claim.clone()) else {
        return claimed(ctx).await?.ledger;
    };
    let whose = ctx.state(SessionsWorkflow::whose);
    let options = ActivityOptions::with_start_to_close_timeout(short(ctx))
        .task_queue(&claim.queue)
        .maybe_schedule_to_start_timeout(patience(ctx))
        .build();
    let looked = ctx.execute_activity(SessionActivities::look, whose, options);
    match looked.await.map_err(Lost::from) {
        Ok(ledger) => ledger,
        Err(Lost::HostIsGone) => {
            release(ctx);
            claimed(ctx).await?.ledger
        }
        Err(Lost::Cancelled) => Err(Failure::retryable("cancelled", "the run was cancelled")),
        Err(Lost::Worker(why)) => Err(Failure::retryable("worker_lost", why)),
    }
}

fn unclaimed(error: &ActivityExecutionError) -> Failure {
    let why = format!("no host claims the run: {error}");
    match error {
        ActivityExecutionError::Cancelled(_) => Failure::retryable("cancelled", why),
        _ => Failure::permanent("unclaimed", why),
    }
}

fn attempts(ctx: &Context) -> u32 {
    ctx.state(|it| it.begin.pace.attempts)
}

fn apply(ctx: &mut Context, fact: RunFact) {
    let at = now(ctx);
    ctx.state_mut(|it| {
        it.known.at = at;
        // What is to be done is read from the machine.
        let _ = it.known.machine.apply(fact);
    });
}

/// Returns the time of the workflow, which is the same whenever it is replayed.
pub(super) fn now(ctx: &Context) -> Timestamp {
    let time = ctx.workflow_time();
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or_else(|| ctx.state(|it| it.known.at))
}
