//! Answers to what the program asks.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::{GateDecision, SessionSpec, ToolCall, ToolContext, Toolbox};
use futures::FutureExt;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::origins::Origins;
use crate::mcp::{Incoming, McpServer, ToolCallRequest, refusal};
use crate::wire::{
    Block, ControlRequest, HookCallback, McpMessage, Message, OutgoingLine, Question,
};

/// Why a call is refused that no hook could decide about.
const FAILED: &str = "a check of this call failed, so it is not allowed";

/// Answers to what the program asks, each given by a task of its own.
///
/// Every question gets one, whatever happens: for a hook, no answer and a
/// failure both mean that the tool runs.
pub(super) struct Answers {
    shared: Arc<Shared>,
    writer: mpsc::UnboundedSender<OutgoingLine>,
    limit: Duration,
    /// Questions under way, by their id.
    open: HashMap<String, AbortHandle>,
    /// Calls of our tools under way, by the id of their JSON-RPC message.
    calls: HashMap<String, CancellationToken>,
    over: CancellationToken,
}

struct Shared {
    spec: SessionSpec,
    mcp: McpServer,
    /// Set once the session has shown that it is what was asked for.
    trusted: std::sync::atomic::AtomicBool,
    /// Calls of our tools that the gate allowed and that have not happened yet, with the sub-agents
    /// that make them.
    allowed: Mutex<HashMap<String, Option<String>>>,
    origins: Mutex<Origins>,
    denied: mpsc::UnboundedSender<String>,
}

impl Answers {
    /// Makes answers for a session. Ids of calls that were refused go to `denied`.
    pub(super) fn new(
        spec: SessionSpec,
        writer: mpsc::UnboundedSender<OutgoingLine>,
        denied: mpsc::UnboundedSender<String>,
        limit: Duration,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                mcp: McpServer::new(spec.tools.clone()),
                spec,
                trusted: std::sync::atomic::AtomicBool::new(false),
                allowed: Mutex::default(),
                origins: Mutex::default(),
                denied,
            }),
            writer,
            limit,
            open: HashMap::new(),
            calls: HashMap::new(),
            over: CancellationToken::new(),
        }
    }

    /// From now on calls may be allowed.
    pub(super) fn trust(&self) {
        self.shared
            .trusted
            .store(true, std::sync::atomic::Ordering::SeqCst);
    }

    /// Takes note of what the program says of calls that it may ask about.
    pub(super) fn notice(&self, message: &Message<'_>) {
        self.shared
            .origins()
            .notice(message, |tool| self.shared.serves(tool));
        let Message::Assistant(said) = message else {
            return;
        };
        if let Some(parent) = said.parent_tool_use_id.as_deref() {
            for block in &said.blocks {
                if let Block::ToolUse(tool) = block {
                    self.shared.spec.events.call_within(&tool.id, parent);
                }
            }
        }
    }

    /// Answers a question, sooner or later.
    pub(super) fn answer(&mut self, request: &ControlRequest<'_>) {
        let id = request.request_id.to_string();
        self.open.retain(|_, task| !task.is_finished());
        match &request.question {
            Question::Hook(hook) => self.hook(id, hook),
            Question::Mcp(message) => self.mcp(id, message),
            Question::CanUseTool(_) => self.send(OutgoingLine::tool_denied(&id, FAILED)),
            Question::Unknown { subtype, .. } => match subtype.as_deref() {
                Some("hook_callback") => self.send(OutgoingLine::hook_denies(&id, FAILED)),
                Some("can_use_tool") => self.send(OutgoingLine::tool_denied(&id, FAILED)),
                _ => self.send(OutgoingLine::failure(
                    &id,
                    "this host does not know the request",
                )),
            },
        }
    }

    /// Stops working on a question that the program has withdrawn.
    pub(super) fn withdraw(&mut self, request_id: &str) {
        if let Some(task) = self.open.remove(request_id) {
            task.abort();
        }
    }

    fn send(&self, line: OutgoingLine) {
        let _ = self.writer.send(line);
    }

    fn hook(&mut self, id: String, hook: &HookCallback<'_>) {
        let Some(call) = self.shared.call_of(hook) else {
            return self.send(OutgoingLine::hook_denies(&id, FAILED));
        };
        let shared = self.shared.clone();
        let (refused, answered) = (id.clone(), id.clone());
        let otherwise = move || OutgoingLine::hook_denies(&refused, FAILED);
        self.work(id, otherwise, Some(self.limit), async move {
            match shared.decide(&call).await {
                Ok(()) => OutgoingLine::hook_allows(&answered),
                Err(reason) => OutgoingLine::hook_denies(&answered, &reason),
            }
        });
    }

    fn mcp(&mut self, id: String, message: &McpMessage<'_>) {
        let is_ours = message.server_name.as_deref() == Some(Toolbox::SERVER);
        let Some(message) = message
            .message
            .and_then(|message| message.value())
            .filter(|_| is_ours)
        else {
            return self.send(OutgoingLine::failure(&id, "there is no such server here"));
        };
        match self.shared.mcp.receive(&message) {
            Incoming::Answer(answer) => self.send(OutgoingLine::mcp_response(&id, &answer)),
            Incoming::Cancelled(call) => {
                if let Some(cancelled) = self.calls.remove(&call.to_string()) {
                    cancelled.cancel();
                }
                let noted = json!({"jsonrpc": "2.0", "result": {}});
                self.send(OutgoingLine::mcp_response(&id, &noted));
            }
            Incoming::Call(request) => self.tool(id, request),
        }
    }

    fn tool(&mut self, id: String, request: ToolCallRequest) {
        let cancelled = self.over.child_token();
        self.calls.retain(|_, cancelled| !cancelled.is_cancelled());
        self.calls.insert(request.id.to_string(), cancelled.clone());
        let shared = self.shared.clone();
        let (refused, answered) = (id.clone(), id.clone());
        let message_id = request.id.clone();
        let otherwise = move || OutgoingLine::mcp_response(&refused, &refusal(&message_id, FAILED));
        // A tool of ours takes as long as it takes; it can be cancelled.
        self.work(id, otherwise, None, async move {
            // When it is over, nobody needs to be able to cancel it.
            let _over = cancelled.clone().drop_guard();
            let answer = shared.call_tool(&request, cancelled).await;
            OutgoingLine::mcp_response(&answered, &answer)
        });
    }

    /// Works on a question and sends the answer: `otherwise` if that fails or takes too long, and
    /// none if the question is withdrawn.
    fn work(
        &mut self,
        id: String,
        otherwise: impl FnOnce() -> OutgoingLine + Send + 'static,
        limit: Option<Duration>,
        work: impl Future<Output = OutgoingLine> + Send + 'static,
    ) {
        let writer = self.writer.clone();
        let task = tokio::spawn(async move {
            let work = AssertUnwindSafe(work).catch_unwind();
            let answer = match limit {
                Some(limit) => tokio::time::timeout(limit, work).await.ok(),
                None => Some(work.await),
            };
            let answer = answer.and_then(Result::ok).unwrap_or_else(otherwise);
            let _ = writer.send(answer);
        });
        self.open.insert(id, task.abort_handle());
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.over.cancel();
        for task in self.open.values() {
            task.abort();
        }
    }
}

impl Shared {
    /// Makes the call that a hook is asked about.
    fn call_of(&self, hook: &HookCallback<'_>) -> Option<ToolCall> {
        let input = hook.input.as_ref()?;
        let arguments = match input.tool_input {
            None => Value::Object(Map::new()),
            Some(arguments) => arguments.value()?,
        };
        let call_id = input.tool_use_id.as_deref()?;
        let name = input.tool_name.as_deref()?;
        let mut call = self.spec.tool_call(call_id, name, arguments);
        // Where a shell command went earlier, relative paths start now.
        if let Some(directory) = input.cwd.as_deref() {
            call = call.in_dir(directory);
        }
        // The gate tells of the call; before that it has its place below the sub-agent's.
        if let Some(agent) = input.agent_id.as_deref()
            && let Some(parent) = self.origins().call_of_agent(agent)
        {
            self.spec.events.call_within(call_id, parent);
        }
        if let Some(agent) = input.agent_type.as_deref().or(input.agent_id.as_deref()) {
            call = call.by_agent(agent);
        }
        Some(call)
    }

    async fn decide(&self, call: &ToolCall) -> Result<(), String> {
        if !self.trusted.load(std::sync::atomic::Ordering::SeqCst) {
            return Err("the session is not ready, so nothing is allowed".into());
        }
        match self.spec.gate.decide(call).await {
            GateDecision::Allow { .. } => {
                if self.serves(&call.name) {
                    self.allowed().insert(call.id.clone(), call.agent.clone());
                }
                Ok(())
            }
            GateDecision::Deny { reason, .. } => {
                // It will not come back for it.
                self.origins().take_message(&call.id);
                let _ = self.denied.send(call.id.clone());
                Err(reason)
            }
        }
    }

    /// Tells whether a tool is served here, so that its calls come back.
    fn serves(&self, name: &str) -> bool {
        let mut tools = self.spec.tools.definitions();
        tools.any(|tool| Toolbox::qualified_name(&tool.name) == name)
    }

    async fn call_tool(&self, request: &ToolCallRequest, cancelled: CancellationToken) -> Value {
        let call_id = request.call_id.clone().unwrap_or_default();
        let asked = match call_id.is_empty() {
            true => None,
            false => self.allowed().remove(&call_id),
        };
        // The hook was asked before; if not, it is asked now.
        if asked.is_none() {
            let name = Toolbox::qualified_name(&request.tool);
            let call = self
                .spec
                .tool_call(call_id.clone(), name, request.arguments.clone());
            if let Err(reason) = self.decide(&call).await {
                return refusal(&request.id, &reason);
            }
        }
        let message = self.origins().take_message(&call_id);
        let mut context = ToolContext::new(self.spec.key.clone())
            .with_call_id(call_id)
            .with_cancellation(cancelled);
        if let Some(message) = message {
            context = context.with_message_id(message);
        }
        if let Some(Some(agent)) = asked {
            context = context.with_agent(agent);
        }
        self.mcp.call(request, context).await
    }

    fn origins(&self) -> std::sync::MutexGuard<'_, Origins> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allowed(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<String>>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
