//! [`Answers`] to the control requests of the program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_backend::{AnswerTasks, FAILED_CHECK, decide_call};
use autonoe_core::tool::Toolbox;
use autonoe_core::{SessionSpec, ToolCall, ToolContext};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call_parents::CallParents;
use crate::mcp_server::{Incoming, McpServer, ToolCallRequest, refusal};
use crate::wire::{
    Block, ControlRequest, HookCallback, McpMessage, Message, OutgoingLine, RequestContent,
};

/// Answers the control requests of the program, each in a task of its own.
///
/// Every request gets an answer, whatever happens: if a hook does not answer or fails, the program
/// runs the tool.
pub(super) struct Answers {
    shared: Arc<Shared>,
    writer: mpsc::UnboundedSender<OutgoingLine>,
    /// Running answers, by the id of their request.
    open: AnswerTasks<String>,
    /// Running calls of our tools, by the id of their JSON-RPC message.
    calls: HashMap<String, CancellationToken>,
    over: CancellationToken,
}

struct Shared {
    spec: SessionSpec,
    mcp: McpServer,
    limit: Duration,
    /// Set once the session has shown that it has the requested settings.
    trusted: std::sync::atomic::AtomicBool,
    /// Calls of our tools that the gate allowed and that have not run yet, with the sub-agents that
    /// make them.
    allowed: Mutex<HashMap<String, Option<String>>>,
    origins: Mutex<CallParents>,
    denied: mpsc::UnboundedSender<String>,
}

impl Answers {
    /// Creates the answers of a session. Ids of denied calls are sent to `denied`.
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
                limit,
                trusted: std::sync::atomic::AtomicBool::new(false),
                allowed: Mutex::default(),
                origins: Mutex::default(),
                denied,
            }),
            writer,
            open: AnswerTasks::default(),
            calls: HashMap::new(),
            over: CancellationToken::new(),
        }
    }

    /// From now on, calls may be allowed.
    pub(super) fn trust(&self) {
        self.shared
            .trusted
            .store(true, std::sync::atomic::Ordering::SeqCst);
    }

    /// Observes messages about calls that the program may send requests for.
    pub(super) fn observe(&self, message: &Message<'_>) {
        self.shared
            .origins()
            .observe(message, |tool| self.shared.serves(tool));
        let Message::Assistant(assistant) = message else {
            return;
        };
        if let Some(parent) = assistant.parent_tool_use_id.as_deref() {
            for block in &assistant.blocks {
                if let Block::ToolUse(tool) = block {
                    self.shared.spec.events.set_call_parent(&tool.id, parent);
                }
            }
        }
    }

    /// Answers a request, when it is decided.
    pub(super) fn answer(&mut self, request: &ControlRequest<'_>) {
        let id = request.request_id.to_string();
        match &request.content {
            RequestContent::Hook(hook) => self.hook(id, hook),
            RequestContent::Mcp(message) => self.mcp(id, message),
            RequestContent::CanUseTool => {
                self.send(OutgoingLine::tool_denied(&id, FAILED_CHECK));
            }
            RequestContent::Unknown { subtype } => match subtype.as_deref() {
                Some("hook_callback") => self.send(OutgoingLine::hook_denies(&id, FAILED_CHECK)),
                Some("can_use_tool") => self.send(OutgoingLine::tool_denied(&id, FAILED_CHECK)),
                _ => self.send(OutgoingLine::failure(
                    &id,
                    "this host does not support the request",
                )),
            },
        }
    }

    /// Stops the answer to a request that the program has withdrawn.
    pub(super) fn withdraw(&mut self, request_id: &str) {
        self.open.abort(&request_id.to_owned());
    }

    fn send(&self, line: OutgoingLine) {
        let _ = self.writer.send(line);
    }

    fn hook(&mut self, id: String, hook: &HookCallback<'_>) {
        let Some(call) = self.shared.call_of(hook) else {
            return self.send(OutgoingLine::hook_denies(&id, FAILED_CHECK));
        };
        let shared = self.shared.clone();
        let denial = OutgoingLine::hook_denies(&id, FAILED_CHECK);
        self.work(id.clone(), denial, async move {
            match shared.decide(&call).await {
                Ok(()) => OutgoingLine::hook_allows(&id),
                Err(reason) => OutgoingLine::hook_denies(&id, &reason),
            }
        });
    }

    fn mcp(&mut self, id: String, message: &McpMessage<'_>) {
        let is_own_server = message.server_name.as_deref() == Some(Toolbox::SERVER);
        let Some(message) = message
            .message
            .and_then(|message| message.value())
            .filter(|_| is_own_server)
        else {
            return self.send(OutgoingLine::failure(&id, "unknown server"));
        };
        match self.shared.mcp.receive(&message) {
            Incoming::Answer(answer) => self.send(OutgoingLine::mcp_response(&id, &answer)),
            Incoming::Cancelled(call) => {
                if let Some(cancelled) = self.calls.remove(&call.to_string()) {
                    cancelled.cancel();
                }
                let acknowledged = json!({"jsonrpc": "2.0", "result": {}});
                self.send(OutgoingLine::mcp_response(&id, &acknowledged));
            }
            Incoming::Call(request) => self.tool(id, request),
        }
    }

    fn tool(&mut self, id: String, request: ToolCallRequest) {
        let cancelled = self.over.child_token();
        self.calls.retain(|_, cancelled| !cancelled.is_cancelled());
        self.calls.insert(request.id.to_string(), cancelled.clone());
        let shared = self.shared.clone();
        let denial = OutgoingLine::mcp_response(&id, &refusal(&request.id, FAILED_CHECK));
        // Our tools have no time limit; they can be cancelled.
        self.work(id.clone(), denial, async move {
            // A finished call must not be cancelled any more.
            let _over = cancelled.clone().drop_guard();
            let answer = shared.call_tool(&request, cancelled).await;
            OutgoingLine::mcp_response(&id, &answer)
        });
    }

    /// Runs an answer and sends it: `denial` if it panics, and none if the request is withdrawn.
    fn work(
        &mut self,
        id: String,
        denial: OutgoingLine,
        work: impl Future<Output = OutgoingLine> + Send + 'static,
    ) {
        let writer = self.writer.clone();
        let send = move |line| drop(writer.send(line));
        self.open.spawn(id, work, denial, send);
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl Shared {
    /// Creates the tool call of a hook request.
    fn call_of(&self, hook: &HookCallback<'_>) -> Option<ToolCall> {
        let input = hook.input.as_ref()?;
        let arguments = match input.tool_input {
            None => Value::Object(Map::new()),
            Some(arguments) => arguments.value()?,
        };
        let call_id = input.tool_use_id.as_deref()?;
        let name = input.tool_name.as_deref()?;
        let mut call = self.spec.tool_call(call_id, name, arguments);
        // Relative paths start at the directory to which an earlier shell command changed.
        if let Some(directory) = input.cwd.as_deref() {
            call = call.in_dir(directory);
        }
        // The gate emits events of the call, so its place below the sub-agent's call is set before.
        if let Some(agent) = input.agent_id.as_deref()
            && let Some(parent) = self.origins().call_of_agent(agent)
        {
            self.spec.events.set_call_parent(call_id, parent);
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
        let decided = decide_call(&self.spec.gate, call, self.limit).await;
        match &decided {
            Ok(()) if self.serves(&call.name) => {
                self.allowed().insert(call.id.clone(), call.agent.clone());
            }
            Ok(()) => {}
            Err(_) => {
                // The program will not call the tool.
                self.origins().take_message(&call.id);
                let _ = self.denied.send(call.id.clone());
            }
        }
        decided
    }

    /// Returns whether we serve a tool, so that its calls are sent to us.
    fn serves(&self, name: &str) -> bool {
        let mut tools = self.spec.tools.definitions();
        tools.any(|tool| Toolbox::qualified_name(&tool.name) == name)
    }

    async fn call_tool(&self, request: &ToolCallRequest, cancelled: CancellationToken) -> Value {
        let call_id = request.call_id.as_deref().filter(|id| !id.is_empty());
        let allowed_call = call_id.and_then(|id| self.allowed().remove(id));
        // Usually the hook request came before. Otherwise the gate decides now.
        if allowed_call.is_none() {
            let name = Toolbox::qualified_name(&request.tool);
            let id = call_id.unwrap_or_default();
            let call = self.spec.tool_call(id, name, request.arguments.clone());
            if let Err(reason) = self.decide(&call).await {
                return refusal(&request.id, &reason);
            }
        }
        let mut context = ToolContext::new(self.spec.key.clone()).with_cancellation(cancelled);
        if let Some(id) = call_id {
            context = context.with_call_id(id);
            let message = self.origins().take_message(id);
            if let Some(message) = message {
                context = context.with_message_id(message);
            }
        }
        if let Some(Some(agent)) = allowed_call {
            context = context.with_agent(agent);
        }
        self.mcp.call(request, context).await
    }

    fn origins(&self) -> std::sync::MutexGuard<'_, CallParents> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allowed(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<String>>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_testkit::program::PhotoTool;

    use super::*;

    #[tokio::test]
    async fn a_call_without_an_id_gets_none() {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let rule: PermissionRule = "mcp__autonoe__photo".parse().expect("a rule");
        let grants = Grants::none().with_rules([rule]);
        let gate = Gate::new(ProjectPaths::new("/srv/project"), grants);
        let camera = PhotoTool::new();
        let tools = Toolbox::new([camera.clone() as _]);
        let spec = SessionSpec::new(key, "/srv/project", gate, tools);
        let (writer, denied) = (mpsc::unbounded_channel().0, mpsc::unbounded_channel().0);
        let answers = Answers::new(spec, writer, denied, Duration::from_secs(60));
        answers.trust();

        for call_id in [None, Some("".to_owned()), Some("toolu_1".to_owned())] {
            let request = ToolCallRequest {
                id: json!(1),
                tool: "photo".to_owned(),
                arguments: json!({}),
                call_id,
            };
            let over = CancellationToken::new();
            answers.shared.call_tool(&request, over).await;
        }

        let contexts = camera.contexts().into_iter();
        let ids: Vec<_> = contexts.map(|context| context.call_id).collect();
        assert_eq!(ids, [None, None, Some("toolu_1".to_owned())]);
    }
}
