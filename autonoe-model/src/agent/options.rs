//! [`ModelAgentOptions`]: options of in-process agents.

use std::fmt;
use std::sync::Arc;

use autonoe_core::Tool;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::event::InvalidValue;
use autonoe_core::time::{Clock, IdSource, RandomIds, SeededIds, SystemClock};

use super::LimitTable;
use crate::mcp::McpOptions;
use crate::price::PriceTable;
use crate::provider::Provider;
use crate::retry::RetryPolicy;
use crate::tools::BuiltInTools;

/// Options of in-process agents: models, tools and limits.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_model::{ModelAgentOptions, Provider};
///
/// fn options(provider: Arc<dyn Provider>) -> ModelAgentOptions {
///     let mut options = ModelAgentOptions::new(provider, "claude-sonnet-4-5");
///     options.max_rounds = 80;
///     options
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ModelAgentOptions {
    /// Provider of the models.
    pub provider: Arc<dyn Provider>,
    /// Default model of sessions.
    pub model: String,
    /// Built-in tools, created for each session in its directory and its sandbox; `None` for agents
    /// without them.
    pub built_in: Option<BuiltInTools>,
    /// Additional tools of every session. They replace built-in tools of the same name.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Start and call options of a session's MCP servers.
    pub mcp: McpOptions,
    /// Default system prompt of sessions; `None` for the built-in one.
    pub system_prompt: Option<String>,
    /// Default thinking budget of sessions; `None` leaves it to the model.
    pub thinking: Option<ThinkingBudget>,
    /// Default limit on the answers of a session.
    pub max_rounds: u32,
    /// Retry policy for failed model calls.
    pub retry: RetryPolicy,
    /// Prices of models.
    pub prices: PriceTable,
    /// Context and output limits of models.
    pub limits: LimitTable,
    /// Fill level of the model's context that triggers compaction, in percent.
    pub compact_at_percent: u8,
    /// Clock for timestamps and delays.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers for IDs.
    pub ids: Arc<dyn IdSource>,
}

impl ModelAgentOptions {
    /// Default of [`max_rounds`](Self::max_rounds).
    pub const MAX_ROUNDS: u32 = 50;

    /// Creates options for agents on `model` of `provider`, without tools.
    pub fn new(provider: impl Provider + 'static, model: impl Into<String>) -> Self {
        let ids: Arc<dyn IdSource> = match RandomIds::new() {
            Ok(random) => Arc::new(random),
            // These IDs need not be unguessable.
            Err(_) => Arc::new(SeededIds::new(u64::from(std::process::id()))),
        };
        Self {
            provider: Arc::new(provider),
            model: model.into(),
            built_in: None,
            tools: Vec::new(),
            mcp: McpOptions::default(),
            system_prompt: None,
            thinking: None,
            max_rounds: Self::MAX_ROUNDS,
            retry: RetryPolicy::default(),
            prices: PriceTable::built_in(),
            limits: LimitTable::built_in(),
            compact_at_percent: 80,
            clock: Arc::new(SystemClock),
            ids,
        }
    }

    /// Rejects values with which no session could work.
    pub(super) fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_model("model", Some(&self.model))?;
        InvalidValue::check_turns("max_rounds", Some(self.max_rounds))
    }
}

impl fmt::Debug for ModelAgentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAgentOptions")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("built_in", &self.built_in)
            .field("tools", &self.tools)
            .field("max_rounds", &self.max_rounds)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}
