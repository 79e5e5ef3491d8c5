//! [`ProviderContext`] and [`Proxy`]: inputs for building a provider.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KeySource;
use crate::contract::{ModelError, ModelErrorCode};
use crate::transport::{BaseUrl, ProxyRoute, Secret, Trust};

/// Inputs for [`ProviderSpec`](super::ProviderSpec) when it builds a provider.
///
/// ```
/// use autonoe_model::provider::ProviderContext;
///
/// let context = ProviderContext::new("anthropic")
///     .with_environment([("ANTHROPIC_API_KEY".into(), "sk-123".into())]);
///
/// assert!(!format!("{context:?}").contains("sk-123"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ProviderContext {
    /// Name of the provider in the configuration, and in the
    /// [`ModelIdentity`](crate::contract::ModelIdentity) of its models.
    pub name: String,
    /// Environment for variable lookups. The library never reads its own environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Base directory of relative paths. Without it, relative paths are rejected.
    pub folder: Option<PathBuf>,
    /// Default certificate authorities for encrypted connections.
    pub trust: Trust,
}

impl ProviderContext {
    /// Creates a context for the provider `name`, with an empty environment.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            environment: BTreeMap::new(),
            folder: None,
            trust: Trust::default(),
        }
    }

    /// Sets the environment for variable lookups.
    #[must_use]
    pub fn with_environment(
        mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.environment = environment.into_iter().collect();
        self
    }

    /// Sets the base directory of relative paths.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the default certificate authorities for encrypted connections.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// Resolves a path, or returns `None` for a relative path without a base directory.
    pub(crate) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        match &self.folder {
            Some(folder) => Some(folder.join(path)),
            None => path.is_absolute().then(|| path.to_owned()),
        }
    }
}

impl fmt::Debug for ProviderContext {
    // The environment may contain secrets, so only its names are printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderContext")
            .field("name", &self.name)
            .field("environment", &self.environment.keys())
            .field("folder", &self.folder)
            .field("trust", &self.trust)
            .finish()
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
        let wrong = |what: &str| {
            let message = format!("the proxy of {} {what}", context.name);
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
            let value = HeaderValue::try_from(value);
            let mut value =
                value.map_err(|_| wrong("has credentials that a header cannot contain"))?;
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
