//! Backends that claim an outer sandbox and create none.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::AgentClientFactory;
use autonoe_core::agent::Support;
use autonoe_testkit::conformance::{AgentHarness, Scenario, agent_client};
use tempfile::TempDir;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::ScriptedHarness;

const ENCLOSED: &str = "an agent in the outer sandbox writes to its project alone";

/// Agents whose commands run outside of any sandbox, or not at all.
struct Unguarded {
    agents: ScriptedHarness,
    folder: TempDir,
    commands: Commands,
}

#[derive(PartialEq)]
enum Commands {
    Run,
    DoNotRun,
}

impl Unguarded {
    fn with(commands: Commands) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("project")).expect("writable");
        Self {
            agents: ScriptedHarness::claiming(|it| it.with_outer_sandbox(Support::Yes)),
            folder,
            commands,
        }
    }
}

#[async_trait]
impl AgentHarness for Unguarded {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        if let Scenario::RunsCommand { command } = scenario
            && command.contains(';')
            && self.commands == Commands::Run
        {
            let run = Command::new("sh").args(["-c", command]).status();
            assert!(run.expect("it can be run").success());
        }
        self.agents.agents(scenario).await
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_writes_beside_its_project_is_found() {
    let report = agent_client(&Unguarded::with(Commands::Run)).await;

    assert_fails(&report, &[ENCLOSED]);
    assert!(report.to_string().contains("a call was executed"));
}

#[tokio::test(start_paused = true)]
async fn a_sandbox_in_which_nothing_runs_is_found() {
    let report = agent_client(&Unguarded::with(Commands::DoNotRun)).await;

    assert_fails(&report, &[ENCLOSED]);
    assert!(report.to_string().contains("did not run"));
}
