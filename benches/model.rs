//! Overhead of `ModelBackend` over a bare model: per piece of a streamed answer, and per tool round.
//! Both are measured alternately in the same run.
//!
//! `cargo bench -p autonoe-benches --bench model`

#![allow(clippy::print_stdout)] // A benchmark prints its table.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::event::Events;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::{SeededIds, SessionKey, SystemClock};
use autonoe_core::tool::{ToolDefinition, Toolbox};
use autonoe_core::{
    AgentClientFactory, RunEvent, RunId, RunObserver, SessionSpec, StreamEvent, Tool, ToolContext,
    ToolError, ToolOutput,
};
use autonoe_model::contract::{AssistantMessage, ModelIdentity, ToolResult};
use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_model::{
    Message, MessagePart, ModelAgentOptions, ModelBackend, ModelClient, ModelError, ModelEvent,
    ModelReply, ModelRequest, ModelStream, Provider,
};
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, MainRequests, ModelScript, ScriptedMessage, Turn,
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The pieces of an answer. Each has about as many characters as a token.
const PIECES: usize = 2_000;
const PIECE: usize = 5;
/// The calls of a session, one in each answer.
const CALLS: usize = 40;

fn main() {
    // `cargo test --benches` runs this too: then once, with small sizes.
    let testing = !std::env::args().any(|argument| argument == "--bench");
    let rounds = if testing { 1 } else { 101 };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!(
        "| what | without agents | with `ModelBackend` | ratio (quartiles) | added for each |"
    );
    println!("| --- | --- | --- | --- | --- |");
    let in_memory = || Arc::new(InMemory(ModelIdentity::new("memory", "model")));
    let server = AnthropicServer::start(script());
    let provider = served(&server);
    let providers: [(&str, Arc<dyn Provider>); 2] = [
        ("a model in memory", Arc::new(Serves(in_memory()))),
        ("Anthropic's protocol from a loopback server", provider),
    ];
    for (name, provider) in providers {
        let title = format!("{PIECES} pieces of an answer, {name}");
        compare(&runtime, &title, &provider, "Say it.", PIECES, rounds);
        let title = format!("{CALLS} rounds of a tool, {name}");
        compare(&runtime, &title, &provider, "Call it.", CALLS, rounds);
    }
}

/// Measures both alternately, so that both run under the same machine load.
fn compare(
    runtime: &Runtime,
    name: &str,
    provider: &Arc<dyn Provider>,
    prompt: &str,
    parts: usize,
    rounds: usize,
) {
    let model = provider.model("model").expect("a model");
    let mut options = ModelAgentOptions::new(provider.clone(), "model");
    options.tools = vec![Arc::new(Echo::default())];
    options.max_rounds = u32::MAX;
    // The same system prompt, so that the same bytes are sent.
    options.system_prompt = Some(SYSTEM.to_owned());
    let agents = ModelBackend::new(options);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    // The first round is not counted: it opens connections and fills caches.
    for round in 0..=rounds {
        let bare = timed(|| runtime.block_on(send_prompt(&*model, prompt)));
        let agent = timed(|| runtime.block_on(session(&agents, prompt)));
        if round > 0 {
            without.push(bare);
            with.push(agent);
        }
    }
    let mut ratios: Vec<f64> = with
        .iter()
        .zip(&without)
        .map(|(with, without)| with.as_secs_f64() / without.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let at = |quarters: usize| ratios[ratios.len() * quarters / 4];
    let (without, with) = (median(&mut without), median(&mut with));
    let added = (with.as_secs_f64() - without.as_secs_f64()) * 1e6 / parts as f64;
    println!(
        "| {name} | {} | {} | {:.2} ({:.2} to {:.2}) | {added:.2} us |",
        millis(without),
        millis(with),
        at(2),
        at(1),
        at(3),
    );
}

const SYSTEM: &str = "Do as you are told.";

/// A program without agents: it sends the prompt, executes the calls itself, and continues.
async fn send_prompt(model: &dyn ModelClient, prompt: &str) {
    let echo = Echo::default();
    let mut request = ModelRequest::prompt(prompt)
        .with_system(SYSTEM.to_owned())
        .with_tools([echo.0.clone()]);
    loop {
        let mut answer = model.stream(&request);
        let mut whole = None;
        while let Some(event) = answer.next().await {
            if let ModelEvent::Done(reply) = event.expect("it answers") {
                whole = Some(reply);
            }
        }
        let message = whole.expect("it is whole").message;
        let calls = message.calls();
        let results: Vec<_> = calls
            .map(|(id, name, input)| ToolResult::ok(id, name, text_of(input)))
            .collect();
        if results.is_empty() {
            return;
        }
        request.messages.push(message.into());
        request.messages.push(Message::results(results));
    }
}

/// The same with an agent: its gate decides every call, and one observer is attached.
async fn session(agents: &ModelBackend, prompt: &str) {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::none().with_tool("Echo"),
    );
    let mut spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
    let watch: Arc<dyn RunObserver> = Arc::new(|event: &RunEvent<'_>| {
        black_box(event.at);
    });
    spec.events = Events::new(
        vec![watch],
        Arc::new(SystemClock),
        Arc::new(SeededIds::new(1)),
    );
    let mut client = agents.create(spec).expect("a client");
    let mut outcome = None;
    let mut events = client.query(prompt.into());
    while let Some(event) = events.next().await {
        if let StreamEvent::End { outcome: end, .. } = event.expect("no error") {
            outcome = Some(end);
        }
    }
    drop(events);
    client.dispose().await.expect("it ends");
    assert_eq!(outcome, Some(SessionOutcome::Completed));
}

/// Returns its text.
struct Echo(ToolDefinition);

impl Default for Echo {
    fn default() -> Self {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        Self(ToolDefinition::new("Echo", "Gives back its text.", schema).read_only())
    }
}

#[async_trait]
impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(text_of(&input)))
    }
}

fn text_of(input: &Value) -> &str {
    input["text"].as_str().unwrap_or_default()
}

fn input() -> Value {
    json!({"text": "a line of text as a tool may return it"})
}

/// Answers from memory, so that the agent takes most of the time.
struct InMemory(ModelIdentity);

impl ModelClient for InMemory {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        let is_text =
            matches!(request.messages.first(), Some(Message::User { text }) if text == "Say it.");
        let piece = "x".repeat(PIECE);
        let (pieces, message) = match request.messages.len() / 2 {
            _ if is_text => (PIECES, AssistantMessage::text(piece.repeat(PIECES))),
            CALLS => (0, AssistantMessage::text("")),
            number => {
                let call = MessagePart::tool_call(format!("call-{number}"), "Echo", input());
                (0, AssistantMessage::new([call]))
            }
        };
        let done = ModelEvent::Done(Box::new(ModelReply::new(message)));
        let pieces = stream::iter((0..pieces).map(move |_| Ok(ModelEvent::Text(piece.clone()))));
        pieces.chain(stream::iter([Ok(done)])).boxed()
    }
}

struct Serves(Arc<InMemory>);

impl Provider for Serves {
    fn name(&self) -> &str {
        "memory"
    }

    fn model(&self, _: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
        Ok(self.0.clone())
    }
}

/// The same answers, sent by a server.
fn script() -> ModelScript {
    ModelScript::from_fn(|prompt| {
        let says_text = prompt.user_texts().first() == Some(&"Say it.");
        match prompt.tool_results().len() {
            _ if says_text => {
                let text = "x".repeat(PIECE * PIECES);
                Turn::from(ScriptedMessage::new().says(text).in_pieces_of(PIECE))
            }
            CALLS => Turn::text("Done."),
            _ => Turn::tool("Echo", input()),
        }
    })
    .with_main_requests(MainRequests::All)
}

fn served(server: &AnthropicServer) -> Arc<dyn Provider> {
    let spec = json!({"type": "anthropic", "baseUrl": server.url(), "key": {"value": "sk-bench"}});
    let spec = provider_spec(&spec).expect("a spec");
    spec.build(&ProviderContext::new("anthropic"))
        .expect("a provider")
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
