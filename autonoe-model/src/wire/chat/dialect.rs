//! [`Dialect`]: known differences between services with the same protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Service with known differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Dialect {
    /// None of the others: what most services accept.
    #[default]
    Plain,
    /// OpenAI itself.
    OpenAi,
    /// Ollama.
    Ollama,
    /// vLLM.
    Vllm,
    /// OpenRouter.
    OpenRouter,
}

/// Deviations of a service from its dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DialectChanges {
    /// Whether token counts must be requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<StreamUsage>,
    /// Field for the maximum length of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitField>,
    /// Field for the thinking budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingField>,
    /// Reasoning fields to send back: the first of these that the service has sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub echo: Option<Vec<ReasoningField>>,
    /// Accepted arguments of earlier calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<CallArguments>,
    /// Whether the model supports images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pictures: Option<Pictures>,
}

/// Whether token counts must be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StreamUsage {
    /// They must, by `stream_options`.
    Ask,
    /// The service reports them without a request, or does not support `stream_options`.
    DoNotAsk,
}

/// Field for the maximum length of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Field for the thinking budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingField {
    /// `reasoning_effort`, as `low`, `medium` or `high`.
    ReasoningEffort,
    /// `reasoning`, as a number of tokens.
    Reasoning,
    /// None: the budget is not sent.
    None,
}

/// Field with the reasoning of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    /// `reasoning`.
    Reasoning,
    /// `reasoning_content`.
    ReasoningContent,
    /// `reasoning_details`, with signatures.
    ReasoningDetails,
}

impl ReasoningField {
    /// Returns the name of the field.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::ReasoningContent => "reasoning_content",
            Self::ReasoningDetails => "reasoning_details",
        }
    }
}

/// Accepted arguments of earlier calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallArguments {
    /// Any text, as the model wrote it.
    AsWritten,
    /// Only an object: anything else becomes `{"arguments": ..}`, because the service would reject
    /// the whole conversation from then on.
    Object,
}

/// Whether a model supports images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Pictures {
    /// It does.
    Send,
    /// It does not: a text mentions the image.
    Name,
}

/// Complete set of a service's differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChatDialect {
    pub(crate) stream_usage: StreamUsage,
    pub(crate) limit: LimitField,
    pub(crate) thinking: ThinkingField,
    pub(crate) echo: Vec<ReasoningField>,
    pub(crate) arguments: CallArguments,
    pub(crate) pictures: Pictures,
}

impl From<Dialect> for ChatDialect {
    fn from(dialect: Dialect) -> Self {
        use ReasoningField::{Reasoning, ReasoningContent, ReasoningDetails};
        let plain = Self {
            stream_usage: StreamUsage::Ask,
            limit: LimitField::MaxTokens,
            thinking: ThinkingField::ReasoningEffort,
            echo: vec![ReasoningContent, Reasoning],
            arguments: CallArguments::Object,
            pictures: Pictures::Send,
        };
        match dialect {
            Dialect::Plain => plain,
            Dialect::OpenAi => Self {
                limit: LimitField::MaxCompletionTokens,
                arguments: CallArguments::AsWritten,
                echo: Vec::new(),
                ..plain
            },
            Dialect::Ollama => Self {
                echo: vec![Reasoning],
                ..plain
            },
            Dialect::Vllm => Self {
                echo: vec![Reasoning, ReasoningContent],
                ..plain
            },
            Dialect::OpenRouter => Self {
                stream_usage: StreamUsage::DoNotAsk,
                thinking: ThinkingField::Reasoning,
                echo: vec![ReasoningDetails, Reasoning],
                ..plain
            },
        }
    }
}

impl ChatDialect {
    /// Applies `changes`.
    #[must_use]
    pub(crate) fn with(self, changes: &DialectChanges) -> Self {
        Self {
            stream_usage: changes.stream_usage.unwrap_or(self.stream_usage),
            limit: changes.limit.unwrap_or(self.limit),
            thinking: changes.thinking.unwrap_or(self.thinking),
            echo: changes.echo.clone().unwrap_or(self.echo),
            arguments: changes.arguments.unwrap_or(self.arguments),
            pictures: changes.pictures.unwrap_or(self.pictures),
        }
    }
}
