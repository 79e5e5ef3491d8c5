//! How an agent in this process works.

use std::fmt;
use std::sync::Arc;

use autonoe_core::{
    Clock, IdSource, InvalidValue, RandomIds, SeededIds, SystemClock, ThinkingBudget, Tool,
};

use super::LimitTable;
use crate::mcp::McpOptions;
use crate::price::PriceTable;
use crate::provider::Provider;
use crate::retry::RetryPolicy;
use crate::tools::BuiltInTools;

/// How agents in this process work: their models, their tools, their limits.
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
    /// Who serves the models.
    pub provider: Arc<dyn Provider>,
    /// The model of sessions that name none.
    pub model: String,
    /// The built-in tools, which are made for each session in its directory and its sandbox;
    /// `None` for agents without.
    pub built_in: Option<BuiltInTools>,
    /// Tools of every session beside those that it brings and the built-in ones, which they
    /// replace where they have the same name.
    pub tools: Vec<Arc<dyn Tool>>,
    /// How the MCP servers of a session are started and called.
    pub mcp: McpOptions,
    /// What holds for a session that brings no system prompt; `None` for ours.
    pub system_prompt: Option<String>,
    /// How much models think in a session that does not say so itself; `None` leaves it to them.
    pub thinking: Option<ThinkingBudget>,
    /// How many answers a session may take that does not say so itself.
    pub max_rounds: u32,
    /// When a call that failed is made again.
    pub retry: RetryPolicy,
    /// What models cost.
    pub prices: PriceTable,
    /// How much models can read and write.
    pub limits: LimitTable,
    /// How full the context of a model may become before the conversation is made shorter, in
    /// percent.
    pub full_at_percent: u8,
    /// Tells the time, and waits.
    pub clock: Arc<dyn Clock>,
    /// Gives the numbers that ids are made of.
    pub ids: Arc<dyn IdSource>,
}

impl ModelAgentOptions {
    /// The most answers of a session that does not say so itself.
    pub const MAX_ROUNDS: u32 = 50;

    /// Makes agents on `model` of `provider`, without tools of their own.
    pub fn new(provider: impl Provider + 'static, model: impl Into<String>) -> Self {
        let ids: Arc<dyn IdSource> = match RandomIds::new() {
            Ok(random) => Arc::new(random),
            // Nothing secret hangs on them.
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
            full_at_percent: 80,
            clock: Arc::new(SystemClock),
            ids,
        }
    }

    /// Refuses values with which no session could do anything.
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
