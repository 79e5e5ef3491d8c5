//! Anthropic, and who speaks as it does.

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

/// Enough for a large file in one call of a tool, and not more than models allow.
const MAX_OUTPUT_TOKENS: u32 = 16_384;

/// The Messages API of Anthropic, there or elsewhere.
///
/// ```
/// use autonoe_model::{ProviderContext, provider_spec};
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
    /// Where the key is; `ANTHROPIC_API_KEY` if it is left out.
    pub key: KeySource,
    /// Where the API is.
    pub base_url: BaseUrl,
    /// Headers that go with every request; they win over ours.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
    /// How long the provider may take.
    pub timeouts: Timeouts,
    /// A proxy on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Whom encrypted connections trust; left out, whom all providers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// How long an answer may be that nobody has limited, thoughts not counted.
    pub max_output_tokens: u32,
    /// How models are told to think.
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
