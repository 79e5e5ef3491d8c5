//! Conformance of both builds to the backend contract.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_claude::ClaudeBackend;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
use autonoe_testkit::conformance::{self, AgentHarness, ProbeCall, Scenario};
use autonoe_testkit::model_server::anthropic::{
    Claim, ModelScript, RateLimits, ReceivedPrompt, Refusal, ScriptedMessage, Turn,
};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, Login, TIMEOUT};

/// Plays the scenarios of the suite with the real program and a scripted model.
struct RealClaude {
    build: Build,
    project: tempfile::TempDir,
}

impl RealClaude {
    fn new(build: Build) -> Self {
        let project = tempfile::tempdir().expect("a directory can be made");
        Self { build, project }
    }
}

#[async_trait]
impl AgentHarness for RealClaude {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let scenario = scenario.clone();
        let login = match scenario {
            Scenario::HitsQuota { .. } => Login::Subscription,
            _ => Login::ApiKey,
        };
        let script = ModelScript::from_fn(move |request| answer(&scenario, request));
        let fixture = Fixture::with_login(self.build, script, login).unverified();
        Some(Arc::new(Served {
            agents: fixture.agents(),
            _setting: fixture,
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
        Scenario::RunsCommand { command } => Turn::tool(
            "Bash",
            json!({"command": command, "description": "asked for"}),
        ),
        Scenario::UsesTools { calls } => calls
            .iter()
            .fold(ScriptedMessage::new(), |message, call: &ProbeCall| {
                message.uses_tool(call.qualified_name(), call.input.clone())
            })
            .into(),
        Scenario::Hangs => ScriptedMessage::new()
            .says("working on it")
            .breaks(
                autonoe_testkit::model_server::anthropic::FaultPosition::AfterBlock(0),
                autonoe_testkit::model_server::anthropic::StreamFault::Hang,
            )
            .into(),
        Scenario::Fails => Refusal::forbidden().into(),
        Scenario::HitsQuota { resets_at } => {
            Refusal::quota(&RateLimits::rejected(Claim::FiveHour, *resets_at)).into()
        }
        _ => Turn::text("I do not know this scenario."),
    }
}

/// Agents that own their model server.
struct Served {
    agents: ClaudeBackend,
    _setting: Fixture,
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

async fn the_backend_conforms_to_the_contract(build: Build) {
    let report = conformance::agent_client(&RealClaude::new(build)).await;

    report.assert();
    assert!(report.skipped().is_empty(), "{:?}", report.skipped());
}

on_both_builds![the_backend_conforms_to_the_contract];
