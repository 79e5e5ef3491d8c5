//! Test fixture: a session with a scripted model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::agent::{Sandbox, SessionOutcome, TokenUsage};
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::{SeededIds, SessionKey};
use autonoe_core::tool::{ToolDefinition, ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Budget, RunId, SessionSpec, StreamEvent, Tool,
    ToolContext, ToolError, ToolOutput,
};
use autonoe_model::contract::{AssistantMessage, CallUsage, ModelIdentity};
use autonoe_model::{
    Message, MessagePart, ModelAgentOptions, ModelBackend, ModelClient, ModelError, ModelEvent,
    ModelReply, ModelRequest, ModelStream, Provider, StopReason,
};
use autonoe_testkit::VirtualClock;
use futures::{StreamExt, stream};
use serde_json::{Value, json};

/// Behaviour of a model on a request.
pub(crate) enum Answer {
    Replies(ModelReply),
    Fails(ModelError),
    /// Hangs without any event.
    Hangs,
    /// Reports this usage, and hangs.
    HangsAfter(TokenUsage),
    /// Reports this usage, and fails.
    FailsAfter(TokenUsage, ModelError),
    /// Ends the stream without any event.
    Ends,
}

/// Returns an answer that uses ten prompt tokens and ten output tokens.
pub(crate) fn reply(parts: impl IntoIterator<Item = MessagePart>) -> Answer {
    Answer::Replies(ModelReply::new(AssistantMessage::new(parts)).with_usage(used(10)))
}

pub(crate) fn text_reply(text: &str) -> Answer {
    reply([MessagePart::text(text)])
}

pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Answer {
    reply(
        calls
            .iter()
            .map(|(id, name, input)| MessagePart::tool_call(*id, *name, input.clone())),
    )
}

/// Sets the stop reason of an answer.
pub(crate) fn with_stop(answer: Answer, stop: StopReason) -> Answer {
    match answer {
        Answer::Replies(reply) => Answer::Replies(reply.with_stop(stop)),
        other => other,
    }
}

/// Sets the usage of an answer.
pub(crate) fn with_usage(answer: Answer, usage: impl Into<CallUsage>) -> Answer {
    match answer {
        Answer::Replies(reply) => Answer::Replies(reply.with_usage(usage)),
        other => other,
    }
}

pub(crate) fn used(tokens: u64) -> TokenUsage {
    TokenUsage {
        input: tokens,
        output: tokens,
        ..TokenUsage::default()
    }
}

/// Answers of a model by request.
type Script = Box<dyn FnMut(&ModelRequest) -> Answer + Send>;

/// A model that follows a script, and records its requests.
///
/// It is as strict as the models of providers: a call without its result fails the test.
pub(crate) struct ScriptedModel {
    identity: ModelIdentity,
    script: Mutex<Script>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub(crate) fn following(
        script: impl FnMut(&ModelRequest) -> Answer + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            identity: ModelIdentity::new("scripted", "model"),
            script: Mutex::new(Box::new(script)),
            requests: Mutex::default(),
        })
    }

    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        Self::following(move |_| answers.pop_front().expect("it is asked no more than that"))
    }

    /// Returns all requests.
    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().expect("no panic").clone()
    }
}

/// Asserts that every call is directly followed by its result.
pub(crate) fn assert_paired(messages: &[Message]) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Results { results } => {
                let ids: Vec<_> = results.iter().map(|it| it.call_id.clone()).collect();
                assert_eq!(ids, open, "results of other calls");
                open.clear();
            }
            Message::Assistant(answer) => {
                assert!(open.is_empty(), "{open:?} have no results");
                open = answer.calls().map(|(id, _, _)| id.to_owned()).collect();
            }
            _ => assert!(open.is_empty(), "{open:?} have no results"),
        }
    }
    assert!(open.is_empty(), "{open:?} have no results");
}

impl ModelClient for ScriptedModel {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        assert_paired(&request.messages);
        self.requests
            .lock()
            .expect("no panic")
            .push(request.clone());
        match (self.script.lock().expect("no panic"))(request) {
            Answer::Replies(reply) => {
                let text = ModelEvent::Text(reply.message.to_text());
                stream::iter([Ok(text), Ok(ModelEvent::Done(Box::new(reply)))]).boxed()
            }
            Answer::Fails(error) => stream::iter([Err(error)]).boxed(),
            Answer::Hangs => stream::pending().boxed(),
            Answer::HangsAfter(tokens) => stream::iter([Ok(ModelEvent::Usage(tokens))])
                .chain(stream::pending())
                .boxed(),
            Answer::FailsAfter(tokens, error) => {
                stream::iter([Ok(ModelEvent::Usage(tokens)), Err(error)]).boxed()
            }
            Answer::Ends => stream::empty().boxed(),
        }
    }
}

struct Serves(Arc<ScriptedModel>);

impl Provider for Serves {
    fn name(&self) -> &str {
        "scripted"
    }

    fn model(&self, _: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
        Ok(self.0.clone())
    }
}

/// Behaviour of a test tool.
type Does = Box<
    dyn Fn(Value, ToolContext) -> futures::future::BoxFuture<'static, Result<ToolOutput, ToolError>>
        + Send
        + Sync,
>;

/// A test tool.
pub(crate) struct TestTool {
    definition: ToolDefinition,
    does: Does,
}

impl TestTool {
    pub(crate) fn reads<R>(
        name: &str,
        does: impl Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    ) -> Arc<dyn Tool>
    where
        R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let definition = ToolDefinition::new(name, "For a test.", json!({"type": "object"}));
        Arc::new(Self {
            definition: definition.read_only(),
            does: Box::new(move |input, context| Box::pin(does(input, context))),
        })
    }

    pub(crate) fn writes<R>(
        name: &str,
        does: impl Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    ) -> Arc<dyn Tool>
    where
        R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let definition = ToolDefinition::new(name, "For a test.", json!({"type": "object"}));
        Arc::new(Self {
            definition,
            does: Box::new(move |input, context| Box::pin(does(input, context))),
        })
    }
}

#[async_trait]
impl Tool for TestTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        (self.does)(input, context.clone()).await
    }
}

/// Returns a tool that echoes the text of its input.
pub(crate) fn echo() -> Arc<dyn Tool> {
    TestTool::reads("Echo", async |input, _| {
        Ok(ToolOutput::new(input["text"].as_str().unwrap_or_default()))
    })
}

/// Returns agents on `model` with `tools`, in virtual time.
pub(crate) fn agents(
    model: &Arc<ScriptedModel>,
    tools: impl IntoIterator<Item = Arc<dyn Tool>>,
    change: impl FnOnce(&mut ModelAgentOptions),
) -> ModelBackend {
    let mut options = ModelAgentOptions::new(Arc::new(Serves(model.clone())), "model");
    options.tools = tools.into_iter().collect();
    options.clock = Arc::new(VirtualClock::new());
    options.ids = Arc::new(SeededIds::new(7));
    change(&mut options);
    ModelBackend::new(options)
}

/// Returns a session that grants the tools Echo, Read and Write.
pub(crate) fn spec(budget: Budget) -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let grants = ["Echo", "Look", "Change", "Slow"]
        .into_iter()
        .fold(Grants::none(), |grants, tool| grants.with_tool(tool));
    let gate = Gate::new(ProjectPaths::new("/srv/project"), grants);
    let mut spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
    spec.budget = budget;
    // These agents run no commands, so they claim no sandbox for them.
    spec.sandbox = Sandbox::Off;
    spec
}

/// Recorded turn.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) error: Option<AgentError>,
}

impl Turn {
    pub(crate) fn outcome(&self) -> Option<&SessionOutcome> {
        match self.events.last() {
            Some(StreamEvent::End { outcome, .. }) => Some(outcome),
            _ => None,
        }
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            StreamEvent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the results of the calls: ID, output and status.
    pub(crate) fn responses(&self) -> Vec<(&str, &str, ToolStatus)> {
        let responses = self.events.iter().filter_map(|event| match event {
            StreamEvent::ToolResponse {
                call_id,
                output,
                status,
                ..
            } => Some((call_id.as_str(), output.as_str(), *status)),
            _ => None,
        });
        responses.collect()
    }

    pub(crate) fn warnings(&self) -> Vec<&str> {
        let warnings = self.events.iter().filter_map(|event| match event {
            StreamEvent::Warning { message, .. } => Some(message.as_str()),
            _ => None,
        });
        warnings.collect()
    }

    pub(crate) fn tokens(&self) -> u64 {
        let used = self.events.iter().map(|event| match event {
            StreamEvent::Usage { tokens, .. } => tokens.total(),
            _ => 0,
        });
        used.sum()
    }

    /// Asserts the invariants of every turn: it starts unless its conversation is lost, every call
    /// is answered once, and it ends once.
    pub(crate) fn assert_well_formed(&self) {
        let error = self.error.as_ref();
        let is_lost = error.and_then(AgentError::remedy) == Some("start a new conversation");
        match self.events.first() {
            None => assert!(is_lost, "{error:?}"),
            first => assert!(matches!(first, Some(StreamEvent::Started { .. }))),
        }
        let mut open: Vec<&str> = Vec::new();
        for event in &self.events {
            match event {
                StreamEvent::ToolInvocation { call_id, .. } => open.push(call_id),
                StreamEvent::ToolResponse { call_id, .. } => {
                    let at = open.iter().position(|id| id == call_id);
                    open.remove(at.unwrap_or_else(|| panic!("{call_id} is answered unasked")));
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?} are not answered");
        let ends = self
            .events
            .iter()
            .filter(|it| matches!(it, StreamEvent::End { .. }));
        assert_eq!(ends.count() + usize::from(self.error.is_some()), 1);
    }
}

/// Runs a prompt to its end.
pub(crate) async fn turn_of(client: &mut dyn AgentClient, prompt: &str) -> Turn {
    let mut turn = Turn {
        events: Vec::new(),
        error: None,
    };
    let mut stream = client.query(prompt.into());
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => turn.events.push(event),
            Err(error) => turn.error = Some(error),
        }
    }
    turn.assert_well_formed();
    turn
}

/// Runs one prompt in a separate session.
pub(crate) async fn one_turn(agents: &ModelBackend, prompt: &str) -> Turn {
    turn_in(agents, spec(Budget::default()), prompt).await
}

/// Runs one prompt in the session of `spec`.
pub(crate) async fn turn_in(agents: &ModelBackend, spec: SessionSpec, prompt: &str) -> Turn {
    let mut client = agents.create(spec).expect("it can be made");
    let turn = turn_of(client.as_mut(), prompt).await;
    client.dispose().await.expect("it ends");
    turn
}
