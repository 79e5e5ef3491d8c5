//! Backend that works on every deliverable it finds.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, SessionControl, SessionOutcome, Support,
};
use autonoe_core::event::InstructionName;
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, MessageStream, SessionSpec,
    StreamEvent, ToolContext,
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};

/// A backend that works on every deliverable it finds and ignores errors.
#[derive(Clone, Default)]
pub(crate) struct Diligent {
    pub(crate) notes: Arc<Notes>,
}

/// A record of the backend's work.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) created: AtomicUsize,
    pub(crate) disposed: AtomicUsize,
    /// The deliverables that some call tried to set to passed.
    pub(crate) passed: Mutex<BTreeSet<String>>,
}

#[async_trait]
impl AgentClientFactory for Diligent {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("diligent")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            .with_in_process_tools(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.notes.created.fetch_add(1, Ordering::Relaxed);
        let notes = self.notes.clone();
        Ok(Box::new(Worker { notes, spec }))
    }
}

struct Worker {
    notes: Arc<Notes>,
    spec: SessionSpec,
}

#[async_trait]
impl AgentClient for Worker {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let (events, received) = mpsc::unbounded_channel();
        let work = tokio::spawn(work(self.notes.clone(), self.spec.clone(), events));
        let guard = AbortOnDrop(work);
        stream::unfold((received, guard), |(mut received, guard)| async move {
            let event = received.recv().await?;
            Some((Ok(event), (received, guard)))
        })
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.notes.disposed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Plans four deliverables, of which it works on three.
async fn work(notes: Arc<Notes>, spec: SessionSpec, events: UnboundedSender<StreamEvent>) {
    let number = spec.key.number;
    let session = AgentSessionId::new(format!("diligent-{number}"));
    let _ = events.send(StreamEvent::started(session, None));
    let _ = events.send(StreamEvent::text("I begin."));
    if spec.instruction == InstructionName::Initializer {
        let plan: Vec<Value> = (1..=4)
            .map(|n| json!({"id": format!("DL-{n}"), "description": "It", "acceptanceCriteria": ["it works"]}))
            .collect();
        call(&spec, &events, 1, "create", json!({"deliverables": plan})).await;
    } else {
        call(&spec, &events, 1, "list", json!({})).await;
        let id = format!("DL-{}", 1 + number % 3);
        notes
            .passed
            .lock()
            .expect("not poisoned")
            .insert(id.clone());
        let passed = json!({"deliverableId": id, "status": "passed"});
        call(&spec, &events, 2, "set_status", passed).await;
    }
    let cost = Some(CostUsd::from_cents(25));
    let _ = events.send(StreamEvent::end(SessionOutcome::Completed, cost));
}

async fn call(
    spec: &SessionSpec,
    events: &UnboundedSender<StreamEvent>,
    number: u32,
    tool: &str,
    input: Value,
) {
    let (id, name) = (format!("call-{number}"), Toolbox::qualified_name(tool));
    let _ = events.send(StreamEvent::tool_invocation(&id, &name, input.clone()));
    tokio::task::yield_now().await;
    let call = spec.tool_call(&id, name, input.clone());
    let (output, status) = if spec.gate.decide(&call).await.is_allowed() {
        let context = ToolContext::new(spec.key.clone()).with_call_id(&id);
        match spec.tools.call(tool, input, context).await {
            Ok(output) => (output.output, ToolStatus::Ok),
            Err(error) => (error.to_string(), ToolStatus::Error),
        }
    } else {
        ("no".to_owned(), ToolStatus::Denied)
    };
    let _ = events.send(StreamEvent::tool_response(id, output, status));
}
