//! [`Answers`] to the permission requests of an agent.

use std::sync::{Arc, Mutex, PoisonError};
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
        let (gate, denials, limit) = (self.gate.clone(), self.denials.clone(), self.limit);
        let stopped = self.stopped.clone();
        let responder = Arc::new(Mutex::new(Some(responder)));
        let (respond, deny) = (responder.clone(), responder);
        let (denied_call, rejection) = (call.id.clone(), request.response(Answer::Reject));
        let on_panic = {
            let denials = denials.clone();
            move || {
                let denied = DeniedCall {
                    call: denied_call,
                    reason: FAILED_CHECK.to_owned(),
                };
                let _ = denials.send(denied);
                send_response(&deny, rejection);
            }
        };
        let answer = async move {
            let decided = tokio::select! {
                biased;
                () = stopped.cancelled() => None,
                decided = decide_call(&gate, &call, limit) => Some(decided),
            };
            let (response, reason) = match decided {
                None => (cancelled(), Some("the turn was stopped".to_owned())),
                Some(Ok(())) if request.can_allow_once() => (request.response(Answer::Allow), None),
                Some(Ok(())) => {
                    let reason = "the agent offers no option to allow only this call";
                    (request.response(Answer::Reject), Some(reason.to_owned()))
                }
                Some(Err(reason)) => (request.response(Answer::Reject), Some(reason)),
            };
            // The denial is sent before the answer, so that it precedes the agent's next messages.
            if let Some(reason) = reason {
                let _ = denials.send(DeniedCall {
                    call: call.id,
                    reason,
                });
            }
            send_response(&respond, response);
        };
        spawn_answer(answer, on_panic);
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

/// Sends the response, unless the request is answered already.
fn send_response(
    responder: &Mutex<Option<Responder<RequestPermissionResponse>>>,
    response: RequestPermissionResponse,
) {
    let mut responder = responder.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(responder) = responder.take() {
        let _ = responder.respond(response);
    }
}

fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}
