//! The smallest backend: agents without a model that request to run their prompt as a command.
//!
//! Every call goes through the session's gate. Run it with `cargo run --example own_backend`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, Sandbox, SessionControl, SessionOutcome, Support,
};
use autonoe_core::futures::{StreamExt, stream};
use autonoe_core::gate::GateDecision;
use autonoe_core::gate::policy::PolicyConfig;
use autonoe_core::run::FlowExit;
use autonoe_core::session::FlowStart;
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, RunControl,
    SessionOrder, SessionRunner, SessionSpec, StreamEvent, async_trait,
};
use serde_json::json;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinSet;

/// Creates clients with these capabilities. A session that requests anything else is refused.
struct EchoBackend(Capabilities);

#[async_trait]
impl AgentClientFactory for EchoBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(self.0.clone())
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        spec.refuse_unclaimed(&self.0)?;
        Ok(Box::new(EchoClient(spec)))
    }
}

/// One session.
struct EchoClient(SessionSpec);

#[async_trait]
impl AgentClient for EchoClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (events, received) = mpsc::unbounded_channel();
        // The turn runs in a task, so that it proceeds while the stream is not polled. Dropping the
        // stream drops the set, which ends the task.
        let mut task = JoinSet::new();
        task.spawn(turn(self.0.clone(), prompt, events));
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

async fn turn(spec: SessionSpec, prompt: Prompt, events: UnboundedSender<StreamEvent>) {
    // Sending fails once the stream is dropped: the session was stopped.
    let send = |event: StreamEvent| drop(events.send(event));
    send(StreamEvent::started(AgentSessionId::new("echo-1"), None));
    let input = json!({"command": prompt.text});
    send(StreamEvent::tool_invocation("1", "Bash", input.clone()));
    let call = spec.tool_call("1", "Bash", input);
    let (status, output) = match spec.gate.decide(&call).await {
        // Your agent runs the command here.
        GateDecision::Allow { .. } => (ToolStatus::Ok, "this agent has no shell".to_owned()),
        GateDecision::Deny { reason, .. } => (ToolStatus::Denied, reason),
    };
    send(StreamEvent::tool_response("1", &output, status));
    send(StreamEvent::text(format!("{status:?}: {output}")));
    send(StreamEvent::end(SessionOutcome::Completed, None));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let claims = Capabilities::new("echo").with_hooks(HookCoverage::EveryTool);
    let sessions = SessionRunner::builder(std::env::current_dir()?)
        .agents(EchoBackend(claims.with_in_process_tools(Support::Yes)))
        .bash_policy(PolicyConfig::default())
        // This backend has no sandbox.
        .sandbox(Sandbox::Off)
        .build_sessions()?;
    let (start, control) = (FlowStart::new("echo"), RunControl::new());
    let mut open = sessions.open(start, &control).await?;
    println!("{}", open.run(SessionOrder::new("rm -rf /")).await.answer);
    open.close(FlowExit::Completed, json!({}));
    Ok(())
}
