//! [`HttpProvider`]: provider on top of a wire protocol and an HTTP client.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, KeySource, Provider, ProviderContext};
use crate::contract::{ModelClient, ModelError, ModelErrorCode, ModelIdentity};
use crate::transport::{HttpClient, HttpModel};
use crate::wire::Wire;

/// Provider that uses the protocol `W`. Its models share connections.
#[derive(Debug)]
pub(crate) struct HttpProvider<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    name: String,
}

impl<W: Wire> HttpProvider<W> {
    /// Creates the provider. Sends nothing.
    ///
    /// # Errors
    ///
    /// A setting is missing or invalid.
    pub(crate) fn open(
        wire: W,
        endpoint: &Endpoint<'_>,
        context: &ProviderContext,
    ) -> Result<Arc<dyn Provider>, ModelError> {
        let http = endpoint.connect(&wire, context)?;
        Ok(Arc::new(Self {
            wire: Arc::new(wire),
            http: Arc::new(http),
            name: context.name.clone(),
        }))
    }
}

impl<W: Wire> Provider for HttpProvider<W> {
    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self, name: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
        let name = name.trim();
        if name.is_empty() {
            let message = format!("the name of the model of {} is blank", self.name);
            return Err(ModelError::new(ModelErrorCode::ModelNotFound, message));
        }
        let identity = ModelIdentity::new(&self.name, name);
        let model = HttpModel::new(self.wire.clone(), self.http.clone(), identity);
        Ok(Arc::new(model))
    }
}

/// Value of a header: a text, or the location of a secret.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use autonoe_model::provider::HeaderSource;
///
/// let headers: BTreeMap<String, HeaderSource> = serde_json::from_str(
///     r#"{"x-team": "blue", "x-gateway-key": {"env": "GATEWAY_KEY"}}"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HeaderSource {
    /// Literal text.
    Text(String),
    /// Location of a secret. The secret never appears in an error.
    Secret(KeySource),
}

impl From<&str> for HeaderSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
