//! Scripted agents for the suite, with optional faults.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, TokenUsage};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
use autonoe_testkit::conformance::{AgentHarness, Scenario};
use autonoe_testkit::{Expectation, ModelUse, ScriptedBackend, SessionScript, ToolUse};
use serde_json::json;

/// A fault of a backend. The default methods change nothing.
pub(crate) trait Fault: Send + Sync + 'static {
    /// Changes the claimed capabilities on every query.
    fn claims(&self, capabilities: Capabilities) -> Capabilities {
        capabilities
    }

    /// Changes the spec of a session.
    fn change_spec(&self, spec: SessionSpec) -> SessionSpec {
        spec
    }

    /// Wraps the client; `spec` is the original spec of the session.
    fn wrap_client(
        &self,
        client: Box<dyn AgentClient>,
        spec: &SessionSpec,
    ) -> Box<dyn AgentClient> {
        let _ = spec;
        client
    }
}

struct NoFault;

impl Fault for NoFault {}

struct Claims<F>(F);

impl<F: Fn(Capabilities) -> Capabilities + Send + Sync + 'static> Fault for Claims<F> {
    fn claims(&self, capabilities: Capabilities) -> Capabilities {
        (self.0)(capabilities)
    }
}

/// Plays the scenarios of the suite with scripted agents.
pub(crate) struct ScriptedHarness {
    fault: Arc<dyn Fault>,
    mind: Mind,
}

/// The source of the agent's output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mind {
    Script,
    /// A model whose calls are reported to observers.
    Model,
    /// The script, without any usage reports.
    Silent,
}

impl Default for ScriptedHarness {
    fn default() -> Self {
        Self::with(NoFault)
    }
}

impl ScriptedHarness {
    pub(crate) fn with(fault: impl Fault) -> Self {
        Self {
            fault: Arc::new(fault),
            mind: Mind::Script,
        }
    }

    pub(crate) fn claiming(
        claims: impl Fn(Capabilities) -> Capabilities + Send + Sync + 'static,
    ) -> Self {
        Self::with(Claims(claims))
    }
}

impl ScriptedHarness {
    /// Makes the agents call a model before every step.
    pub(crate) fn calling_models(mut self) -> Self {
        self.mind = Mind::Model;
        self
    }

    /// Makes the agents report no token usage.
    pub(crate) fn without_token_reports(mut self) -> Self {
        self.mind = Mind::Silent;
        self
    }

    fn script(&self, answer: &str) -> SessionScript {
        let script = SessionScript::new("conformance");
        let used = TokenUsage {
            input: 10,
            output: 3,
            ..TokenUsage::default()
        };
        match self.mind {
            Mind::Model => script
                .shows("asking the model", Duration::from_millis(1))
                .calls_model(ModelUse::new("a-model", answer).using(used, None)),
            Mind::Silent if answer.is_empty() => script,
            Mind::Silent => script.says(answer),
            Mind::Script if answer.is_empty() => script.uses_tokens(used, None),
            Mind::Script => script.says(answer).uses_tokens(used, None),
        }
    }
}

#[async_trait]
impl AgentHarness for ScriptedHarness {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let script = self.script(match scenario {
            Scenario::Says { text } => text,
            _ => "",
        });
        let script = match scenario {
            Scenario::Says { .. } => script.ends(),
            Scenario::RunsCommand { command } => {
                let call = ToolUse::new("Bash", json!({ "command": command }));
                script.calls(call.expecting(Expectation::Anything)).ends()
            }
            Scenario::UsesTools { calls } => {
                let calls = calls.iter().map(|call| {
                    ToolUse::new(call.qualified_name(), call.input.clone())
                        .expecting(Expectation::Anything)
                });
                script.calls_at_once(calls).ends()
            }
            Scenario::Hangs => script.says("working on it").hangs(),
            Scenario::Fails => script
                .says("oh")
                .fails(AgentErrorKind::Crashed, "it is gone"),
            Scenario::HitsQuota { resets_at } => script.hits_quota(Some(*resets_at)),
            _ => return None,
        };
        let agents = ScriptedBackend::new(std::iter::repeat_n(script, 3));
        let capabilities = self.fault.claims(agents.capabilities().clone());
        // The suite interrupts many scripts on purpose.
        let agents = agents.with_capabilities(capabilities).unverified();
        Some(Arc::new(FaultyAgents {
            agents,
            fault: self.fault.clone(),
        }))
    }
}

/// Scripted agents with a fault.
struct FaultyAgents {
    agents: ScriptedBackend,
    fault: Arc<dyn Fault>,
}

#[async_trait]
impl AgentClientFactory for FaultyAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(self.fault.claims(self.agents.probe().await?))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let client = self.agents.create(self.fault.change_spec(spec.clone()))?;
        Ok(self.fault.wrap_client(client, &spec))
    }
}
