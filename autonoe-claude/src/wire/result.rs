//! The end of a turn.

use std::borrow::Cow;

use autonoe_core::TokenUsage;
use serde::Deserialize;
use serde::de::MapAccess;

use super::Json;
use super::lenient::{Element, Shape, field, list, object, shape_of_object};

/// The end of a turn. More turns may follow without being asked for.
///
/// A failure of the model's API comes as subtype `success` with `is_error`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ResultMessage<'a> {
    /// `success`, or what stopped it, for example `error_max_turns`.
    #[serde(borrow, deserialize_with = "field")]
    pub subtype: Option<Cow<'a, str>>,
    /// Whether the turn failed.
    #[serde(deserialize_with = "field")]
    pub is_error: Option<bool>,
    /// What the agent said last, or the text of the failure; with `success` only.
    #[serde(borrow, deserialize_with = "field")]
    pub result: Option<Cow<'a, str>>,
    /// What went wrong; with `error_*` only.
    #[serde(borrow, deserialize_with = "list")]
    pub errors: Vec<Cow<'a, str>>,
    /// How many turns of the model it took; 0 if it did not get so far.
    #[serde(deserialize_with = "field")]
    pub num_turns: Option<u64>,
    /// Why the turn ended, for example `aborted_tools`.
    #[serde(borrow, deserialize_with = "field")]
    pub terminal_reason: Option<Cow<'a, str>>,
    /// The HTTP status of the failure.
    #[serde(deserialize_with = "field")]
    pub api_error_status: Option<u64>,
    /// The name of the failure (newer builds), for example `usage_limit_reached`.
    #[serde(borrow, deserialize_with = "field")]
    pub api_error: Option<Cow<'a, str>>,
    /// Why it could not start (newer builds).
    #[serde(borrow, deserialize_with = "field")]
    pub startup_failure_reason: Option<Cow<'a, str>>,
    /// The conversation.
    #[serde(borrow, deserialize_with = "field")]
    pub session_id: Option<Cow<'a, str>>,
    /// What the process has cost so far, in dollars.
    #[serde(deserialize_with = "field")]
    pub total_cost_usd: Option<f64>,
    /// The tokens of the turn, those of sub-agents left out.
    #[serde(deserialize_with = "field")]
    pub usage: Option<TurnUsage>,
    /// The tokens of all models since the process started.
    #[serde(rename = "modelUsage", deserialize_with = "field")]
    pub model_usage: Option<ModelUsage>,
    /// The calls that were refused.
    #[serde(borrow, deserialize_with = "list")]
    pub permission_denials: Vec<DeniedCall<'a>>,
    /// The answer in the form that was asked for.
    #[serde(borrow)]
    pub structured_output: Option<Json<'a>>,
}

/// A call that was refused.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeniedCall<'a> {
    /// The tool.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_name: Option<Cow<'a, str>>,
    /// The call.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_use_id: Option<Cow<'a, str>>,
}

shape_of_object!(DeniedCall<'de>);

/// The tokens of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnUsage(pub TokenUsage);

/// The tokens of all models together; `None` if no model was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage(pub Option<TokenUsage>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawTurnUsage {
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

#[derive(Default, Deserialize)]
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

shape_of_object!(RawOutputDetails);
shape_of_object!(RawModel);

/// Counts tokens; those of thinking are among the output, and become their own.
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

impl<'de> Shape<'de> for TurnUsage {
    fn from_object<A: MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
        let raw: Option<RawTurnUsage> = object(fields)?;
        Ok(raw.map(|raw| {
            Self(tokens(
                raw.input_tokens,
                raw.output_tokens,
                raw.cache_read_input_tokens,
                raw.cache_creation_input_tokens,
                raw.output_tokens_details.and_then(|of| of.thinking_tokens),
            ))
        }))
    }
}

impl<'de> Shape<'de> for ModelUsage {
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
