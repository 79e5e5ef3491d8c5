//! The smallest backend: an agent without a model that plans and ticks off what it planned.
//!
//! Every call goes through the session's gate, and our tools through its
//! toolbox. Run it with `cargo run --example own_backend`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::futures::{StreamExt, stream};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentSessionId, Capabilities, FixedInstructions,
    GateDecision, HookCoverage, InstructionName, MemoryRepository, MessageStream, NoControl,
    Prompt, RunControl, RunEvent, RunEventKind, Sandbox, SessionControl, SessionOutcome,
    SessionRunner, SessionSpec, StreamEvent, Support, ToolCall, ToolContext, ToolStatus, Toolbox,
    async_trait,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinSet;

/// Makes parrots.
struct Parrots;

impl Parrots {
    /// What parrots can do. A session that asks for anything else is refused.
    fn claims() -> Capabilities {
        Capabilities::new("parrots")
            .with_hooks(HookCoverage::EveryTool)
            .with_cost(Support::Yes)
            .with_in_process_tools(Support::Yes)
    }
}

#[async_trait]
impl AgentClientFactory for Parrots {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Self::claims())
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        spec.refuse_unclaimed(&Self::claims())?;
        Ok(Box::new(Parrot { spec }))
    }
}

/// One session.
struct Parrot {
    spec: SessionSpec,
}

#[async_trait]
impl AgentClient for Parrot {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (events, received) = mpsc::unbounded_channel();
        // A task of its own: gate and tools get on whether or not the stream
        // is polled. The set ends it when the stream is dropped.
        let mut task = JoinSet::new();
        task.spawn(
            Turn {
                spec: self.spec.clone(),
                events,
                calls: 0,
            }
            .take(prompt),
        );
        stream::unfold((received, task), |(mut received, task)| async move {
            Some((Ok(received.recv().await?), (received, task)))
        })
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

/// What a parrot does with one prompt.
struct Turn {
    spec: SessionSpec,
    events: UnboundedSender<StreamEvent>,
    calls: u32,
}

impl Turn {
    async fn take(mut self, prompt: Prompt) {
        let session = AgentSessionId::new(self.spec.key.to_string());
        self.send(StreamEvent::started(session, None));
        self.send(StreamEvent::text(prompt.text));
        self.shell("rm -rf /").await;
        if self.spec.instruction == InstructionName::Initializer {
            let plan = json!({"deliverables": [
                {"id": "DL-001", "description": "Speech", "acceptanceCriteria": ["it talks"]},
            ]});
            self.tool("create", plan).await;
        } else {
            self.tool("list", json!({"filter": {"status": "pending"}}))
                .await;
            let passed = json!({"deliverableId": "DL-001", "status": "passed"});
            self.tool("set_status", passed).await;
        }
        let cost = Some(autonoe_core::CostUsd::ZERO);
        self.send(StreamEvent::end(SessionOutcome::Completed, cost));
    }

    /// Asks to use a shell. There is none, so a parrot only learns whether it might.
    async fn shell(&mut self, command: &str) {
        let call = self.call("Bash".to_owned(), json!({ "command": command }));
        let (status, output) = match self.spec.gate.decide(&call).await {
            GateDecision::Allow { .. } => (ToolStatus::Error, "parrots have no shell".to_owned()),
            GateDecision::Deny { by, reason, .. } => {
                (ToolStatus::Denied, format!("{by}: {reason}"))
            }
        };
        self.send(StreamEvent::tool_response(call.id, output, status));
    }

    /// Uses one of our tools.
    async fn tool(&mut self, tool: &str, input: Value) {
        let call = self.call(Toolbox::qualified_name(tool), input);
        let (status, output) = match self.spec.gate.decide(&call).await {
            GateDecision::Allow { .. } => {
                let context = ToolContext::new(call.session).with_call_id(&call.id);
                match self.spec.tools.call(tool, call.input, context).await {
                    Ok(output) => (ToolStatus::Ok, output.output),
                    Err(error) => (ToolStatus::Error, error.to_string()),
                }
            }
            GateDecision::Deny { by, reason, .. } => {
                (ToolStatus::Denied, format!("{by}: {reason}"))
            }
        };
        self.send(StreamEvent::tool_response(call.id, output, status));
    }

    /// Tells of a call and describes it to the gate: all that hooks look at is filled in.
    fn call(&mut self, name: String, input: Value) -> ToolCall {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let call = self.spec.tool_call(id, name, input);
        self.send(StreamEvent::tool_invocation(
            call.id.clone(),
            call.name.clone(),
            call.input.clone(),
        ));
        call
    }

    fn send(&self, event: StreamEvent) {
        // Nobody listens any more when the session was stopped.
        let _ = self.events.send(event);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(Parrots)
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new([
            (InstructionName::Initializer, "Polly wants a plan."),
            (InstructionName::Coding, "Polly wants a cracker."),
        ]))
        // Parrots have no sandbox of their own, and nothing to put in one.
        .sandbox(Sandbox::Off)
        .observer(|event: &RunEvent<'_>| {
            if let RunEventKind::Agent { stream } = &event.kind {
                println!("{stream:?}");
            }
        })
        .pause_between_sessions(Duration::ZERO)
        .build()?;
    let report = runner.run(&RunControl::new()).await;

    println!("\n{report}");
    Ok(())
}
