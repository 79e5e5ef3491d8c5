//! [`Proxy`]: configuration of a proxy for connections to a provider.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::key_source::KeySource;
use super::spec::ProviderContext;
use crate::contract::{ModelError, ModelErrorCode};
use crate::transport::{BaseUrl, ProxyRoute, Secret};

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
