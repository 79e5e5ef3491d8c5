//! [`OpenAiSpec`]: OpenAI and services compatible with its Responses API.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, HeaderSource, HttpProvider, KeySource, Provider, ProviderContext};
use super::{ProviderSpec, Proxy};
use crate::contract::ModelError;
use crate::transport::{BaseUrl, Timeouts, Trust};
use crate::wire::openai_responses::{
    OpenAiResponses, ReasoningModels, ReasoningSummary, ResponsesOptions,
};

const BASE_URL: &str = "https://api.openai.com/v1";

/// Responses API of OpenAI or of a compatible service. Nothing is stored at the provider.
///
/// Services with Chat Completions are [`OpenAiCompatibleSpec`](super::OpenAiCompatibleSpec).
///
/// ```
/// use autonoe_model::provider::{ProviderContext, provider_spec};
/// use serde_json::json;
///
/// let spec = provider_spec(&json!({
///     "type": "openai",
///     "key": {"env": "OPENAI_API_KEY"},
///     "headers": {"openai-project": "proj_1"},
///     "reasoningSummary": "auto",
/// }))?;
/// let context = ProviderContext::new("openai")
///     .with_environment([("OPENAI_API_KEY".into(), "sk-123".into())]);
///
/// let model = spec.build(&context)?.model("gpt-5")?;
/// assert_eq!(model.identity().to_string(), "openai/gpt-5");
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct OpenAiSpec {
    /// Location of the key. Default: `OPENAI_API_KEY`.
    pub key: KeySource,
    /// Base URL of the API, including its version.
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
    /// Models that reason before they answer.
    pub reasoning_models: ReasoningModels,
    /// Format of reasoning summaries. By default, there are none: the service only allows them for
    /// verified accounts, and rejects requests of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_summary: Option<ReasoningSummary>,
}

impl Default for OpenAiSpec {
    fn default() -> Self {
        Self {
            key: KeySource::env("OPENAI_API_KEY"),
            base_url: BaseUrl::known(BASE_URL),
            headers: BTreeMap::new(),
            timeouts: Timeouts::default(),
            proxy: None,
            trust: None,
            reasoning_models: ReasoningModels::default(),
            reasoning_summary: None,
        }
    }
}

#[typetag::serde(name = "openai")]
impl ProviderSpec for OpenAiSpec {
    fn build(&self, context: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError> {
        let wire = OpenAiResponses::new(ResponsesOptions {
            reasoning_models: self.reasoning_models,
            summary: self.reasoning_summary,
        });
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

autonoe_core::register_spec!(Other("provider"), OpenAiSpec, "openai", {
    "key": {"env": "OPENAI_API_KEY"},
    "headers": {"openai-project": "proj_1"},
    "reasoningSummary": "auto"
});
