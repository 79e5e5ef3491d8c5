//! [`ResultMessage`] at the end of a turn, and its token usage.

use std::borrow::Cow;

use autonoe_core::agent::TokenUsage;
use serde::Deserialize;
use serde::de::MapAccess;

use super::lenient::{Element, LenientValue, field, lenient_object, list};

/// The end of a turn. The program may start more turns on its own.
///
/// A failure of the model's API is reported as subtype `success` with `is_error`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResultMessage<'a> {
    /// `success`, or the cause of the end, for example `error_max_turns`.
    #[serde(borrow, deserialize_with = "field")]
    pub subtype: Option<Cow<'a, str>>,
    /// Whether the turn failed.
    #[serde(deserialize_with = "field")]
    pub is_error: Option<bool>,
    /// The last text of the agent, or the text of the failure; with `success` only.
    #[serde(borrow, deserialize_with = "field")]
    pub result: Option<Cow<'a, str>>,
    /// The error messages; with `error_*` only.
    #[serde(borrow, deserialize_with = "list")]
    pub errors: Vec<Cow<'a, str>>,
    /// The number of model turns; 0 if there was none.
    #[serde(deserialize_with = "field")]
    pub num_turns: Option<u64>,
    /// The reason of the end, for example `aborted_tools`.
    #[serde(borrow, deserialize_with = "field")]
    pub terminal_reason: Option<Cow<'a, str>>,
    /// The HTTP status of the failure.
    #[serde(deserialize_with = "field")]
    pub api_error_status: Option<u64>,
    /// The name of the failure (newer builds), for example `usage_limit_reached`.
    #[serde(borrow, deserialize_with = "field")]
    pub api_error: Option<Cow<'a, str>>,
    /// The reason why it could not start (newer builds).
    #[serde(borrow, deserialize_with = "field")]
    pub startup_failure_reason: Option<Cow<'a, str>>,
    /// The cost of the process so far, in dollars.
    #[serde(deserialize_with = "field")]
    pub total_cost_usd: Option<f64>,
    /// The tokens of the turn, without those of sub-agents.
    #[serde(deserialize_with = "field")]
    pub usage: Option<ReportedUsage>,
    /// The tokens of all models since the process started.
    #[serde(rename = "modelUsage", deserialize_with = "field")]
    pub model_usage: Option<ModelUsage>,
}

/// The tokens of all models together; `None` if no model was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage(pub Option<TokenUsage>);

/// Token counts, as far as a message reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ReportedUsage {
    #[serde(deserialize_with = "field")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    output_tokens_details: Option<RawOutputDetails>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct RawOutputDetails {
    #[serde(deserialize_with = "field")]
    thinking_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawModel {
    #[serde(deserialize_with = "field")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "field")]
    thinking_tokens: Option<u64>,
}

lenient_object!(ReportedUsage);
lenient_object!(RawOutputDetails);
lenient_object!(RawModel);

impl ReportedUsage {
    /// Replaces the counts that `later`, a later report about the same answer, contains.
    pub fn update(&mut self, later: Self) {
        *self = Self {
            input_tokens: later.input_tokens.or(self.input_tokens),
            output_tokens: later.output_tokens.or(self.output_tokens),
            cache_read_input_tokens: later
                .cache_read_input_tokens
                .or(self.cache_read_input_tokens),
            cache_creation_input_tokens: later
                .cache_creation_input_tokens
                .or(self.cache_creation_input_tokens),
            output_tokens_details: later.output_tokens_details.or(self.output_tokens_details),
        };
    }

    /// Returns the usage; a missing count is zero.
    pub fn tokens(&self) -> TokenUsage {
        tokens(
            self.input_tokens,
            self.output_tokens,
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens,
            self.output_tokens_details
                .and_then(|details| details.thinking_tokens),
        )
    }
}

/// Builds the usage. Thinking tokens are part of the output, and are counted separately.
fn tokens(
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    thinking: Option<u64>,
) -> TokenUsage {
    let output = output.unwrap_or_default();
    let reasoning = thinking.unwrap_or_default().min(output);
    TokenUsage {
        input: input.unwrap_or_default(),
        output: output - reasoning,
        cache_read: cache_read.unwrap_or_default(),
        cache_write: cache_write.unwrap_or_default(),
        reasoning,
    }
}

impl<'de> LenientValue<'de> for ModelUsage {
    fn from_object<A: MapAccess<'de>>(mut models: A) -> Result<Option<Self>, A::Error> {
        let mut sum: Option<TokenUsage> = None;
        while let Some((_, model)) =
            models.next_entry::<serde::de::IgnoredAny, Element<RawModel>>()?
        {
            if let Element(Some(raw)) = model {
                let used = tokens(
                    raw.input_tokens,
                    raw.output_tokens,
                    raw.cache_read_input_tokens,
                    raw.cache_creation_input_tokens,
                    raw.thinking_tokens,
                );
                sum = Some(sum.unwrap_or_default() + used);
            }
        }
        Ok(Some(Self(sum)))
    }
}
