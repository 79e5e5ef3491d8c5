//! Services that speak as OpenAI does: Ollama, vLLM, OpenRouter and many others.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, HeaderSource, HttpProvider, KeySource, Provider, ProviderContext};
use super::{ProviderSpec, Proxy};
use crate::contract::ModelError;
use crate::transport::{BaseUrl, Timeouts, Trust};
use crate::wire::chat::{ChatDialect, Dialect, DialectChanges, OpenAiChat};

/// A service that speaks Chat Completions.
///
/// ```
/// use autonoe_model::{ProviderContext, provider_spec};
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
    /// Where the API is, its version included: `https://openrouter.ai/api/v1`.
    pub base_url: BaseUrl,
    /// Where the key is; none is sent if it is left out.
    #[serde(default = "no_key")]
    pub key: KeySource,
    /// Headers that go with every request; they win over ours.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
    /// How long the provider may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// A proxy on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Whom encrypted connections trust; left out, whom all providers do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Which service it is, as far as it is known to differ from others.
    #[serde(default)]
    pub dialect: Dialect,
    /// What it does otherwise than its dialect says.
    #[serde(default)]
    pub changes: DialectChanges,
}

fn no_key() -> KeySource {
    KeySource::None
}

impl OpenAiCompatibleSpec {
    /// Describes a service that wants no key and is not known to differ.
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
