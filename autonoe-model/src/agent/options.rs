//! [`ModelAgentOptions`]: options of in-process agents, and [`LimitTable`], the limits of models.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use autonoe_core::Tool;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::event::InvalidValue;
use autonoe_core::time::{Clock, IdSource, SystemClock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::McpOptions;
use crate::price::PriceTable;
use crate::provider::Provider;
use crate::retry::{RetryPolicy, random_ids};
use crate::tools::BuiltInOptions;

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
    pub built_in: Option<BuiltInOptions>,
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
            ids: random_ids(),
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

/// Context and output limits of a model, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelLimits {
    /// Maximum number of tokens of a conversation, including the answer.
    pub context: u64,
    /// Maximum number of tokens of an answer.
    pub output: u32,
}

impl Default for ModelLimits {
    /// Limits that nearly every current model supports.
    fn default() -> Self {
        Self {
            context: 128_000,
            output: 8_192,
        }
    }
}

/// Limits of models, by prefixes of their names.
///
/// A prefix must end at a part of the name: `gpt-5` is a prefix of `gpt-5-mini`, but not of
/// `gpt-5.4`, which is another model.
///
/// ```
/// use autonoe_model::agent::{LimitTable, ModelLimits};
///
/// let limits = LimitTable::built_in();
///
/// assert_eq!(limits.for_model("claude-sonnet-4-5-20250929").context, 200_000);
/// assert_eq!(limits.for_model("nobody-knows"), ModelLimits::default());
/// assert_eq!(limits.for_model("gpt-5.99"), ModelLimits::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LimitTable(BTreeMap<String, ModelLimits>);

/// File of the built-in limits.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "day and sources are for people")
)]
struct BuiltIn {
    /// Date of the last comparison with the sources.
    as_of: String,
    sources: Vec<String>,
    limits: LimitTable,
}

fn built_in() -> serde_json::Result<BuiltIn> {
    serde_json::from_str(include_str!("limits.json"))
}

impl LimitTable {
    /// Returns the limits that this version of the library knows. Models without a published limit
    /// are missing.
    pub fn built_in() -> Self {
        built_in().map(|file| file.limits).unwrap_or_default()
    }

    /// Adds other limits. For names in both tables, `others` wins.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Returns the limits of a model, by the longest matching prefix of its name.
    pub fn for_model(&self, model: &str) -> ModelLimits {
        // OpenRouter and others put the vendor before the name.
        let model = model.rsplit('/').next().unwrap_or(model);
        let known = self.0.iter().filter(|(name, _)| has_prefix(model, name));
        let longest = known.max_by_key(|(name, _)| name.len());
        longest.map(|(_, limits)| *limits).unwrap_or_default()
    }
}

fn has_prefix(model: &str, name: &str) -> bool {
    let rest = model.strip_prefix(name);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next == '.' || next.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_limits_are_valid_with_a_date_and_sources() {
        let file = built_in().expect("it can be read");

        file.as_of.parse::<jiff::civil::Date>().expect("a day");
        assert_eq!(LimitTable::built_in(), file.limits);
        assert!(!file.sources.is_empty());
        for (model, limits) in &file.limits.0 {
            assert!(u64::from(limits.output) < limits.context, "{model}");
            assert!(
                limits.context >= 128_000 && limits.output >= 8_192,
                "{model}"
            );
        }
    }

    #[test]
    fn the_longest_name_that_fits_counts() {
        let limits: LimitTable = serde_json::from_str(
            r#"{"gpt": {"context": 10, "output": 1}, "gpt-5": {"context": 20, "output": 2}}"#,
        )
        .expect("limits");

        for (model, context) in [
            ("gpt-4", 10),
            ("gpt-5-mini", 20),
            ("gpt-5@2025", 20),
            ("openai/gpt-5", 20),
            ("gpt-5.4", 10),
            ("gpt-50", 10),
            ("gpt4", 128_000),
            ("other", 128_000),
        ] {
            assert_eq!(limits.for_model(model).context, context, "{model}");
        }
    }
}
