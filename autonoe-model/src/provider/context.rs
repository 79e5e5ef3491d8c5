//! What a spec is told when it builds.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::transport::Trust;

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
