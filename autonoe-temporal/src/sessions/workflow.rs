//! The workflow of a run that is driven session by session.

use autonoe_core::{
    Epoch, ExitReason, RunAction, RunInstruction, RunMachine, RunOutcome, RunProgress, RunSpec,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ContinueAsNewOptions, SyncWorkflowContext, WorkflowContext, WorkflowContextView,
    WorkflowResult, WorkflowTermination,
};

use super::SessionsRun;
use super::calls::{Claim, Whose};
use super::driving;
use super::ending::outcome;
use crate::Pace;
use crate::wire::Look;

/// What such a run begins with, or goes on with when its history is begun anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsBegin {
    pub run: RunSpec,
    pub what: SessionsRun,
    /// The queue of the host that it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<String>,
    pub pace: Pace,
    /// What was known when the history before this one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
}

/// What is known of a run under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Carried {
    pub machine: RunMachine,
    /// The host that the run is on.
    pub claim: Option<Claim>,
    /// The highest epoch that the run has had.
    pub epoch: Epoch,
    /// What it was told and has not taken notice of.
    pub inbox: Vec<RunInstruction>,
    pub is_paused: bool,
    /// When something happened last.
    pub at: Timestamp,
}

/// Drives a [`RunMachine`]: sessions are activities, waits are timers of the server.
#[workflow]
pub struct SessionsWorkflow {
    pub(super) begin: SessionsBegin,
    pub(super) known: Carried,
    /// The sessions in this history.
    pub(super) sessions: u32,
}

#[workflow_methods]
impl SessionsWorkflow {
    #[init]
    pub fn new(_ctx: &WorkflowContextView, mut begin: SessionsBegin) -> Self {
        let known = begin.carried.take().unwrap_or_else(|| Carried {
            machine: RunMachine::new(begin.what.limits.clone()),
            claim: None,
            epoch: Epoch(0),
            inbox: Vec::new(),
            is_paused: false,
            at: Timestamp::UNIX_EPOCH,
        });
        Self {
            begin,
            known,
            sessions: 0,
        }
    }

    #[run(name = "autonoe-sessions")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        loop {
            driving::heed(ctx).await;
            match ctx.state(|it| it.known.machine.action()) {
                RunAction::Finish { exit } => return end(ctx, exit),
                _ if is_long(ctx) => {
                    let begin = ctx.state(Self::carried);
                    ctx.continue_as_new(begin, ContinueAsNewOptions::default())?;
                }
                action => driving::carry_out(ctx, action).await,
            }
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RunInstruction) {
        match told {
            RunInstruction::Pause => self.known.is_paused = true,
            RunInstruction::Resume => self.known.is_paused = false,
            RunInstruction::Say(_) => {}
        }
        self.known.inbox.push(told);
    }

    #[query(name = "look")]
    pub fn look(&self, _ctx: &WorkflowContextView) -> Look {
        let known = &self.known;
        let report = known
            .machine
            .report(&self.begin.run.id, ExitReason::Interrupted, known.at);
        let mut at = match report.total {
            0 => RunProgress::default(),
            total => RunProgress::of(report.passed as f64 / total as f64),
        };
        at.iteration = report.sessions;
        at.spent.cost = report.cost;
        at.spent.tokens = report.tokens;
        at.spent.time = report.elapsed;
        Look {
            is_paused: known.is_paused,
            at: Some(at),
        }
    }
}

impl SessionsWorkflow {
    pub(super) fn whose(&self) -> Whose {
        Whose {
            run: self.begin.run.id.clone(),
            what: self.begin.what.clone(),
        }
    }

    fn carried(&self) -> SessionsBegin {
        SessionsBegin {
            carried: Some(self.known.clone()),
            ..self.begin.clone()
        }
    }
}

/// Tells whether the history is to be begun anew.
fn is_long(ctx: &WorkflowContext<SessionsWorkflow>) -> bool {
    let is_full = ctx.state(|it| it.sessions >= it.begin.pace.sessions_in_history);
    (is_full || ctx.continue_as_new_suggested()) && !ctx.cancellation_token().is_cancelled()
}

fn end(ctx: &WorkflowContext<SessionsWorkflow>, exit: ExitReason) -> WorkflowResult<RunOutcome> {
    let at = driving::now(ctx);
    let report = ctx.state(|it| it.known.machine.report(&it.begin.run.id, exit, at));
    let outcome = outcome(&report, ctx.cancellation_token().reason());
    match report.exit {
        ExitReason::Interrupted => Err(WorkflowTermination::cancelled_with_details(outcome)),
        _ => Ok(outcome),
    }
}
