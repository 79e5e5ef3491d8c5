//! The agents with which session hosts are tried.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentSessionId, Capabilities, CostUsd,
    GateDecision, HookCoverage, InstructionName, MessageStream, NoControl, Prompt, SessionControl,
    SessionOutcome, SessionSpec, StreamEvent, Support, ToolContext, ToolStatus, Toolbox,
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::ground::{BEGUN, GONE, Signs, TOLD, TRIED};

/// What a session of the suite is told to do. It stands in its prompt.
pub(super) mod does {
    /// Ends at once.
    pub(in super::super) const GIVE: &str = "[conformance: give]";
    /// Ends once it is released.
    pub(in super::super) const HOLD: &str = "[conformance: hold]";
    /// Plans a deliverable, once it is released.
    pub(in super::super) const PLAN: &str = "[conformance: plan]";
}

/// What persons tell an agent of the suite.
pub(super) const MESSAGE: &str = "[conformance: the tests come first]";

/// The agents with which [`session_host`](super::session_host) tries a host.
///
/// What they do stands in their prompts. What becomes of them they write down in a folder, so that
/// they may be in another process than the suite.
#[derive(Clone, Debug)]
pub struct HostedAgents {
    signs: Signs,
}

impl HostedAgents {
    /// Makes agents that write down what becomes of them in the folder
    /// [`HostGround::signs`](super::HostGround::signs).
    pub fn at(signs: &Path) -> Self {
        Self {
            signs: Signs::in_folder(signs),
        }
    }
}

#[async_trait]
impl AgentClientFactory for HostedAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("hosted agents")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            // A project has a browser by default. These agents do not use it.
            .with_mcp_servers(Support::Yes)
            .with_in_process_tools(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Ok(Box::new(HostedAgent {
            life: Life(self.signs.clone()),
            spec,
        }))
    }
}

struct HostedAgent {
    spec: SessionSpec,
    life: Life,
}

/// Writes down that an agent is gone.
struct Life(Signs);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.note(GONE);
    }
}

#[async_trait]
impl AgentClient for HostedAgent {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (spec, signs) = (&self.spec, &self.life.0);
        let begun = StreamEvent::started(AgentSessionId::new("hosted"), spec.model.clone());
        let end = StreamEvent::end(SessionOutcome::Completed, Some(CostUsd::from_cents(5)));
        let working = stream::once(work(spec, signs, prompt.text)).flat_map(stream::iter);
        stream::iter([begun, StreamEvent::text("I begin.")])
            .chain(working)
            .chain(stream::iter([end]))
            .map(Ok)
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

async fn work(spec: &SessionSpec, signs: &Signs, prompt: String) -> Vec<StreamEvent> {
    if prompt.contains(MESSAGE) {
        signs.note(TOLD);
    }
    signs.note(BEGUN);
    if prompt.contains(does::GIVE) {
        return Vec::new();
    }
    signs.until_released().await;
    match spec.instruction {
        InstructionName::Initializer => {
            let planned = plan(spec).await;
            signs.note(TRIED);
            planned
        }
        _ => Vec::new(),
    }
}

/// Writes a deliverable to the ledger, as far as it may.
async fn plan(spec: &SessionSpec) -> Vec<StreamEvent> {
    let (id, tool) = ("call-1", "create");
    let name = Toolbox::qualified_name(tool);
    let input = deliverables();
    let call = spec.tool_call(id, &name, input.clone());
    let (status, output) = match spec.gate.decide(&call).await {
        GateDecision::Deny { reason, .. } => (ToolStatus::Denied, reason),
        GateDecision::Allow { .. } => {
            let context = ToolContext::new(spec.key.clone()).with_call_id(id);
            match spec.tools.call(tool, input.clone(), context).await {
                Ok(output) => (ToolStatus::Ok, output.output),
                Err(error) => (ToolStatus::Error, error.to_string()),
            }
        }
    };
    vec![
        StreamEvent::tool_invocation(id, &name, input),
        StreamEvent::tool_response(id, output, status),
    ]
}

fn deliverables() -> Value {
    json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]})
}
