//! How a service differs from others that speak the same protocol, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A service that is known to differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Dialect {
    /// None of the others: what most services understand.
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

/// What a service does otherwise than its dialect says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DialectChanges {
    /// Whether the service must be asked to count tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<StreamUsage>,
    /// Where the service reads how long an answer may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitField>,
    /// Where the service reads how much a model may think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingField>,
    /// What the service wants to see again of a model's thoughts: the first of these that came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub echo: Option<Vec<ReasoningField>>,
    /// What the service accepts as the arguments of an earlier call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<CallArguments>,
    /// Whether the model can look at pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pictures: Option<Pictures>,
}

/// Whether a service must be asked to count tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StreamUsage {
    /// It must, by `stream_options`.
    Ask,
    /// It counts without being asked, or does not know `stream_options`.
    DoNotAsk,
}

/// Where a service reads how long an answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// In `max_tokens`.
    MaxTokens,
    /// In `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Where a service reads how much a model may think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingField {
    /// In `reasoning_effort`, as `low`, `medium` or `high`.
    ReasoningEffort,
    /// In `reasoning`, as a number of tokens.
    Reasoning,
    /// Nowhere: it is not sent.
    None,
}

/// Where a service writes what a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    /// In `reasoning`.
    Reasoning,
    /// In `reasoning_content`.
    ReasoningContent,
    /// In `reasoning_details`, with signatures.
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

/// What a service accepts as the arguments of an earlier call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallArguments {
    /// Any text, as the model wrote it.
    AsWritten,
    /// Only an object: anything else becomes `{"arguments": ..}`, because the service would
    /// refuse the whole conversation from then on.
    Object,
}

/// Whether a model can look at pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Pictures {
    /// It can.
    Send,
    /// It cannot: it is told that there is one.
    Name,
}

/// How a service differs from others, in full.
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
    /// Changes what `changes` says.
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
