//! [`HttpProvider`]: provider on top of a wire protocol and an HTTP client, and the [`Endpoint`] settings of its spec.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use rustls::RootCertStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KeySource, Provider, ProviderContext, Proxy};
use crate::contract::{ModelClient, ModelError, ModelErrorCode, ModelIdentity};
use crate::transport::{BaseUrl, HttpClient, HttpModel, HttpSettings, SecretSet, Timeouts, Trust};
use crate::wire::Wire;

/// Headers that the connection sets itself.
const RESERVED: [&str; 6] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "te",
    "transfer-encoding",
];

/// Connection settings of a provider spec.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint<'a> {
    pub(crate) key: &'a KeySource,
    pub(crate) base_url: &'a BaseUrl,
    pub(crate) headers: &'a BTreeMap<String, HeaderSource>,
    pub(crate) timeouts: Timeouts,
    pub(crate) proxy: Option<&'a Proxy>,
    /// Trusted certificate authorities; `None` for those of the context.
    pub(crate) trust: Option<&'a Trust>,
}

impl Endpoint<'_> {
    /// Creates an HTTP client for the provider. Sends nothing.
    ///
    /// # Errors
    ///
    /// A setting is missing or invalid.
    pub(crate) fn connect<W: Wire>(
        &self,
        wire: &W,
        context: &ProviderContext,
    ) -> Result<HttpClient, ModelError> {
        let wrong = |problem: String| {
            let message = format!("{} is not configured: {problem}", context.name);
            ModelError::new(ModelErrorCode::ProviderNotConfigured, message)
        };
        if !self.timeouts.are_positive() {
            return Err(wrong("a timeout is 0; give a longer one".to_owned()));
        }
        let mut secrets = Vec::new();
        let mut headers = HeaderMap::new();
        if let Some(key) = self.key.resolve(context)? {
            let (name, value) = wire.credential(key.expose());
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                wrong("its key has characters that a header cannot contain".to_owned())
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
            secrets.push(key);
        }
        for (name, source) in self.headers {
            let header = HeaderName::try_from(name)
                .map_err(|_| wrong("a header has an illegal name".to_owned()))?;
            if RESERVED.contains(&header.as_str()) {
                return Err(wrong(format!("the header {header} cannot be set")));
            }
            let (text, is_secret) = match source {
                HeaderSource::Text(text) => (text.clone(), false),
                HeaderSource::Secret(source) => match source.resolve(context)? {
                    Some(secret) => {
                        let text = secret.expose().to_owned();
                        secrets.push(secret);
                        (text, true)
                    }
                    None => continue,
                },
            };
            let mut value = HeaderValue::try_from(text)
                .map_err(|_| wrong(format!("the header {header} has an illegal value")))?;
            value.set_sensitive(is_secret);
            headers.insert(header, value);
        }
        let mut proxy = None;
        if let Some(named) = self.proxy {
            let (route, login) = named.route(context)?;
            proxy = Some(route);
            secrets.extend(login);
        }
        let authorities = if self.base_url.is_encrypted() {
            let trust = self.trust.unwrap_or(&context.trust).clone();
            let trust = match &context.folder {
                Some(folder) => trust.resolve_in(folder),
                None => trust,
            };
            let read = trust.read(&context.environment);
            read.map_err(|error| wrong(format!("no certificate can be trusted: {error}")))?
        } else {
            // An unencrypted connection, for example to a local model, needs no certificates.
            Arc::new(RootCertStore::empty())
        };
        HttpClient::new(HttpSettings {
            base_url: self.base_url.clone(),
            headers,
            timeouts: self.timeouts,
            proxy,
            authorities,
            secrets: SecretSet::new(secrets),
        })
        .map_err(|error| wrong(format!("connections cannot be encrypted: {error}")))
    }
}

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
