//! The agent keeps the contract of every backend.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{AgentClientFactory, Clock, ToolOutput};
use autonoe_model::{
    ModelError, ModelErrorCode, PriceTable, PricedAgents, StopReason, TokenCounts,
};
use autonoe_testkit::VirtualClock;
use autonoe_testkit::conformance::{AgentHarness, Conformance, Scenario, agent_client};
use serde_json::json;

use crate::agent::setting::{Answer, ScriptedModel, TestTool, agents, calls, says};

struct Harness;

#[async_trait]
impl AgentHarness for Harness {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let scenario = scenario.clone();
        let clock = VirtualClock::new();
        // Several sessions are made of it: what the model does hangs on the conversation alone.
        let model = ScriptedModel::following(move |request| {
            let is_first = request.messages.len() == 1;
            match &scenario {
                Scenario::Says { text } => says(text),
                Scenario::RunsCommand { command } if is_first => {
                    calls(&[("c1", "Bash", json!({"command": command}))])
                }
                Scenario::UsesTools { calls: probes } if is_first => {
                    let names: Vec<_> = probes.iter().map(|probe| probe.qualified_name()).collect();
                    let ids: Vec<_> = (0..probes.len()).map(|index| format!("c{index}")).collect();
                    let made: Vec<_> = probes
                        .iter()
                        .zip(&names)
                        .zip(&ids)
                        .map(|((probe, name), id)| {
                            (id.as_str(), name.as_str(), probe.input.clone())
                        })
                        .collect();
                    calls(&made)
                }
                Scenario::Hangs if is_first => match says("Working on it.") {
                    Answer::Says(reply) => Answer::Says(reply.with_stop(StopReason::Paused)),
                    other => other,
                },
                Scenario::Hangs => Answer::Hangs,
                Scenario::Fails => {
                    let message = "the key was refused";
                    Answer::Fails(ModelError::new(
                        ModelErrorCode::AuthenticationError,
                        message,
                    ))
                }
                Scenario::HitsQuota { resets_at } => {
                    let wait = resets_at.duration_since(clock.now());
                    let wait = Duration::try_from(wait).unwrap_or_default();
                    let error = ModelError::new(ModelErrorCode::RateLimited, "the quota is spent");
                    Answer::Fails(error.with_retry_after(wait))
                }
                _ => says("Done."),
            }
        });
        let bash = TestTool::writes("Bash", async |input, _| {
            let command = input["command"].as_str().unwrap_or_default().to_owned();
            Ok(ToolOutput::new(run(&command)))
        });
        Some(Arc::new(agents(&model, [bash], |_| {})))
    }
}

/// Runs a command and ends what it leaves in the background, as the built-in tool does.
fn run(command: &str) -> String {
    let child = Command::new("bash")
        .args(["-c", command])
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn();
    let child = child.expect("it starts");
    let group = format!("-{}", child.id());
    let done = child.wait_with_output().expect("it ends");
    let killed = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
    killed.expect("kill can be run");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Agents in this process cannot be in a sandbox by themselves; their commands are.
const ALLOWED_SKIPS: [&str; 1] = ["an agent in the outer sandbox writes to its project alone"];

fn skipped(report: &Conformance) -> Vec<&str> {
    let skipped = report.skipped().iter();
    skipped.map(|skipped| skipped.check.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_contract_of_backends_is_kept() {
    let report = agent_client(&Harness).await;

    report.assert();
    assert_eq!(skipped(&report), ALLOWED_SKIPS);
}

/// The same agents, with prices on top.
struct Priced(TokenCounts);

#[async_trait]
impl AgentHarness for Priced {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let agents = Harness.agents(scenario).await?;
        Some(Arc::new(PricedAgents::new(
            agents,
            PriceTable::built_in(),
            self.0,
        )))
    }
}

#[tokio::test(start_paused = true)]
async fn prices_on_top_change_nothing_of_it() {
    for counts in [TokenCounts::EachCall, TokenCounts::Partial] {
        let report = agent_client(&Priced(counts)).await;

        report.assert();
        assert_eq!(skipped(&report), ALLOWED_SKIPS);
    }
}
