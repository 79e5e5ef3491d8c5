//! What differs from model to model, and from account to account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What differs from model to model, and from account to account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponsesOptions {
    /// Which models think before they answer.
    pub(crate) reasoning_models: ReasoningModels,
    /// How thoughts are summed up.
    pub(crate) summary: Option<ReasoningSummary>,
}

/// Which models think before they answer. A model that does not refuses to be asked for thoughts,
/// and one that does needs its own again to go on with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasoningModels {
    /// All but those whose names are known not to: `gpt-4..`, `gpt-3.5..`, `chatgpt-..`, `..-chat..`.
    #[default]
    ByName,
    /// All of them.
    Always,
    /// None of them.
    Never,
}

impl ReasoningModels {
    /// Tells whether `model` thinks before it answers.
    pub(crate) fn has(self, model: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::ByName => {
                let silent = ["gpt-4", "gpt-3.5", "chatgpt-"];
                // A tuned model is named after what it was made of: `ft:gpt-4.1-mini:acme::1`.
                let name = model.strip_prefix("ft:").unwrap_or(model);
                !silent.iter().any(|begin| name.starts_with(begin)) && !name.contains("-chat")
            }
        }
    }
}

/// How the service sums up the thoughts of a model, which it never shows themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasoningSummary {
    /// As the service likes.
    Auto,
    /// In a few words.
    Concise,
    /// In many words.
    Detailed,
}

impl ReasoningSummary {
    /// Returns the word that the service has for it.
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
            assert_eq!(ReasoningModels::ByName.has(model), thinks, "{model}");
            assert!(ReasoningModels::Always.has(model));
            assert!(!ReasoningModels::Never.has(model));
        }
    }
}
