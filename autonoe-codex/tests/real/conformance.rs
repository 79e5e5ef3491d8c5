//! Conformance of Codex to the backend contract.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_codex::CodexBackend;
use autonoe_core::agent::{HookCoverage, Sandbox};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
use autonoe_testkit::conformance::{self, AgentHarness, Scenario};
use autonoe_testkit::model_server::{
    FaultPosition, ModelScript, ReceivedPrompt, Refusal, ScriptedMessage, StreamFault, Turn,
};

use crate::fixture::{Fixture, TIMEOUT};
use crate::model::{calls, shell};

/// Scenarios that the suite skips, because the backend does not claim that every call passes the
/// gate.
///
/// The other test in this file makes these checks for the calls that do pass the gate.
const ALLOWED_SKIPS: &[&str] = &[
    "the gate decides once about every call, before its answer",
    "the gate receives name, input, session, directory and mode",
    "a shell command reaches the gate as one",
    "a denied call is answered as denied",
    "the reason of a denial reaches the agent",
    "a denied command does not run",
    "a denied tool of ours does not run",
    "a tool runs although the stream is not polled during the decision",
];

/// Plays the scenarios of the suite with the real program and a scripted model.
struct RealCodex {
    claims: HookCoverage,
    project: tempfile::TempDir,
}

impl RealCodex {
    fn new(claims: HookCoverage) -> Self {
        let project = tempfile::tempdir().expect("a directory can be made");
        Self { claims, project }
    }
}

#[async_trait]
impl AgentHarness for RealCodex {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let scenario = scenario.clone();
        let script = ModelScript::from_fn(move |prompt| answer(&scenario, prompt));
        let fixture = Fixture::new(script).unverified().sandboxed();
        Some(Arc::new(Served {
            claims: self.claims,
            agents: fixture.agents(),
            fixture,
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
fn answer(scenario: &Scenario, prompt: &ReceivedPrompt) -> Turn {
    if !prompt.tool_results().is_empty() {
        return Turn::text("Done.");
    }
    match scenario {
        Scenario::Says { text } => Turn::text(text),
        Scenario::RunsCommand { command } => shell(command),
        Scenario::UsesTools {
            calls: scripted_calls,
        } => {
            let called = scripted_calls
                .iter()
                .fold(ScriptedMessage::new(), |message, call| {
                    calls(message, "autonoe", &call.tool, &call.input)
                });
            called.into()
        }
        Scenario::Hangs => ScriptedMessage::new()
            .says("working on it")
            .breaks(FaultPosition::AfterBlock(0), StreamFault::Hang)
            .into(),
        Scenario::Fails => Refusal::forbidden().into(),
        Scenario::HitsQuota { resets_at } => quota_spent(*resets_at).into(),
        _ => Turn::text("I do not know this scenario."),
    }
}

/// Returns the answer of the service for a spent subscription.
pub(crate) fn quota_spent(resets_at: jiff::Timestamp) -> Refusal {
    let second = resets_at.as_second();
    Refusal::new(
        429,
        "usage_limit_reached",
        "The usage limit has been reached",
    )
    .with_field("plan_type", "plus".into())
    .with_field("resets_at", second.into())
    .with_header("x-codex-primary-used-percent", "100")
    .with_header("x-codex-primary-window-minutes", "300")
    .with_header("x-codex-primary-reset-at", &second.to_string())
}

/// Agents that own their model server.
struct Served {
    claims: HookCoverage,
    agents: CodexBackend,
    fixture: Fixture,
}

#[async_trait]
impl AgentClientFactory for Served {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let capabilities = self.agents.probe().await?;
        Ok(capabilities.with_hooks(self.claims))
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        // A session that requires a sandbox must be refused here, and not get one.
        if spec.sandbox == Sandbox::Off {
            let outer = spec.outer_sandbox.take();
            spec.outer_sandbox = outer.or(self.fixture.outer_sandbox());
        }
        self.agents.create(spec)
    }
}

#[tokio::test]
async fn the_backend_conforms_to_the_contract() {
    let report = conformance::agent_client(&RealCodex::new(HookCoverage::Partial)).await;

    report.assert();
    let skipped: Vec<_> = report.skipped().iter().map(|skip| &skip.check).collect();
    assert_eq!(skipped, ALLOWED_SKIPS, "{report}");
}

#[tokio::test]
async fn gated_calls_keep_the_contract_of_the_gate() {
    let report = conformance::agent_client(&RealCodex::new(HookCoverage::EveryTool)).await;

    report.assert();
    assert!(report.skipped().is_empty(), "{report}");
}
