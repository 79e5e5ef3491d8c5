//! The agent keeps the contract of every backend.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{AgentClientFactory, Clock, SystemClock};
use autonoe_model::{
    BuiltInTools, ModelError, ModelErrorCode, PriceTable, PricedAgents, StopReason, TokenCounts,
};
use autonoe_testkit::conformance::{AgentHarness, Conformance, Scenario, agent_client};
use serde_json::json;
use tempfile::TempDir;

use crate::agent::setting::{Answer, ScriptedModel, agents, calls, says};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Agents with the built-in tools, which run real commands and end what those leave.
struct Harness {
    folder: TempDir,
}

impl Harness {
    /// The folder is not in `/tmp`: a sandbox has one of its own.
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir_in("/var/tmp").expect("a folder"),
        }
    }
}

#[async_trait]
impl AgentHarness for Harness {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let scenario = scenario.clone();
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
                    let wait = resets_at.duration_since(SystemClock.now());
                    let wait = Duration::try_from(wait).unwrap_or_default();
                    let error = ModelError::new(ModelErrorCode::RateLimited, "the quota is spent");
                    Answer::Fails(error.with_retry_after(wait))
                }
                _ => says("Done."),
            }
        });
        Some(Arc::new(agents(&model, [], |options| {
            options.clock = Arc::new(SystemClock);
            options.built_in = Some(BuiltInTools::new());
        })))
    }

    fn project(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn time_limit(&self) -> Duration {
        PATIENCE
    }
}

/// The agents run in this process: only their commands are in a sandbox.
const ALLOWED_SKIPS: [&str; 1] = ["an agent in the outer sandbox writes to its project alone"];

fn skipped(report: &Conformance) -> Vec<&str> {
    let skipped = report.skipped().iter();
    skipped.map(|skipped| skipped.check.as_str()).collect()
}

#[tokio::test]
async fn the_contract_of_backends_is_kept() {
    let report = agent_client(&Harness::new()).await;

    report.assert();
    assert_eq!(skipped(&report), ALLOWED_SKIPS);
}

/// The same agents, with prices on top.
struct Priced {
    harness: Harness,
    counts: TokenCounts,
}

#[async_trait]
impl AgentHarness for Priced {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let agents = self.harness.agents(scenario).await?;
        Some(Arc::new(PricedAgents::new(
            agents,
            PriceTable::built_in(),
            self.counts,
        )))
    }

    fn project(&self) -> PathBuf {
        self.harness.project()
    }

    fn time_limit(&self) -> Duration {
        PATIENCE
    }
}

#[tokio::test]
async fn prices_on_top_change_nothing_of_it() {
    for counts in [TokenCounts::EachCall, TokenCounts::Partial] {
        let harness = Harness::new();
        let report = agent_client(&Priced { harness, counts }).await;

        report.assert();
        assert_eq!(skipped(&report), ALLOWED_SKIPS);
    }
}
