//! Runs the backend conformance suite on Gemini CLI.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_acp::AcpBackend;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
use autonoe_testkit::conformance::{self, AgentHarness, Scenario};
use autonoe_testkit::model_server::{
    FaultPosition, ModelScript, ReceivedPrompt, Refusal, ScriptedMessage, StreamFault, Turn,
};

use crate::fixture::{Fixture, TIMEOUT, shell};

/// Scenarios that the program does not support, or cannot be made to show: it requests permission
/// for some calls only, uses our tools over a server that a run starts, and does not report when a
/// quota resets.
const SKIPPED: &str = include_str!("conformance_skips.txt");

struct RealGemini {
    project: tempfile::TempDir,
}

#[async_trait]
impl AgentHarness for RealGemini {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let scenario = scenario.clone();
        let script = ModelScript::from_fn(move |request| answer(&scenario, request));
        let fixture = Fixture::new(script).unverified();
        Some(Arc::new(Served {
            agents: fixture.agents(),
            _fixture: fixture,
        }))
    }

    fn project(&self) -> PathBuf {
        self.project.path().canonicalize().expect("it is there")
    }

    fn time_limit(&self) -> Duration {
        TIMEOUT
    }
}

/// Returns the next turn of the model.
fn answer(scenario: &Scenario, request: &ReceivedPrompt) -> Turn {
    if !request.tool_results().is_empty() {
        return Turn::text("Done.");
    }
    match scenario {
        Scenario::Says { text } => Turn::text(text),
        Scenario::RunsCommand { command } => shell(command),
        Scenario::Hangs => ScriptedMessage::new()
            .says("working on it")
            .breaks(FaultPosition::AfterBlock(0), StreamFault::Hang)
            .into(),
        Scenario::Fails => Refusal::forbidden().into(),
        _ => Turn::text("I do not know this scenario."),
    }
}

/// Agents that own their model server.
struct Served {
    agents: AcpBackend,
    _fixture: Fixture,
}

#[async_trait]
impl AgentClientFactory for Served {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.agents.create(spec)
    }
}

// Shows: framework/callbacks/acp-model-calls
#[tokio::test]
async fn the_backend_conforms() {
    let project = tempfile::tempdir().expect("a directory can be made");

    let report = conformance::agent_client(&RealGemini { project }).await;

    report.assert();
    let skipped: Vec<_> = report
        .skipped()
        .iter()
        .map(|skipped| skipped.check.as_str())
        .collect();
    assert_eq!(skipped.join("\n"), SKIPPED.trim_end(), "{report:#?}");
}
