//! A provider behind a protocol and a connection.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, KeySource, Provider, ProviderContext};
use crate::contract::{ModelClient, ModelError, ModelErrorCode, ModelIdentity};
use crate::transport::{HttpClient, HttpModel};
use crate::wire::Wire;

/// A provider that is asked over the protocol `W`. Its models share their connections.
#[derive(Debug)]
pub(crate) struct HttpProvider<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    name: String,
}

impl<W: Wire> HttpProvider<W> {
    /// Makes the provider ready. Nothing is sent.
    ///
    /// # Errors
    ///
    /// Something is missing, or makes no sense.
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
            let message = format!("no model of {} is named", self.name);
            return Err(ModelError::new(ModelErrorCode::ModelNotFound, message));
        }
        let identity = ModelIdentity::new(&self.name, name);
        let model = HttpModel::new(self.wire.clone(), self.http.clone(), identity);
        Ok(Arc::new(model))
    }
}

/// The value of a header: a text, or a secret that is elsewhere.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use autonoe_model::HeaderSource;
///
/// let headers: BTreeMap<String, HeaderSource> = serde_json::from_str(
///     r#"{"x-team": "blue", "x-gateway-key": {"env": "GATEWAY_KEY"}}"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HeaderSource {
    /// This text.
    Text(String),
    /// What is there. It never appears in an error.
    Secret(KeySource),
}

impl From<&str> for HeaderSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
