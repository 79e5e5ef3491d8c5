//! Scripted agents for the suite, and a way to spoil them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentErrorKind, Capabilities, SessionSpec,
    TokenUsage,
};
use autonoe_testkit::conformance::{AgentHarness, Scenario};
use autonoe_testkit::{Expectation, ModelUse, ScriptedAgents, SessionScript, ToolUse};
use serde_json::json;

/// What is wrong with a backend. By default nothing is.
pub(crate) trait Fault: Send + Sync + 'static {
    /// Changes what the backend says that it can do, each time it is asked.
    fn claims(&self, capabilities: Capabilities) -> Capabilities {
        capabilities
    }

    /// Changes what a session is given.
    fn spoils(&self, spec: SessionSpec) -> SessionSpec {
        spec
    }

    /// Changes what a client does; `spec` is what the session was given.
    fn wraps(&self, client: Box<dyn AgentClient>, spec: &SessionSpec) -> Box<dyn AgentClient> {
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

/// Where what the agents say comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mind {
    Script,
    /// A model, whose calls are told.
    Model,
    /// The script, and nothing is told of what it used.
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
    /// Makes agents that ask a model before everything that they do.
    pub(crate) fn asking_models(mut self) -> Self {
        self.mind = Mind::Model;
        self
    }

    /// Makes agents that do not say what they used.
    pub(crate) fn telling_no_tokens(mut self) -> Self {
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
                .asks_model(ModelUse::new("a-model", answer).using(used, None)),
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
        let agents = ScriptedAgents::new(std::iter::repeat_n(script, 3));
        let capabilities = self.fault.claims(agents.capabilities().clone());
        // The suite interrupts many scripts on purpose.
        let agents = agents.with_capabilities(capabilities).unverified();
        Some(Arc::new(Spoiled {
            agents,
            fault: self.fault.clone(),
        }))
    }
}

/// Scripted agents with a fault.
struct Spoiled {
    agents: ScriptedAgents,
    fault: Arc<dyn Fault>,
}

#[async_trait]
impl AgentClientFactory for Spoiled {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(self.fault.claims(self.agents.probe().await?))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let client = self.agents.create(self.fault.spoils(spec.clone()))?;
        Ok(self.fault.wraps(client, &spec))
    }
}
