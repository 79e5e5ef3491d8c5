//! OpenAI, and who speaks as it does now.

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

/// The Responses API of OpenAI, there or elsewhere. Nothing is stored at the provider.
///
/// Services that speak Chat Completions are [`OpenAiCompatibleSpec`](super::OpenAiCompatibleSpec).
///
/// ```
/// use autonoe_model::{ProviderContext, provider_spec};
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
    /// Where the key is; `OPENAI_API_KEY` if it is left out.
    pub key: KeySource,
    /// Where the API is, its version included.
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
    /// Which models think before they answer.
    pub reasoning_models: ReasoningModels,
    /// How thoughts are summed up. Left out, they are not shown: the service sums up only for
    /// verified accounts, and refuses the others.
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
