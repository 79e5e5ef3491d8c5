//! Where the model is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A service of models that speaks OpenAI's Responses API, and the key for it.
///
/// ```
/// use autonoe_codex::CodexProvider;
///
/// let provider = CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY");
///
/// assert_eq!(provider.key_variable, "OPENAI_API_KEY");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CodexProvider {
    /// Where it is, up to what comes before `/responses`.
    pub base_url: String,
    /// The variable of the environment that has the key. Neither the program nor its commands get it
    /// in their environment.
    pub key_variable: String,
    /// How often the program tries again what failed; `None` leaves it to the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl CodexProvider {
    /// Makes a provider of where it is and of the variable that has the key.
    pub fn new(base_url: impl Into<String>, key_variable: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            key_variable: key_variable.into(),
            max_retries: None,
        }
    }

    /// Limits how often the program tries again what failed.
    #[must_use]
    pub fn with_max_retries(mut self, retries: u32) -> Self {
        self.max_retries = Some(retries);
        self
    }
}
