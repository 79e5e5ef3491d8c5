//! [`HttpProvider`]: provider on top of a wire protocol and an HTTP client, with the settings of its
//! connections.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use rustls::RootCertStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Provider;
use super::key_source::KeySource;
use super::spec::ProviderContext;
use crate::contract::{ModelClient, ModelError, ModelErrorCode, ModelIdentity};
use crate::transport::{
    BaseUrl, Connector, HttpClient, HttpModel, ProxyRoute, Secret, SecretSet, Timeouts, Trust, pool,
};
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
        let mut secrets = SecretSet::default();
        let mut headers = HeaderMap::new();
        if let Some(key) = self.key.resolve(context)? {
            let (name, value) = wire.credential(key.expose());
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                wrong("its key has characters that a header cannot contain".to_owned())
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
            secrets.add(key.expose());
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
                        secrets.add(secret.expose());
                        (secret.expose().to_owned(), true)
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
            if let Some(login) = login {
                secrets.add(login.expose());
            }
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
        let connector = Connector::new(authorities, proxy, self.timeouts.connect())
            .map_err(|error| wrong(format!("connections cannot be encrypted: {error}")))?;
        Ok(HttpClient {
            client: pool(connector),
            base_url: self.base_url.clone(),
            headers,
            timeouts: self.timeouts,
            secrets,
        })
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
        Ok(Arc::new(HttpModel {
            wire: self.wire.clone(),
            http: self.http.clone(),
            identity: ModelIdentity::new(&self.name, name),
        }))
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

/// Proxy that opens tunnels (`CONNECT`). Used only if configured, and never taken from the
/// environment.
///
/// ```
/// use autonoe_model::provider::Proxy;
///
/// let proxy: Proxy = serde_json::from_str(
///     r#"{"url": "http://proxy.lan:3128", "login": {"env": "PROXY_LOGIN"}}"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Proxy {
    /// URL of the proxy. The connection to it is unencrypted; the tunnelled connection is
    /// encrypted.
    pub url: BaseUrl,
    /// Location of `user:password`, if required.
    #[serde(default = "no_login")]
    pub login: KeySource,
}

fn no_login() -> KeySource {
    KeySource::None
}

impl Proxy {
    /// Creates a proxy without a login.
    pub fn new(url: BaseUrl) -> Self {
        Self {
            url,
            login: no_login(),
        }
    }

    /// Returns the route through the proxy, and its login.
    pub(super) fn route(
        &self,
        context: &ProviderContext,
    ) -> Result<(ProxyRoute, Option<Secret>), ModelError> {
        let wrong = |problem: &str| {
            let message = format!("the proxy of {} {problem}", context.name);
            ModelError::new(ModelErrorCode::ProviderNotConfigured, message)
        };
        if self.url.is_encrypted() {
            return Err(wrong("must begin with http://"));
        }
        let uri = self
            .url
            .join("/")
            .ok_or_else(|| wrong("is not a valid URL"))?;
        let login = self.login.resolve(context)?;
        let authorization = login.as_ref().map(|login| {
            let value = format!("Basic {}", STANDARD.encode(login.expose()));
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| wrong("has credentials that a header cannot contain"))?;
            value.set_sensitive(true);
            Ok(value)
        });
        let route = ProxyRoute {
            uri,
            authorization: authorization.transpose()?,
        };
        Ok((route, login))
    }
}
