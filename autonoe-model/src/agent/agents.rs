//! Agents in this process.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentErrorKind, Capabilities, HookCoverage,
    SessionField, SessionSpec, Support, TokenReports, ToldEvents, Tool,
};

use super::ModelAgentOptions;
use super::client::ModelAgent;
use super::outcome::of_setup;
use crate::mcp::check_servers;
use crate::tools::BuiltInToolsError;

/// Agents in this process: a model, its tools, and the loop between them.
///
/// Every call of a tool goes through the session's gate before it happens. A conversation that
/// becomes too long for the model is made shorter before it overflows. What a session used is
/// told after every answer.
///
/// The [MCP servers](SessionSpec::mcp_servers) of a session are started or reached before its
/// first prompt, outside the sandbox of the tools, and end with it; see
/// [`McpOptions`](crate::McpOptions). A session whose servers are not there fails. Those that
/// speak the older server-sent events are refused.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::AgentClientFactory;
/// use autonoe_model::{ModelAgentOptions, ModelAgents, Provider};
///
/// fn backend(provider: Arc<dyn Provider>) -> Arc<dyn AgentClientFactory> {
///     Arc::new(ModelAgents::new(ModelAgentOptions::new(provider, "gpt-5-mini")))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ModelAgents {
    options: Arc<ModelAgentOptions>,
}

impl ModelAgents {
    /// Makes agents that work as `options` say.
    pub fn new(options: ModelAgentOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }

    /// Returns what the agents can do, on a machine where the sandbox of their commands works.
    fn claims(&self, backend: String) -> Capabilities {
        Capabilities::new(backend)
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(support(self.options.built_in.is_some()))
            .with_tokens(TokenReports::EachCall)
            .with_quota_reset(Support::Yes)
            .with_conversation_dir(Support::Yes)
            .with_model(Support::Yes)
            .with_system_prompt(Support::Yes)
            .with_thinking(Support::Yes)
            .with_max_turns(Support::Yes)
            .with_mcp_servers(Support::Yes)
            .with_project_memory_off(Support::Yes)
            .with_in_process_tools(Support::Yes)
            .with_steering(Support::Yes)
            .with_remedy(
                SessionField::Resume,
                "give sessions a directory for conversations, or start a new conversation",
            )
            .with_events(
                ToldEvents::default()
                    .with_model_calls(Support::Yes)
                    .with_model_chunks(Support::Yes)
                    .with_progress(Support::Yes),
            )
    }

    /// Tries the sandbox of the commands, and withdraws the claim where it does not work.
    async fn with_sandbox(&self, capabilities: Capabilities) -> Capabilities {
        let Some(built_in) = self.options.built_in.clone() else {
            return capabilities;
        };
        // It starts a process and waits for it.
        let tried = tokio::task::spawn_blocking(move || built_in.try_sandbox()).await;
        match tried {
            Ok(Ok(())) => capabilities,
            Ok(Err(error)) => capabilities
                .with_sandbox(Support::No)
                .with_sandbox_problem(error.to_string())
                .with_remedy(SessionField::Sandbox, error.remedy()),
            Err(_) => capabilities.with_sandbox(Support::No),
        }
    }

    /// Makes the tools of a session that it does not bring itself.
    fn tools(&self, spec: &SessionSpec) -> Result<Vec<Arc<dyn Tool>>, AgentError> {
        let own = &self.options.tools;
        let mut tools = match &self.options.built_in {
            Some(built_in) => built_in.of_session(spec).map_err(no_tools)?,
            None => Vec::new(),
        };
        let is_replaced = |tool: &Arc<dyn Tool>| {
            let name = &tool.definition().name;
            own.iter().any(|own| own.definition().name == *name)
        };
        tools.retain(|tool| !is_replaced(tool));
        tools.extend(own.iter().cloned());
        Ok(tools)
    }
}

#[async_trait]
impl AgentClientFactory for ModelAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.check_values()?;
        let model = self.options.provider.model(&self.options.model);
        let model = model.map_err(|error| of_setup(&error))?;
        let identity = model.identity();
        let is_priced = self.options.prices.price(identity).is_some();
        let claims = self.claims(format!("model:{identity}"));
        Ok(self
            .with_sandbox(claims)
            .await
            .with_cost(support(is_priced)))
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        // That there is no such model is said by the session.
        let model = self.options.provider.model(model).ok()?;
        let price = self.options.prices.price(model.identity());
        Some(support(price.is_some()))
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.check_values()?;
        let name = spec.model.as_deref().unwrap_or(&self.options.model);
        spec.refuse_unclaimed(&self.claims(format!("model:{name}")))?;
        check_servers(&spec.mcp_servers)?;
        let model = self.options.provider.model(name);
        let model = model.map_err(|error| of_setup(&error))?;
        let tools = self.tools(&spec)?;
        spec.thinking = spec.thinking.or(self.options.thinking);
        let agent = ModelAgent::new(self.options.clone(), model, tools, spec)?;
        Ok(Box::new(agent))
    }
}

fn support(is_there: bool) -> Support {
    if is_there { Support::Yes } else { Support::No }
}

fn no_tools(error: BuiltInToolsError) -> AgentError {
    let failed = |what: String| AgentError::new(AgentErrorKind::NotAvailable, what);
    let remedy = error.remedy();
    let failed = match error {
        BuiltInToolsError::Sandbox(why) => {
            failed("commands must run in a sandbox, and there is none".to_owned()).because(why)
        }
        other => failed(other.to_string()),
    };
    match remedy {
        Some(remedy) => failed.with_remedy(remedy),
        None => failed,
    }
}
