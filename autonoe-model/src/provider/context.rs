//! What a spec is told when it builds.

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

/// What a [`ProviderSpec`](super::ProviderSpec) is told when it builds.
///
/// ```
/// use autonoe_model::ProviderContext;
///
/// let context = ProviderContext::new("anthropic")
///     .with_environment([("ANTHROPIC_API_KEY".into(), "sk-123".into())]);
///
/// assert!(!format!("{context:?}").contains("sk-123"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ProviderContext {
    /// The name that the provider has in the configuration, and so in the
    /// [`ModelIdentity`](crate::ModelIdentity) of its models.
    pub name: String,
    /// Where variables are looked up. The library never reads its own environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where files with relative paths are; without it, they are refused.
    pub folder: Option<PathBuf>,
    /// Whom encrypted connections trust, unless the spec says so itself.
    pub trust: Trust,
}

impl ProviderContext {
    /// Makes a context for the provider called `name`, with an empty environment.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            environment: BTreeMap::new(),
            folder: None,
            trust: Trust::default(),
        }
    }

    /// Sets where variables are looked up.
    #[must_use]
    pub fn with_environment(
        mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.environment = environment.into_iter().collect();
        self
    }

    /// Sets where files with relative paths are.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets whom encrypted connections trust, unless the spec says so itself.
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

    /// Returns where a file is; `None` if its path is relative to nothing.
    pub(crate) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        match &self.folder {
            Some(folder) => Some(folder.join(path)),
            None => path.is_absolute().then(|| path.to_owned()),
        }
    }
}

impl fmt::Debug for ProviderContext {
    // The environment may hold secrets, so only its names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderContext")
            .field("name", &self.name)
            .field("environment", &self.environment.keys())
            .field("folder", &self.folder)
            .field("trust", &self.trust)
            .finish()
    }
}

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
