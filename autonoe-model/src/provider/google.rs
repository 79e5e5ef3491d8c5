//! [`GoogleSpec`]: Google and compatible services.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, HeaderSource, HttpProvider, KeySource, Provider, ProviderContext};
use super::{ProviderSpec, Proxy};
use crate::contract::ModelError;
use crate::transport::{BaseUrl, Timeouts, Trust};
use crate::wire::gemini::GeminiWire;

const BASE_URL: &str = "https://generativelanguage.googleapis.com";

/// Gemini API of Google or of a compatible service.
///
/// ```
/// use autonoe_model::provider::{ProviderContext, provider_spec};
/// use serde_json::json;
///
/// let spec = provider_spec(&json!({
///     "type": "google",
///     "key": {"env": "GEMINI_API_KEY"},
///     "baseUrl": "http://127.0.0.1:8080",
/// }))?;
/// let context = ProviderContext::new("google")
///     .with_environment([("GEMINI_API_KEY".into(), "123".into())]);
///
/// let model = spec.build(&context)?.model("gemini-2.5-pro")?;
/// assert_eq!(model.identity().to_string(), "google/gemini-2.5-pro");
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct GoogleSpec {
    /// Location of the key. Default: `GEMINI_API_KEY`.
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
}

impl Default for GoogleSpec {
    fn default() -> Self {
        Self {
            key: KeySource::env("GEMINI_API_KEY"),
            base_url: BaseUrl::known(BASE_URL),
            headers: BTreeMap::new(),
            timeouts: Timeouts::default(),
            proxy: None,
            trust: None,
        }
    }
}

#[typetag::serde(name = "google")]
impl ProviderSpec for GoogleSpec {
    fn build(&self, context: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError> {
        let endpoint = Endpoint {
            key: &self.key,
            base_url: &self.base_url,
            headers: &self.headers,
            timeouts: self.timeouts,
            proxy: self.proxy.as_ref(),
            trust: self.trust.as_ref(),
        };
        HttpProvider::open(GeminiWire::default(), &endpoint, context)
    }
}

autonoe_core::register_spec!(Other("provider"), GoogleSpec, "google", {
    "key": {"file": "/run/secrets/gemini"},
    "headers": {"x-team": "blue"}
});
