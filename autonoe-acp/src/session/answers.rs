//! Who answers what an agent asks about its calls.

use std::time::Duration;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{RequestPermissionOutcome, RequestPermissionResponse};
use autonoe_core::{Gate, GateDecision, ToolCall};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::wire::{Answer, Permission};

/// A call that was refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) call: String,
    pub(super) reason: String,
}

/// Who answers what an agent asks about its calls, each in a task of its own.
///
/// No answer allows nothing: the agent waits. When the turn is stopped, what is open is cancelled,
/// because an agent that waits does not hear that it is to stop.
pub(super) struct Answers {
    gate: Gate,
    limit: Duration,
    tell: mpsc::UnboundedSender<Refused>,
    refused: mpsc::UnboundedReceiver<Refused>,
    stopped: CancellationToken,
}

impl Answers {
    pub(super) fn new(gate: Gate, limit: Duration) -> Self {
        let (tell, refused) = mpsc::unbounded_channel();
        Self {
            gate,
            limit,
            tell,
            refused,
            stopped: CancellationToken::new(),
        }
    }

    /// Answers a question about `call`, sooner or later.
    pub(super) fn answer(
        &self,
        asked: Permission,
        call: ToolCall,
        responder: Responder<RequestPermissionResponse>,
    ) {
        let (gate, tell, limit) = (self.gate.clone(), self.tell.clone(), self.limit);
        let stopped = self.stopped.clone();
        tokio::spawn(async move {
            let decided = tokio::select! {
                biased;
                () = stopped.cancelled() => None,
                decided = decide(&gate, &call, limit) => Some(decided),
            };
            let (response, reason) = match decided {
                None => (cancelled(), Some("the turn was stopped".to_owned())),
                Some(Ok(())) if asked.can_allow_once() => (asked.response(Answer::Allow), None),
                Some(Ok(())) => {
                    let reason = "the agent offers no way to allow this call alone";
                    (asked.response(Answer::Reject), Some(reason.to_owned()))
                }
                Some(Err(reason)) => (asked.response(Answer::Reject), Some(reason)),
            };
            // Told before it is answered: what the agent says next comes after it.
            if let Some(reason) = reason {
                let _ = tell.send(Refused {
                    call: call.id,
                    reason,
                });
            }
            let _ = responder.respond(response);
        });
    }

    /// Refuses a question that nobody can decide about.
    pub(super) fn refuse(asked: &Permission, responder: Responder<RequestPermissionResponse>) {
        let _ = responder.respond(asked.response(Answer::Reject));
    }

    /// Waits for the next call that was refused. Nothing is lost when the future is dropped.
    pub(super) async fn refused(&mut self) -> Refused {
        match self.refused.recv().await {
            Some(refused) => refused,
            None => std::future::pending().await,
        }
    }

    /// Returns a call that was refused, if there is one that was not told yet.
    pub(super) fn try_refused(&mut self) -> Option<Refused> {
        self.refused.try_recv().ok()
    }

    /// Cancels all that is open, and whatever comes.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.stopped.cancel();
    }
}

async fn decide(gate: &Gate, call: &ToolCall, limit: Duration) -> Result<(), String> {
    match tokio::time::timeout(limit, gate.decide(call)).await {
        Ok(GateDecision::Allow { .. }) => Ok(()),
        Ok(GateDecision::Deny { reason, .. }) => Err(reason),
        Err(_elapsed) => Err("a check of this call took too long, so it is not allowed".into()),
    }
}

fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}
