//! The backend keeps the contract of every backend, with the program in either build.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_claude::ClaudeAgents;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, OuterSandbox, SessionField,
    SessionSpec, Support,
};
use autonoe_testkit::conformance::{self, AgentHarness, ProbeCall, Scenario};
use autonoe_testkit::fake_claude::{Build, FakeScript, FakeTurn, ToolUse, TurnEnd};

use crate::fake_claude::setting::{PATIENCE, Setting, on_both_builds};

/// Plays the scenarios of the suite.
struct FakeClaude {
    build: Build,
    project: tempfile::TempDir,
}

#[async_trait]
impl AgentHarness for FakeClaude {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let turn = match scenario {
            Scenario::Says { text } => FakeTurn::new().says(text),
            Scenario::RunsCommand { command } => {
                FakeTurn::new().uses(ToolUse::bash(command)).says("Done.")
            }
            Scenario::UsesTools { calls } => {
                let call =
                    |call: &ProbeCall| ToolUse::new(call.qualified_name(), call.input.clone());
                FakeTurn::new()
                    .uses_together(calls.iter().map(call))
                    .says("Done.")
            }
            Scenario::Hangs => FakeTurn::new().says("working on it").hangs(),
            Scenario::Fails => {
                let text = "Failed to authenticate. API Error: 403 forbidden";
                FakeTurn::new().ends(TurnEnd::api_failure("authentication_failed", 403, text))
            }
            Scenario::HitsQuota { resets_at } => FakeTurn::new().hits_quota(resets_at.as_second()),
            _ => return None,
        };
        let setting = Setting::new(&FakeScript::new([turn]).on(self.build));
        Some(Arc::new(Served {
            agents: ClaudeAgents::new(setting.options()),
            setting,
        }))
    }

    fn project(&self) -> PathBuf {
        self.project.path().canonicalize().expect("it is there")
    }

    fn time_limit(&self) -> Duration {
        PATIENCE
    }
}

/// Agents whose script lives as long as they do.
struct Served {
    agents: ClaudeAgents,
    setting: Setting,
}

#[async_trait]
impl AgentClientFactory for Served {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let capabilities = self.agents.probe().await?;
        // The commands of a fake are not run, so that there is nothing to keep in.
        Ok(capabilities.with_outer_sandbox(Support::No))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        assert!(self.setting.project().exists());
        let outer = spec.outer_sandbox.as_ref();
        if outer.is_some_and(OuterSandbox::is_bubblewrap) {
            Capabilities::new("fake claude").require([SessionField::OuterSandbox])?;
        }
        self.agents.create(spec)
    }
}

async fn the_contract_of_backends_is_kept(build: Build) {
    let project = tempfile::tempdir().expect("a directory can be made");

    let report = conformance::agent_client(&FakeClaude { build, project }).await;

    report.assert();
    let skipped: Vec<_> = report.skipped().iter().map(|it| &*it.check).collect();
    let enclosed = "an agent in the outer sandbox writes to its project alone";
    assert_eq!(skipped, [enclosed]);
}

on_both_builds![the_contract_of_backends_is_kept];
