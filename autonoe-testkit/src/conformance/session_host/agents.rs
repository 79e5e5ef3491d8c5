//! Agents used by the session host checks.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, SessionControl, SessionOutcome, Support,
};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::GateDecision;
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, MessageStream, SessionSpec,
    StreamEvent, ToolContext,
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::fixture::{ENDED, EventFolder, RECEIVED, STARTED, TRIED};

/// Actions of the suite's sessions, passed in the prompt.
pub(super) mod does {
    /// Ends at once.
    pub(in super::super) const GIVE: &str = "[conformance: give]";
    /// Ends once it is released.
    pub(in super::super) const HOLD: &str = "[conformance: hold]";
    /// Plans a deliverable once it is released.
    pub(in super::super) const PLAN: &str = "[conformance: plan]";
}

/// A steering message of the operator.
pub(super) const MESSAGE: &str = "[conformance: the tests come first]";

/// The agents that [`session_host`](super::session_host) uses.
///
/// Their prompts contain their actions. They record their lifecycle in a folder, so that they may
/// run in another process than the suite.
#[derive(Clone, Debug)]
pub struct HostedAgents {
    signs: EventFolder,
}

impl HostedAgents {
    /// Creates agents that record their lifecycle in the folder
    /// `HostProject::signs`.
    pub fn at(signs: &Path) -> Self {
        Self {
            signs: EventFolder::in_folder(signs),
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
            // A project has a browser by default, which these agents do not use.
            .with_mcp_servers(Support::Yes)
            .with_in_process_tools(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Ok(Box::new(HostedAgent {
            life: EndMarker(self.signs.clone()),
            spec,
        }))
    }
}

struct HostedAgent {
    spec: SessionSpec,
    life: EndMarker,
}

/// Records on drop that an agent has ended.
struct EndMarker(EventFolder);

impl Drop for EndMarker {
    fn drop(&mut self) {
        self.0.record(ENDED);
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

async fn work(spec: &SessionSpec, signs: &EventFolder, prompt: String) -> Vec<StreamEvent> {
    if prompt.contains(MESSAGE) {
        signs.record(RECEIVED);
    }
    signs.record(STARTED);
    if prompt.contains(does::GIVE) {
        return Vec::new();
    }
    signs.wait_for_release().await;
    match spec.instruction {
        InstructionName::Initializer => {
            let planned = plan(spec).await;
            signs.record(TRIED);
            planned
        }
        _ => Vec::new(),
    }
}

/// Tries to write a deliverable to the ledger.
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
