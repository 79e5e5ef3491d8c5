//! [`Endpoint`]: connection settings of a provider spec.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::{HeaderSource, KeySource, ProviderContext, Proxy};
use crate::contract::{ModelError, ModelErrorCode};
use crate::transport::{
    Authorities, BaseUrl, HttpClient, HttpSettings, SecretSet, Timeouts, Trust,
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
        let wrong = |what: String| {
            let message = format!("{} is not configured: {what}", context.name);
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
            let header = HeaderName::try_from(name);
            let header = header.map_err(|_| wrong("a header has an illegal name".to_owned()))?;
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
            Authorities::none()
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
