//! [`Answers`] to the permission requests of an agent.

use std::time::Duration;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{RequestPermissionOutcome, RequestPermissionResponse};
use autonoe_backend::{DeniedCall, FAILED_CHECK, decide_call, spawn_answer};
use autonoe_core::ToolCall;
use autonoe_core::gate::Gate;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::wire::{Answer, Permission};

/// Answers the permission requests of an agent, each in a task of its own.
///
/// A missing answer allows nothing: the agent waits. When the turn is stopped, open requests are
/// cancelled, because a waiting agent does not process the interrupt.
pub(super) struct Answers {
    gate: Gate,
    limit: Duration,
    denials: mpsc::UnboundedSender<DeniedCall>,
    denied: mpsc::UnboundedReceiver<DeniedCall>,
    stopped: CancellationToken,
}

impl Answers {
    pub(super) fn new(gate: Gate, limit: Duration) -> Self {
        let (denials, denied) = mpsc::unbounded_channel();
        Self {
            gate,
            limit,
            denials,
            denied,
            stopped: CancellationToken::new(),
        }
    }

    /// Answers a permission request for `call` when the gate has decided.
    pub(super) fn answer(
        &self,
        request: Permission,
        call: ToolCall,
        responder: Responder<RequestPermissionResponse>,
    ) {
        let (gate, limit, stopped) = (self.gate.clone(), self.limit, self.stopped.clone());
        let (denials, call_id) = (self.denials.clone(), call.id.clone());
        let failed = (
            request.response(Answer::Reject),
            Some(FAILED_CHECK.to_owned()),
        );
        let answer = async move {
            let decided = tokio::select! {
                biased;
                () = stopped.cancelled() => None,
                decided = decide_call(&gate, &call, limit) => Some(decided),
            };
            match decided {
                None => (cancelled(), Some("the turn was stopped".to_owned())),
                Some(Ok(())) if request.can_allow_once() => (request.response(Answer::Allow), None),
                Some(Ok(())) => {
                    let reason = "the agent offers no option to allow only this call";
                    (request.response(Answer::Reject), Some(reason.to_owned()))
                }
                Some(Err(reason)) => (request.response(Answer::Reject), Some(reason)),
            }
        };
        spawn_answer(answer, failed, move |(response, reason)| {
            // The denial is sent before the answer, so that it precedes the agent's next messages.
            if let Some(reason) = reason {
                let call = call_id;
                let _ = denials.send(DeniedCall { call, reason });
            }
            let _ = responder.respond(response);
        });
    }

    /// Refuses a permission request without a decision of the gate.
    pub(super) fn refuse(request: &Permission, responder: Responder<RequestPermissionResponse>) {
        let _ = responder.respond(request.response(Answer::Reject));
    }

    /// Waits for the next denied call. Dropping the future loses nothing.
    pub(super) async fn denied(&mut self) -> DeniedCall {
        match self.denied.recv().await {
            Some(denied) => denied,
            None => std::future::pending().await,
        }
    }

    /// Returns a denied call that was not reported yet, if there is one.
    pub(super) fn try_denied(&mut self) -> Option<DeniedCall> {
        self.denied.try_recv().ok()
    }

    /// Cancels all open and future requests.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.stopped.cancel();
    }
}

fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}
