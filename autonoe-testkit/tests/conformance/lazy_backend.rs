//! Backend that works only while its stream is polled.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, SessionControl, SessionOutcome, Support,
};
use autonoe_core::gate::GateDecision;
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, SessionSpec,
    StreamEvent, ToolContext,
};
use autonoe_testkit::conformance::{AgentHarness, ProbeCall, Scenario, agent_client};
use futures::{StreamExt, stream};

struct LazyHarness;

#[async_trait]
impl AgentHarness for LazyHarness {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        match scenario {
            Scenario::Says { text } => Some(Arc::new(LazyAgents {
                text: text.clone(),
                calls: Vec::new(),
            })),
            Scenario::UsesTools { calls } => Some(Arc::new(LazyAgents {
                text: "working".to_owned(),
                calls: calls.clone(),
            })),
            _ => None,
        }
    }
}

#[derive(Clone)]
struct LazyAgents {
    text: String,
    calls: Vec<ProbeCall>,
}

impl LazyAgents {
    fn claims() -> Capabilities {
        Capabilities::new("lazy")
            .with_hooks(HookCoverage::EveryTool)
            .with_in_process_tools(Support::Yes)
    }
}

#[async_trait]
impl AgentClientFactory for LazyAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Self::claims())
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        spec.refuse_unclaimed(&Self::claims())?;
        let agents = self.clone();
        Ok(Box::new(LazyClient { agents, spec }))
    }
}

struct LazyClient {
    agents: LazyAgents,
    spec: SessionSpec,
}

#[async_trait]
impl AgentClient for LazyClient {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let spec = &self.spec;
        let started = StreamEvent::started(AgentSessionId::new("lazy"), None);
        let calls =
            stream::iter(self.agents.calls.iter().enumerate()).flat_map(move |(number, call)| {
                stream::once(works(spec, number, call)).flat_map(stream::iter)
            });
        let end = StreamEvent::end(SessionOutcome::Completed, None);
        let text = StreamEvent::text(&self.agents.text);
        stream::iter([started, text])
            .chain(calls)
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

/// Calls the gate and runs the tool before it emits any event.
async fn works(spec: &SessionSpec, number: usize, probe: &ProbeCall) -> [StreamEvent; 2] {
    let id = format!("call-{number}");
    let name = probe.qualified_name();
    let call = spec.tool_call(&id, &name, probe.input.clone());
    let (status, output) = match spec.gate.decide(&call).await {
        GateDecision::Allow { .. } => {
            let context = ToolContext::new(spec.key.clone()).with_call_id(&id);
            let prefix = Toolbox::qualified_name("");
            let tool = name.trim_start_matches(&prefix);
            match spec.tools.call(tool, probe.input.clone(), context).await {
                Ok(output) => (ToolStatus::Ok, output.output),
                Err(error) => (ToolStatus::Error, error.to_string()),
            }
        }
        GateDecision::Deny { reason, .. } => (ToolStatus::Denied, reason),
    };
    [
        StreamEvent::tool_invocation(&id, &name, probe.input.clone()),
        StreamEvent::tool_response(&id, output, status),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_works_only_where_it_is_polled_is_found() {
    let report = agent_client(&LazyHarness).await;

    let failed: Vec<&str> = report
        .failures()
        .iter()
        .map(|check| &*check.check)
        .collect();
    assert_eq!(
        failed,
        ["a tool runs although the stream is not polled during the decision"],
        "{report}"
    );
}
