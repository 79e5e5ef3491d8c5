//! [`OpenAiCompatibleSpec`]: OpenAI-compatible services such as Ollama, vLLM and OpenRouter.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, HeaderSource, HttpProvider, KeySource, Provider, ProviderContext};
use super::{ProviderSpec, Proxy};
use crate::contract::ModelError;
use crate::transport::{BaseUrl, Timeouts, Trust};
use crate::wire::chat::{ChatDialect, Dialect, DialectChanges, OpenAiChat};

/// Service with the Chat Completions API.
///
/// ```
/// use autonoe_model::provider::{ProviderContext, provider_spec};
/// use serde_json::json;
///
/// // A model on this machine, which cannot look at pictures.
/// let spec = provider_spec(&json!({
///     "type": "openai-compatible",
///     "baseUrl": "http://127.0.0.1:11434/v1",
///     "dialect": "ollama",
///     "changes": {"pictures": "name"},
/// }))?;
///
/// let model = spec.build(&ProviderContext::new("local"))?.model("qwen3:8b")?;
/// assert_eq!(model.identity().to_string(), "local/qwen3:8b");
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenAiCompatibleSpec {
    /// Base URL of the API, including its version: `https://openrouter.ai/api/v1`.
    pub base_url: BaseUrl,
    /// Location of the key. By default, none is sent.
    #[serde(default = "no_key")]
    pub key: KeySource,
    /// Additional headers of every request. They override the default ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
    /// Timeouts.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Proxy for the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Trusted certificate authorities. Default: those of all providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Known service whose differences apply.
    #[serde(default)]
    pub dialect: Dialect,
    /// Deviations from the dialect.
    #[serde(default)]
    pub changes: DialectChanges,
}

fn no_key() -> KeySource {
    KeySource::None
}

impl OpenAiCompatibleSpec {
    /// Creates the spec of a service without a key and without known differences.
    pub fn new(base_url: BaseUrl) -> Self {
        Self {
            base_url,
            key: no_key(),
            headers: BTreeMap::new(),
            timeouts: Timeouts::default(),
            proxy: None,
            trust: None,
            dialect: Dialect::default(),
            changes: DialectChanges::default(),
        }
    }
}

#[typetag::serde(name = "openai-compatible")]
impl ProviderSpec for OpenAiCompatibleSpec {
    fn build(&self, context: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError> {
        let wire = OpenAiChat::new(ChatDialect::from(self.dialect).with(&self.changes));
        let endpoint = Endpoint {
            key: &self.key,
            base_url: &self.base_url,
            headers: &self.headers,
            timeouts: self.timeouts,
            proxy: self.proxy.as_ref(),
            trust: self.trust.as_ref(),
        };
        HttpProvider::open(wire, &endpoint, context)
    }
}

autonoe_core::register_spec!(Other("provider"), OpenAiCompatibleSpec, "openai-compatible", {
    "baseUrl": "https://openrouter.ai/api/v1",
    "key": {"env": "OPENROUTER_API_KEY"},
    "dialect": "openrouter",
    "changes": {"pictures": "name"}
});
