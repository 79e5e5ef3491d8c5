//! [`ResponsesOptions`]: options that depend on the model and the account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options that depend on the model and the account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponsesOptions {
    /// Models that reason before they answer.
    pub(crate) reasoning_models: ReasoningModels,
    /// Format of reasoning summaries.
    pub(crate) summary: Option<ReasoningSummary>,
}

/// Models that reason before they answer. Other models reject requests for reasoning, and these
/// models need their own reasoning back to continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasoningModels {
    /// All except those with known names: `gpt-4..`, `gpt-3.5..`, `chatgpt-..`, `..-chat..`.
    #[default]
    ByName,
    /// All models.
    Always,
    /// No models.
    Never,
}

impl ReasoningModels {
    /// Returns whether `model` reasons before it answers.
    pub(crate) fn contains(self, model: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::ByName => {
                let silent = ["gpt-4", "gpt-3.5", "chatgpt-"];
                // A fine-tuned model has the name of its base model: `ft:gpt-4.1-mini:acme::1`.
                let name = model.strip_prefix("ft:").unwrap_or(model);
                !silent.iter().any(|begin| name.starts_with(begin)) && !name.contains("-chat")
            }
        }
    }
}

/// Format of reasoning summaries. The service never shows the reasoning itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasoningSummary {
    /// Chosen by the service.
    Auto,
    /// Short.
    Concise,
    /// Long.
    Detailed,
}

impl ReasoningSummary {
    /// Returns the name in the protocol.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Concise => "concise",
            Self::Detailed => "detailed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_model_tells_whether_it_thinks() {
        let table = [
            ("gpt-5", true),
            ("gpt-5.1-codex", true),
            ("o3", true),
            ("o4-mini", true),
            ("codex-mini-latest", true),
            ("gpt-4o-mini", false),
            ("gpt-4.1", false),
            ("gpt-3.5-turbo", false),
            ("gpt-5-chat-latest", false),
            ("chatgpt-4o-latest", false),
            ("ft:gpt-4.1-mini:acme::1", false),
        ];

        for (model, thinks) in table {
            assert_eq!(ReasoningModels::ByName.contains(model), thinks, "{model}");
            assert!(ReasoningModels::Always.contains(model));
            assert!(!ReasoningModels::Never.contains(model));
        }
    }
}
