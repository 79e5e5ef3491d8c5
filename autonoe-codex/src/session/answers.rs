//! Answers to what the program asks.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::{
    GateDecision, SessionSpec, ToolCall, ToolContext, ToolError, ToolErrorCode, ToolOutput, Toolbox,
};
use futures::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::ledger_of_calls::Calls;
use super::unasked::unasked;
use crate::events::{SHELL, call_of, dynamic_name};
use crate::wire::{
    CommandQuestion, Decision, ElicitationQuestion, FileChangeQuestion, Item, Notice, Outgoing,
    Question, RequestId, Session, ToolQuestion, script_of,
};

/// Why a call is refused that no hook could decide about.
const FAILED: &str = "a check of this call failed, so it is not allowed";

/// Why a question is refused that is not about one call.
const NO_CALL: &str = "this asks for more than this call, which is not allowed";

/// Why a command is refused that another shell would read.
const NO_BASH: &str = "commands are only checked as Bash reads them; call Bash, by its full path";

/// How long the program may take to take note of a reason.
const REASON_LIMIT: Duration = Duration::from_secs(5);

/// A call that was refused, and why.
pub(super) struct Refused {
    pub(super) call: String,
    pub(super) reason: String,
}

/// Answers to what the program asks, each given by a task of its own.
///
/// What cannot be decided is refused.
pub(super) struct Answers {
    shared: Arc<Shared>,
    limit: Duration,
    calls: Calls,
    /// Questions under way.
    open: HashMap<RequestId, AbortHandle>,
    /// Ends our tools that run in this turn.
    turn: CancellationToken,
    /// Whether the turn is being stopped, so that nothing is allowed any more.
    is_closed: bool,
    reasons: u64,
}

struct Shared {
    spec: SessionSpec,
    thread: String,
    writer: mpsc::UnboundedSender<Outgoing>,
    refused: mpsc::UnboundedSender<Refused>,
    /// Reasons that the program has not taken yet.
    reasons: Mutex<HashMap<RequestId, oneshot::Sender<()>>>,
    /// Calls that were allowed. Those of earlier turns too: the end of one may be told late.
    allowed: Mutex<HashSet<String>>,
}

/// The question that a decision answers.
#[derive(Clone)]
struct Asked {
    id: RequestId,
    turn: Option<String>,
    answer: fn(&RequestId, Decision) -> Outgoing,
    /// Names the message that tells the agent why.
    reason_id: RequestId,
}

impl Answers {
    /// Makes answers for a session. Calls that were refused go to `refused`.
    pub(super) fn new(
        spec: SessionSpec,
        thread: String,
        writer: mpsc::UnboundedSender<Outgoing>,
        refused: mpsc::UnboundedSender<Refused>,
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
            calls: Calls::default(),
            open: HashMap::new(),
            turn: CancellationToken::new(),
            is_closed: false,
            reasons: 0,
        }
    }

    /// Takes note of what the program tells of calls that it may ask about. Returns what it did
    /// although nobody had allowed it.
    pub(super) fn notice(&mut self, notice: &Notice) -> Option<String> {
        let unasked = match notice {
            Notice::ItemCompleted(item) => unasked(item, &locked(&self.shared.allowed)),
            _ => None,
        };
        match notice {
            Notice::ItemStarted(item) => {
                if let Some(call) = call_of(item, &self.shared.spec) {
                    self.calls.begin(call);
                }
            }
            Notice::ItemCompleted(
                Item::Command(crate::wire::CommandItem { id, .. })
                | Item::FileChange(crate::wire::FileChangeItem { id, .. })
                | Item::McpTool(crate::wire::McpToolItem { id, .. })
                | Item::DynamicTool(crate::wire::DynamicToolItem { id, .. }),
            ) => self.calls.end(id),
            _ => {}
        }
        unasked
    }

    /// Takes note that the program has answered a message of these answers.
    pub(super) fn answered(&self, id: &RequestId) {
        if let Some(waiting) = locked(&self.shared.reasons).remove(id) {
            // Whoever waited may have given up.
            let _ = waiting.send(());
        }
    }

    /// Begins to answer anew.
    pub(super) fn begin_turn(&mut self) {
        self.is_closed = false;
    }

    /// Ends our tools that run, and forgets the calls of the turn. Nothing is allowed any more.
    pub(super) fn end_turn(&mut self) {
        self.is_closed = true;
        self.turn.cancel();
        self.turn = CancellationToken::new();
        self.calls.clear();
        for (_, task) in self.open.drain() {
            task.abort();
        }
    }

    /// Answers a question, sooner or later.
    pub(super) fn answer(&mut self, id: RequestId, question: Question) {
        self.open.retain(|_, task| !task.is_finished());
        if self.is_closed {
            return self.shared.send(Outgoing::refusal(&id, question.method()));
        }
        match question {
            Question::Command(question) => self.command(id, *question),
            Question::FileChange(question) => self.file_change(id, &question),
            Question::Elicitation(question) => self.elicitation(id, &question),
            Question::Tool(question) => self.tool(id, question),
            Question::Other { method, .. } => {
                tracing::debug!(%method, "a question that is refused");
                self.shared.send(Outgoing::refusal(&id, &method));
            }
        }
    }

    fn command(&mut self, id: RequestId, question: CommandQuestion) {
        let asked = self.asked(id, Some(question.turn_id.clone()), Outgoing::approval);
        let begun = self.calls.take(&question.item_id);
        let is_plain = question.is_plain();
        let (Some(begun), Some(command), true) = (begun, question.command, is_plain) else {
            return self.refuse(asked, question.item_id, NO_CALL);
        };
        // What is asked about counts, not what was shown before.
        let Some(script) = script_of(&command) else {
            return self.refuse(asked, question.item_id, NO_BASH);
        };
        let input = serde_json::json!({"command": script});
        let mut call = self.shared.spec.tool_call(begun.id, SHELL, input);
        call = call.in_dir(question.cwd.unwrap_or(begun.cwd));
        self.decide(asked, call);
    }

    fn file_change(&mut self, id: RequestId, question: &FileChangeQuestion) {
        let asked = self.asked(id, Some(question.turn_id.clone()), Outgoing::approval);
        let begun = self.calls.take(&question.item_id);
        match begun.filter(|_| question.is_plain()) {
            Some(call) => self.decide(asked, call),
            None => self.refuse(asked, question.item_id.clone(), NO_CALL),
        }
    }

    fn elicitation(&mut self, id: RequestId, question: &ElicitationQuestion) {
        let asked = self.asked(id, question.turn_id.clone(), Outgoing::elicitation);
        let arguments = question.tool_arguments();
        let server = &question.server_name;
        let call = arguments.and_then(|arguments| self.calls.take_of_server(server, arguments));
        match call {
            Some(call) => self.decide(asked, call),
            // Nobody is there to be asked anything else.
            None => self
                .shared
                .send((asked.answer)(&asked.id, Decision::Decline)),
        }
    }

    fn asked(
        &mut self,
        id: RequestId,
        turn: Option<String>,
        answer: fn(&RequestId, Decision) -> Outgoing,
    ) -> Asked {
        self.reasons += 1;
        Asked {
            id,
            turn,
            answer,
            reason_id: RequestId::Text(format!("reason-{}", self.reasons)),
        }
    }

    fn refuse(&mut self, asked: Asked, call: String, reason: &'static str) {
        let shared = self.shared.clone();
        let id = asked.id.clone();
        let task =
            tokio::spawn(async move { shared.refuse(&asked, call, reason.to_owned()).await });
        self.open.insert(id, task.abort_handle());
    }

    /// Puts a call to the gate and answers what it says: a refusal, if that fails or takes too long.
    fn decide(&mut self, asked: Asked, call: ToolCall) {
        let (shared, limit) = (self.shared.clone(), self.limit);
        let id = asked.id.clone();
        let task = tokio::spawn(async move {
            let decided = AssertUnwindSafe(shared.spec.gate.decide(&call)).catch_unwind();
            match tokio::time::timeout(limit, decided).await {
                Ok(Ok(GateDecision::Allow { .. })) => {
                    locked(&shared.allowed).insert(call.id);
                    shared.send((asked.answer)(&asked.id, Decision::Accept));
                }
                Ok(Ok(GateDecision::Deny { reason, .. })) => {
                    shared.refuse(&asked, call.id, reason).await;
                }
                Ok(Err(_)) | Err(_) => shared.refuse(&asked, call.id, FAILED.to_owned()).await,
            }
        });
        self.open.insert(id, task.abort_handle());
    }

    fn tool(&mut self, id: RequestId, question: ToolQuestion) {
        let shared = self.shared.clone();
        let (limit, cancelled) = (self.limit, self.turn.child_token());
        let answered = id.clone();
        let task = tokio::spawn(async move {
            let work = shared.call_tool(question, limit, cancelled);
            let result = AssertUnwindSafe(work)
                .catch_unwind()
                .await
                .unwrap_or_else(|_panic| Err(refusal(FAILED)));
            let (text, attachments, success) = match &result {
                Ok(output) => (output.output.clone(), output.attachments.as_slice(), true),
                Err(error) => (error.to_string(), error.attachments(), false),
            };
            shared.send(Outgoing::tool_output(
                &answered,
                &text,
                attachments,
                success,
            ));
        });
        self.open.insert(id, task.abort_handle());
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.end_turn();
    }
}

impl Shared {
    fn send(&self, message: Outgoing) {
        let _ = self.writer.send(message);
    }

    /// Refuses a call. An answer has no room for a reason, so the agent is told it as a word in
    /// between. The program must have it before the turn goes on: a word that comes later breaks
    /// off what the model is just saying.
    async fn refuse(&self, asked: &Asked, call: String, reason: String) {
        if let Some(turn) = &asked.turn {
            let session = Session {
                thread: self.thread.clone(),
                turn: turn.clone(),
            };
            let text = format!("The last call was refused: {reason}");
            let (taken, waiting) = oneshot::channel();
            locked(&self.reasons).insert(asked.reason_id.clone(), taken);
            self.send(Outgoing::steer(&asked.reason_id, &session, &text));
            // The call is refused in any case.
            let _ = tokio::time::timeout(REASON_LIMIT, waiting).await;
        }
        let _ = self.refused.send(Refused { call, reason });
        self.send((asked.answer)(&asked.id, Decision::Decline));
    }

    async fn call_tool(
        &self,
        question: ToolQuestion,
        limit: Duration,
        cancelled: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let ToolQuestion {
            call_id,
            turn_id,
            namespace,
            tool,
            arguments,
            ..
        } = question;
        let name = dynamic_name(namespace.as_deref(), &tool);
        let call = self.spec.tool_call(&call_id, name, arguments.clone());
        let decided = tokio::time::timeout(limit, self.spec.gate.decide(&call)).await;
        let reason = match decided {
            Ok(GateDecision::Allow { .. }) if namespace.as_deref() == Some(Toolbox::SERVER) => None,
            Ok(GateDecision::Allow { .. }) => Some("there is no such tool".to_owned()),
            Ok(GateDecision::Deny { reason, .. }) => Some(reason),
            Err(_elapsed) => Some(FAILED.to_owned()),
        };
        if let Some(reason) = reason {
            let refused = Refused {
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

/// Returns the result of a call that is not allowed. The agent reads only the reason.
fn refusal(reason: &str) -> ToolError {
    ToolError::new(ToolErrorCode::PERMISSION_DENIED, reason).with_output(ToolOutput::new(reason))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
