//! [`Answers`] to the requests of the program.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_backend::{AnswerTasks, DeniedCall, FAILED_CHECK, decide_call};
use autonoe_core::tool::{ToolErrorCode, Toolbox};
use autonoe_core::{SessionSpec, ToolCall, ToolContext, ToolError, ToolOutput};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::pending_calls::{PendingCalls, ungated_call};
use crate::events::{SHELL, dynamic_name, tool_call};
use crate::wire::{
    CommandApproval, Decision, ElicitationRequest, FileChangeApproval, Notification, Outgoing,
    ProgramRequest, RequestId, ToolCallRequest, TurnRef, bash_script,
};

/// The reason to refuse a request that is not about a single call.
const NO_CALL: &str = "this request covers more than one call, which is not allowed";

/// The reason to refuse a command of another shell.
const NO_BASH: &str = "only Bash commands can be checked; call Bash by its full path";

/// Time limit for the program to accept a reason.
const REASON_LIMIT: Duration = Duration::from_secs(5);

/// Answers the requests of the program, each in a task of its own.
///
/// A request that cannot be decided is refused.
pub(super) struct Answers {
    shared: Arc<Shared>,
    limit: Duration,
    calls: PendingCalls,
    /// Running answers.
    open: AnswerTasks<RequestId>,
    /// Cancels our tools that run in this turn.
    turn: CancellationToken,
    /// Whether the turn is being stopped, so that nothing is allowed any more.
    is_closed: bool,
    reasons: u64,
}

struct Shared {
    spec: SessionSpec,
    thread: String,
    writer: mpsc::UnboundedSender<String>,
    refused: mpsc::UnboundedSender<DeniedCall>,
    /// Reasons that the program has not accepted yet.
    reasons: Mutex<HashMap<RequestId, oneshot::Sender<()>>>,
    /// Calls that were allowed, including those of earlier turns: the end of a call may be reported
    /// late.
    allowed: Mutex<HashSet<String>>,
}

/// A request that waits for a decision.
#[derive(Clone)]
struct OpenRequest {
    id: RequestId,
    turn: Option<String>,
    answer: fn(&RequestId, Decision) -> Outgoing,
    /// The id of the message with the reason for the agent.
    reason_id: RequestId,
}

impl Answers {
    /// Creates the answers of a session. Refused calls are sent to `refused`.
    pub(super) fn new(
        spec: SessionSpec,
        thread: String,
        writer: mpsc::UnboundedSender<String>,
        refused: mpsc::UnboundedSender<DeniedCall>,
        limit: Duration,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                spec,
                thread,
                writer,
                refused,
                reasons: Mutex::default(),
                allowed: Mutex::default(),
            }),
            limit,
            calls: PendingCalls::default(),
            open: AnswerTasks::default(),
            turn: CancellationToken::new(),
            is_closed: false,
            reasons: 0,
        }
    }

    /// Observes the start and the end of calls that the program may request permission for. Returns
    /// a description of a call that ran without permission.
    pub(super) fn observe(&mut self, notification: &Notification) -> Option<String> {
        match notification {
            Notification::ItemStarted(item) => {
                if let Some(call) = tool_call(item, &self.shared.spec) {
                    self.calls.start(call);
                }
                None
            }
            Notification::ItemCompleted(item) => {
                if let Some(id) = item.call_id() {
                    self.calls.end(id);
                }
                ungated_call(item, &lock(&self.shared.allowed))
            }
            _ => None,
        }
    }

    /// Records that the program has answered one of our messages.
    pub(super) fn answered(&self, id: &RequestId) {
        if let Some(waiting) = lock(&self.shared.reasons).remove(id) {
            // The receiver may have given up.
            let _ = waiting.send(());
        }
    }

    /// Starts a turn: requests are answered again.
    pub(super) fn begin_turn(&mut self) {
        self.is_closed = false;
    }

    /// Cancels our running tools, and forgets the calls of the turn. From now on, nothing is
    /// allowed.
    pub(super) fn end_turn(&mut self) {
        self.is_closed = true;
        self.turn.cancel();
        self.turn = CancellationToken::new();
        self.calls.clear();
        self.open.abort_all();
    }

    /// Answers a request, when it is decided.
    pub(super) fn answer(&mut self, id: RequestId, question: ProgramRequest) {
        if self.is_closed {
            return self.shared.send(&Outgoing::refusal(&id, question.method()));
        }
        match question {
            ProgramRequest::Command(question) => self.command(id, *question),
            ProgramRequest::FileChange(question) => self.file_change(id, &question),
            ProgramRequest::Elicitation(question) => self.elicitation(id, &question),
            ProgramRequest::Tool(question) => self.tool(id, question),
            ProgramRequest::Other { method, .. } => {
                tracing::debug!(%method, "refused a request");
                self.shared.send(&Outgoing::refusal(&id, &method));
            }
        }
    }

    fn command(&mut self, id: RequestId, question: CommandApproval) {
        let request = self.request(id, Some(question.turn_id.clone()), Outgoing::approval);
        let started = self.calls.mark_decided(&question.item_id);
        let is_plain = question.is_plain();
        let (Some(started), Some(command), true) = (started, question.command, is_plain) else {
            return self.refuse(request, question.item_id, NO_CALL);
        };
        // The requested command counts, not the one that was reported before.
        let Some(script) = bash_script(&command) else {
            return self.refuse(request, question.item_id, NO_BASH);
        };
        let input = serde_json::json!({"command": script});
        let mut call = self.shared.spec.tool_call(started.id, SHELL, input);
        call = call.in_dir(question.cwd.unwrap_or(started.cwd));
        self.decide(request, call);
    }

    fn file_change(&mut self, id: RequestId, question: &FileChangeApproval) {
        let request = self.request(id, Some(question.turn_id.clone()), Outgoing::approval);
        let started = self.calls.mark_decided(&question.item_id);
        match started.filter(|_| question.is_plain()) {
            Some(call) => self.decide(request, call),
            None => self.refuse(request, question.item_id.clone(), NO_CALL),
        }
    }

    fn elicitation(&mut self, id: RequestId, question: &ElicitationRequest) {
        let request = self.request(id, question.turn_id.clone(), Outgoing::elicitation);
        let arguments = question.tool_arguments();
        let server = &question.server_name;
        let call = arguments.and_then(|arguments| self.calls.take_server_call(server, arguments));
        match call {
            Some(call) => self.decide(request, call),
            // No user is there to answer anything else.
            None => self
                .shared
                .send(&(request.answer)(&request.id, Decision::Decline)),
        }
    }

    fn request(
        &mut self,
        id: RequestId,
        turn: Option<String>,
        answer: fn(&RequestId, Decision) -> Outgoing,
    ) -> OpenRequest {
        self.reasons += 1;
        OpenRequest {
            id,
            turn,
            answer,
            reason_id: RequestId::Text(format!("reason-{}", self.reasons)),
        }
    }

    fn refuse(&mut self, request: OpenRequest, call: String, reason: &'static str) {
        let (shared, refused) = (self.shared.clone(), request.clone());
        self.spawn_decision(request, async move {
            shared
                .record_refusal(&refused, call, reason.to_owned())
                .await;
            Decision::Decline
        });
    }

    /// Sends the decision of the gate about a call: a refusal, if the gate fails or takes too long.
    fn decide(&mut self, request: OpenRequest, call: ToolCall) {
        let (shared, limit, decided) = (self.shared.clone(), self.limit, request.clone());
        self.spawn_decision(request, async move {
            match decide_call(&shared.spec.gate, &call, limit).await {
                Ok(()) => {
                    lock(&shared.allowed).insert(call.id);
                    Decision::Accept
                }
                Err(reason) => {
                    shared.record_refusal(&decided, call.id, reason).await;
                    Decision::Decline
                }
            }
        });
    }

    fn spawn_decision(
        &mut self,
        request: OpenRequest,
        decision: impl Future<Output = Decision> + Send + 'static,
    ) {
        let (shared, id) = (self.shared.clone(), request.id.clone());
        let send = move |decision| shared.send(&(request.answer)(&request.id, decision));
        self.open.spawn(id, decision, Decision::Decline, send);
    }

    fn tool(&mut self, id: RequestId, question: ToolCallRequest) {
        let (caller, sender) = (self.shared.clone(), self.shared.clone());
        let (limit, cancelled) = (self.limit, self.turn.child_token());
        let call = async move { caller.call_tool(question, limit, cancelled).await };
        let request_id = id.clone();
        let send = move |result| sender.send_output(&request_id, &result);
        self.open.spawn(id, call, Err(refusal(FAILED_CHECK)), send);
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.end_turn();
    }
}

impl Shared {
    fn send(&self, message: &Outgoing) {
        let _ = self.writer.send(message.to_line());
    }

    fn send_output(&self, id: &RequestId, result: &Result<ToolOutput, ToolError>) {
        let (text, attachments, success) = match result {
            Ok(output) => (output.output.clone(), output.attachments.as_slice(), true),
            Err(error) => (error.to_string(), error.attachments(), false),
        };
        self.send(&Outgoing::tool_output(id, &text, attachments, success));
    }

    /// Records that a call is refused, before the answer. That has no field for a reason, so the
    /// reason is sent to the agent as a steering message. The program must have it before the turn
    /// continues: a later message would interrupt the output of the model.
    async fn record_refusal(&self, request: &OpenRequest, call: String, reason: String) {
        if let Some(turn) = &request.turn {
            let session = TurnRef {
                thread: self.thread.clone(),
                turn: turn.clone(),
            };
            let text = format!("The last call was refused: {reason}");
            let (accepted, waiting) = oneshot::channel();
            lock(&self.reasons).insert(request.reason_id.clone(), accepted);
            self.send(&Outgoing::steer(&request.reason_id, &session, &text));
            // The call is refused in any case.
            let _ = tokio::time::timeout(REASON_LIMIT, waiting).await;
        }
        let _ = self.refused.send(DeniedCall { call, reason });
    }

    async fn call_tool(
        &self,
        question: ToolCallRequest,
        limit: Duration,
        cancelled: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let ToolCallRequest {
            call_id,
            turn_id,
            namespace,
            tool,
            arguments,
            ..
        } = question;
        let name = dynamic_name(namespace.as_deref(), &tool);
        let call = self.spec.tool_call(&call_id, name, arguments.clone());
        let reason = match decide_call(&self.spec.gate, &call, limit).await {
            Ok(()) if namespace.as_deref() == Some(Toolbox::SERVER) => None,
            Ok(()) => Some("unknown tool".to_owned()),
            Err(reason) => Some(reason),
        };
        if let Some(reason) = reason {
            let refused = DeniedCall {
                call: call_id,
                reason: reason.clone(),
            };
            let _ = self.refused.send(refused);
            return Err(refusal(&reason));
        }
        let mut context = ToolContext::new(self.spec.key.clone())
            .with_call_id(call_id)
            .with_cancellation(cancelled);
        context.message_id = turn_id;
        self.spec.tools.call(&tool, arguments, context).await
    }
}

/// Returns the result of a denied call. The agent reads only the reason.
fn refusal(reason: &str) -> ToolError {
    ToolError::new(ToolErrorCode::PERMISSION_DENIED, reason).with_output(ToolOutput::new(reason))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
