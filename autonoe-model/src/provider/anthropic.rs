//! [`AnthropicSpec`]: Anthropic and compatible services.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, HeaderSource, HttpProvider, KeySource, Provider, ProviderContext};
use super::{ProviderSpec, Proxy};
use crate::contract::ModelError;
use crate::transport::{BaseUrl, Timeouts, Trust};
use crate::wire::anthropic::{AnthropicWire, ThinkingStyle};

const BASE_URL: &str = "https://api.anthropic.com";

/// Enough for a large file in one tool call, and within the limits of the models.
const MAX_OUTPUT_TOKENS: u32 = 16_384;

/// Messages API of Anthropic or of a compatible service.
///
/// ```
/// use autonoe_model::provider::{ProviderContext, provider_spec};
/// use serde_json::json;
///
/// let spec = provider_spec(&json!({
///     "type": "anthropic",
///     "key": {"env": "ANTHROPIC_API_KEY"},
///     "baseUrl": "http://127.0.0.1:8080",
///     "headers": {"anthropic-beta": "context-1m-2025-08-07"},
/// }))?;
/// let context = ProviderContext::new("anthropic")
///     .with_environment([("ANTHROPIC_API_KEY".into(), "sk-ant-123".into())]);
///
/// let model = spec.build(&context)?.model("claude-sonnet-5")?;
/// assert_eq!(model.identity().to_string(), "anthropic/claude-sonnet-5");
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AnthropicSpec {
    /// Location of the key. Default: `ANTHROPIC_API_KEY`.
    pub key: KeySource,
    /// Base URL of the API.
    pub base_url: BaseUrl,
    /// Additional headers of every request. They override the default ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// Proxy for the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Trusted certificate authorities. Default: those of all providers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Default limit on the length of an answer in tokens, without thinking.
    pub max_output_tokens: u32,
    /// Format of the thinking budget.
    pub thinking: ThinkingStyle,
}

impl Default for AnthropicSpec {
    fn default() -> Self {
        Self {
            key: KeySource::env("ANTHROPIC_API_KEY"),
            base_url: BaseUrl::known(BASE_URL),
            headers: BTreeMap::new(),
            timeouts: Timeouts::default(),
            proxy: None,
            trust: None,
            max_output_tokens: MAX_OUTPUT_TOKENS,
            thinking: ThinkingStyle::default(),
        }
    }
}

#[typetag::serde(name = "anthropic")]
impl ProviderSpec for AnthropicSpec {
    fn build(&self, context: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError> {
        let wire = AnthropicWire {
            max_output_tokens: self.max_output_tokens,
            thinking: self.thinking,
        };
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

autonoe_core::register_spec!(Other("provider"), AnthropicSpec, "anthropic", {
    "key": {"env": "ANTHROPIC_API_KEY"},
    "timeouts": {"silenceMs": 600_000},
    "maxOutputTokens": 32_000
});
