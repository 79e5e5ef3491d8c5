//! [`ProviderSpec`] and [`Provider`]: configurable providers of models, and the [`ProviderContext`] for building them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::spec::{SpecPort, registered_specs};
use serde::Deserialize;
use serde_json::Value;

use crate::contract::{ModelClient, ModelError, ModelErrorCode};
use crate::transport::Trust;

/// Port under which [`ProviderSpec`]s register themselves.
pub const PROVIDER_PORT: SpecPort = SpecPort::Other("provider");

/// Describes a provider in a configuration file, and builds it.
///
/// An implementation is a plain serializable struct without secrets: it contains the location of
/// its key. It builds without contacting the provider. `register_spec!(Other("provider"), ...)`
/// adds its tag, schema and example to the list of [`registered_specs`] for [`PROVIDER_PORT`]. The
/// rules of [`HookSpec`](autonoe_core::spec::HookSpec) apply here, too.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_model::provider::ProviderContext;
/// use autonoe_model::{ModelClient, ModelError, ModelErrorCode, Provider, ProviderSpec};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Has no models at all.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Nobody {}
///
/// #[typetag::serde(name = "docs-nobody")]
/// impl ProviderSpec for Nobody {
///     fn build(&self, _: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError> {
///         Ok(Arc::new(NoModels))
///     }
/// }
///
/// struct NoModels;
///
/// impl Provider for NoModels {
///     fn name(&self) -> &str {
///         "nobody"
///     }
///
///     fn model(&self, name: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
///         Err(ModelError::new(ModelErrorCode::ModelNotFound, format!("there is no {name}")))
///     }
/// }
///
/// autonoe_core::register_spec!(Other("provider"), Nobody, "docs-nobody", {});
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spec = autonoe_model::provider::provider_spec(&serde_json::json!({"type": "docs-nobody"}))?;
/// let provider = spec.build(&ProviderContext::new("nobody"))?;
/// assert!(provider.model("any").is_err());
/// # Ok(())
/// # }
/// ```
#[typetag::serde(tag = "type")]
pub trait ProviderSpec: fmt::Debug + Send + Sync {
    /// Builds the provider.
    ///
    /// # Errors
    ///
    /// `PROVIDER_NOT_CONFIGURED`: a setting is missing, for example a key. The error names the
    /// setting and its location, and never contains a key.
    fn build(&self, context: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError>;
}

/// Serves models by their names.
pub trait Provider: Send + Sync {
    /// Returns its name in the configuration.
    fn name(&self) -> &str;

    /// Returns the model with this name. An unknown model is only detected when it is called.
    ///
    /// # Errors
    ///
    /// The name cannot be that of a model.
    fn model(&self, name: &str) -> Result<Arc<dyn ModelClient>, ModelError>;
}

#[deny(clippy::missing_trait_methods)]
impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn model(&self, name: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
        (**self).model(name)
    }
}

impl fmt::Debug for dyn Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider {}", self.name())
    }
}

/// Parses the spec of a provider.
///
/// ```
/// use autonoe_model::provider::provider_spec;
/// use autonoe_model::ModelErrorCode;
/// use serde_json::json;
///
/// provider_spec(&json!({"type": "anthropic"}))?;
///
/// let error = provider_spec(&json!({"type": "antropic"})).expect_err("nobody has this name");
/// assert_eq!(error.code, ModelErrorCode::ProviderNotSupported);
/// assert!(error.message.contains("anthropic"));
/// # Ok::<(), autonoe_model::ModelError>(())
/// ```
///
/// # Errors
///
/// `PROVIDER_NOT_SUPPORTED`: the tag is not registered; the error lists the known ones.
/// `PROVIDER_NOT_CONFIGURED`: the rest is invalid.
pub fn provider_spec(json: &Value) -> Result<Box<dyn ProviderSpec>, ModelError> {
    Box::<dyn ProviderSpec>::deserialize(json).map_err(|error| {
        let known: Vec<_> = registered_specs(PROVIDER_PORT)
            .iter()
            .map(|spec| spec.tag)
            .collect();
        match json["type"].as_str() {
            Some(tag) if known.contains(&tag) => ModelError::new(
                ModelErrorCode::ProviderNotConfigured,
                format!("the provider of type `{tag}` is not valid: {error}"),
            ),
            Some(tag) => not_supported(&format!("there is no provider of type `{tag}`"), &known),
            None => not_supported("the provider has no `type`", &known),
        }
    })
}

fn not_supported(problem: &str, known: &[&str]) -> ModelError {
    let message = format!("{problem}; known are {}", known.join(", "));
    ModelError::new(ModelErrorCode::ProviderNotSupported, message)
}

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
