//! [`ModelBackend`]: backend whose agents run in this process, and [`ModelAgent`], its client of one session.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{
    AgentErrorKind, EventCapabilities, HookCoverage, Prompt, SessionControl, SessionField, Support,
    TokenReports,
};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, SessionSpec,
    StreamEvent, Tool,
};
use futures::{StreamExt, stream};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::ModelAgentOptions;
use super::agent_loop::AgentLoop;
use super::control::TurnControl;
use super::metered_model::TurnItem;
use super::outcome::agent_error;
use crate::mcp::check_servers;
use crate::tools::BuiltInToolsError;

/// Backend whose agents run in this process: a model, its tools, and the loop between them.
///
/// Every tool call passes the session's gate before it runs. A conversation is compacted before it
/// overflows the model's context. The usage of a session is reported after every answer.
///
/// The [MCP servers](SessionSpec::mcp_servers) of a session are started or connected before its
/// first prompt, outside of the tools' sandbox, and end with the session; see
/// [`McpOptions`](crate::mcp::McpOptions). A session fails if one of its servers is not available.
/// Servers with the older SSE transport are refused.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::AgentClientFactory;
/// use autonoe_model::{ModelAgentOptions, ModelBackend, Provider};
///
/// fn backend(provider: Arc<dyn Provider>) -> Arc<dyn AgentClientFactory> {
///     Arc::new(ModelBackend::new(ModelAgentOptions::new(provider, "gpt-5-mini")))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ModelBackend {
    options: Arc<ModelAgentOptions>,
}

impl ModelBackend {
    /// Creates a backend with these options.
    pub fn new(options: ModelAgentOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }

    /// Returns the capabilities of the agents, provided that the sandbox for commands works.
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
                EventCapabilities::default()
                    .with_model_calls(Support::Yes)
                    .with_model_chunks(Support::Yes)
                    .with_progress(Support::Yes),
            )
    }

    /// Probes the sandbox for commands, and withdraws the capability if it does not work.
    async fn with_sandbox(&self, capabilities: Capabilities) -> Capabilities {
        let Some(built_in) = self.options.built_in.clone() else {
            return capabilities;
        };
        // The probe starts a process and waits for it.
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

    /// Creates the built-in and additional tools of a session. Additional tools replace built-in
    /// ones of the same name.
    fn tools(&self, spec: &SessionSpec) -> Result<Vec<Arc<dyn Tool>>, AgentError> {
        let own = &self.options.tools;
        let mut tools = match &self.options.built_in {
            Some(built_in) => built_in.for_session(spec).map_err(no_tools)?,
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
impl AgentClientFactory for ModelBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.check_values()?;
        let model = self
            .options
            .provider
            .model(&self.options.model)
            .map_err(|error| agent_error(&error))?;
        let identity = model.identity();
        let is_priced = self.options.prices.price(identity).is_some();
        let claims = self.claims(format!("model:{identity}"));
        Ok(self
            .with_sandbox(claims)
            .await
            .with_cost(support(is_priced)))
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        // An unknown model is reported by the session.
        let model = self.options.provider.model(model).ok()?;
        let price = self.options.prices.price(model.identity());
        Some(support(price.is_some()))
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.check_values()?;
        let name = spec.model.as_deref().unwrap_or(&self.options.model);
        spec.refuse_unclaimed(&self.claims(format!("model:{name}")))?;
        check_servers(&spec.mcp_servers)?;
        let model = self
            .options
            .provider
            .model(name)
            .map_err(|error| agent_error(&error))?;
        let tools = self.tools(&spec)?;
        spec.thinking = spec.thinking.or(self.options.thinking);
        let over = CancellationToken::new();
        let control = TurnControl::default();
        let work = AgentLoop::new(self.options.clone(), model, tools, spec, control.clone())?;
        Ok(Box::new(ModelAgent {
            work: Arc::new(Mutex::new(work)),
            control,
            _over_when_dropped: over.clone().drop_guard(),
            over,
        }))
    }
}

fn support(is_there: bool) -> Support {
    if is_there { Support::Yes } else { Support::No }
}

fn no_tools(error: BuiltInToolsError) -> AgentError {
    let failed = |message: String| AgentError::new(AgentErrorKind::NotAvailable, message);
    let remedy = error.remedy();
    let failed = match error {
        BuiltInToolsError::Sandbox(reason) => {
            failed("commands must run in a sandbox, but none is configured".to_owned())
                .with_source(reason)
        }
        other => failed(other.to_string()),
    };
    match remedy {
        Some(remedy) => failed.with_remedy(remedy),
        None => failed,
    }
}

/// Client of one session. Each turn runs in its own task, independent of polling.
struct ModelAgent {
    /// Locked for the length of a turn.
    work: Arc<Mutex<AgentLoop>>,
    control: TurnControl,
    /// Cancels everything.
    over: CancellationToken,
    _over_when_dropped: DropGuard,
}

#[async_trait]
impl AgentClient for ModelAgent {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (work, over) = (self.work.clone(), &self.over);
        // Nothing starts before the stream is polled.
        stream::once(async move {
            let (events, receiver) = mpsc::unbounded_channel();
            let turn = over.child_token();
            let stop = turn.clone();
            tokio::spawn(async move {
                let mut work = work.lock().await;
                tokio::select! {
                    biased;
                    () = stop.cancelled() => work.abandon(),
                    () = work.turn(prompt.text, &events) => {}
                }
            });
            TurnEvents {
                events: receiver,
                _stop: turn.drop_guard(),
                is_over: false,
            }
        })
        .flat_map(|turn| stream::unfold(turn, next))
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(self.control.clone())
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.over.cancel();
        // A running turn holds the lock and releases it after dropping its work.
        self.work.lock().await.end().await
    }
}

/// Receiver of a turn's events. Dropping it stops the turn.
struct TurnEvents {
    events: mpsc::UnboundedReceiver<TurnItem>,
    _stop: DropGuard,
    is_over: bool,
}

async fn next(mut turn: TurnEvents) -> Option<(TurnItem, TurnEvents)> {
    if turn.is_over {
        return None;
    }
    let item = turn.events.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without an outcome";
        Err(AgentError::new(AgentErrorKind::Crashed, reason))
    });
    turn.is_over = matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    Some((item, turn))
}
