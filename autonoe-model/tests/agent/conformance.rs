//! Conformance of the agent to the contract of backends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::AgentClientFactory;
use autonoe_core::time::{Clock, SystemClock};
use autonoe_model::price::TokenCounts;
use autonoe_model::{
    BuiltInOptions, ModelError, ModelErrorCode, PriceTable, PricedBackend, StopReason,
};
use autonoe_testkit::conformance::{AgentHarness, Conformance, Scenario, agent_client};
use serde_json::json;
use tempfile::TempDir;

use crate::agent::fixture::{Answer, ScriptedModel, agents, calls, text_reply};

/// Time limit of each step on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Agents with the built-in tools, which run real commands and end the processes that those leave.
struct Harness {
    folder: TempDir,
}

impl Harness {
    /// The folder is not in `/tmp`, because a sandbox has its own.
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
        // Several sessions share the model, so its behaviour depends on the conversation alone.
        let model = ScriptedModel::following(move |request| {
            let is_first = request.messages.len() == 1;
            match &scenario {
                Scenario::Says { text } => text_reply(text),
                Scenario::RunsCommand { command } if is_first => {
                    calls(&[("c1", "Bash", json!({"command": command}))])
                }
                Scenario::UsesTools { calls: probes } if is_first => {
                    let names: Vec<_> = probes.iter().map(|probe| probe.qualified_name()).collect();
                    let ids: Vec<_> = (0..probes.len()).map(|index| format!("c{index}")).collect();
                    let tool_calls: Vec<_> = probes
                        .iter()
                        .zip(&names)
                        .zip(&ids)
                        .map(|((probe, name), id)| {
                            (id.as_str(), name.as_str(), probe.input.clone())
                        })
                        .collect();
                    calls(&tool_calls)
                }
                Scenario::Hangs if is_first => match text_reply("Working on it.") {
                    Answer::Replies(reply) => Answer::Replies(reply.with_stop(StopReason::Paused)),
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
                _ => text_reply("Done."),
            }
        });
        Some(Arc::new(agents(&model, [], |options| {
            options.clock = Arc::new(SystemClock);
            options.built_in = Some(BuiltInOptions::default());
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
async fn the_backend_conforms() {
    let report = agent_client(&Harness::new()).await;

    report.assert();
    assert_eq!(skipped(&report), ALLOWED_SKIPS);
}

/// The same agents, wrapped with prices.
struct Priced {
    harness: Harness,
    counts: TokenCounts,
}

#[async_trait]
impl AgentHarness for Priced {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let agents = self.harness.agents(scenario).await?;
        Some(Arc::new(PricedBackend::new(
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
async fn a_priced_backend_conforms_too() {
    for counts in [TokenCounts::EachCall, TokenCounts::Partial] {
        let harness = Harness::new();
        let report = agent_client(&Priced { harness, counts }).await;

        report.assert();
        assert_eq!(skipped(&report), ALLOWED_SKIPS);
    }
}
