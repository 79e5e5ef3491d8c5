//! A proxy on the way.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KeySource, ProviderContext};
use crate::contract::{ModelError, ModelErrorCode};
use crate::transport::{BaseUrl, ProxyRoute, Secret};

/// A proxy that opens tunnels (`CONNECT`). It is used where it is named and never taken from
/// the environment.
///
/// ```
/// use autonoe_model::Proxy;
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
    /// Where it is; the way to it is not encrypted, what goes through it is.
    pub url: BaseUrl,
    /// Where `user:password` is, if it wants one.
    #[serde(default = "no_login")]
    pub login: KeySource,
}

fn no_login() -> KeySource {
    KeySource::None
}

impl Proxy {
    /// Names a proxy that wants no login.
    pub fn new(url: BaseUrl) -> Self {
        Self {
            url,
            login: no_login(),
        }
    }

    /// Returns the way through it, and its login.
    pub(super) fn route(
        &self,
        context: &ProviderContext,
    ) -> Result<(ProxyRoute, Option<Secret>), ModelError> {
        let wrong = |what: &str| {
            let message = format!("the proxy of {} {what}", context.name);
            ModelError::new(ModelErrorCode::ProviderNotConfigured, message)
        };
        if self.url.is_encrypted() {
            return Err(wrong("must begin with http://"));
        }
        let uri = self.url.join("/").ok_or_else(|| wrong("has no URL"))?;
        let login = self.login.resolve(context)?;
        let authorization = login.as_ref().map(|login| {
            let value = format!("Basic {}", STANDARD.encode(login.expose()));
            let value = HeaderValue::try_from(value);
            let mut value = value.map_err(|_| wrong("has a login that cannot be sent"))?;
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
