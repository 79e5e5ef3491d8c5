//! Providers that a configuration file can name.

use std::fmt;
use std::sync::Arc;

use autonoe_core::{SpecPort, registered_specs};
use serde::Deserialize;
use serde_json::Value;

use super::ProviderContext;
use crate::contract::{ModelClient, ModelError, ModelErrorCode};

/// The port of [`ProviderSpec`]s, under which they register themselves.
pub const PROVIDER_PORT: SpecPort = SpecPort::Other("provider");

/// Describes a provider in a configuration file, and builds it.
///
/// An implementer is a plain serialisable struct without secrets: it names where its key is.
/// It builds without asking the provider anything. `register_spec!(Other("provider"), ...)`
/// adds its tag, schema and example to what [`registered_specs`] lists for [`PROVIDER_PORT`];
/// the rules of [`HookSpec`](autonoe_core::HookSpec) hold here too.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_model::{
///     ModelClient, ModelError, ModelErrorCode, Provider, ProviderContext, ProviderSpec,
/// };
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
/// let spec = autonoe_model::provider_spec(&serde_json::json!({"type": "docs-nobody"}))?;
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
    /// `PROVIDER_NOT_CONFIGURED`: something is missing, a key for example. The error says
    /// what and where it is looked for, and never shows a key.
    fn build(&self, context: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError>;
}

/// A [`ProviderSpec`], given as a value, in a `Box` or in an `Arc`.
///
/// An `Arc` of a spec is none itself, because a spec can be written to a file.
pub trait IntoProviderSpec {
    /// Shares the spec.
    fn into_provider_spec(self) -> Arc<dyn ProviderSpec>;
}

impl<S: ProviderSpec + 'static> IntoProviderSpec for S {
    fn into_provider_spec(self) -> Arc<dyn ProviderSpec> {
        Arc::new(self)
    }
}

impl IntoProviderSpec for Arc<dyn ProviderSpec> {
    fn into_provider_spec(self) -> Arc<dyn ProviderSpec> {
        self
    }
}

impl IntoProviderSpec for Box<dyn ProviderSpec> {
    fn into_provider_spec(self) -> Arc<dyn ProviderSpec> {
        self.into()
    }
}

/// Serves models, by their names.
pub trait Provider: Send + Sync {
    /// Names it, as the configuration does.
    fn name(&self) -> &str;

    /// Returns the model of this name. Whether there is one is known when it is asked.
    ///
    /// # Errors
    ///
    /// There cannot be such a model.
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

/// Reads the spec of a provider.
///
/// ```
/// use autonoe_model::{ModelErrorCode, provider_spec};
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
/// `PROVIDER_NOT_SUPPORTED`: nobody has registered the tag; the error lists those that are
/// known. `PROVIDER_NOT_CONFIGURED`: the rest makes no sense.
pub fn provider_spec(json: &Value) -> Result<Box<dyn ProviderSpec>, ModelError> {
    Box::<dyn ProviderSpec>::deserialize(json).map_err(|error| {
        let known: Vec<_> = registered_specs(PROVIDER_PORT)
            .iter()
            .map(|spec| spec.tag)
            .collect();
        match json["type"].as_str() {
            Some(tag) if known.contains(&tag) => ModelError::new(
                ModelErrorCode::ProviderNotConfigured,
                format!("the provider of type `{tag}` makes no sense: {error}"),
            ),
            Some(tag) => not_supported(&format!("there is no provider of type `{tag}`"), &known),
            None => not_supported("the provider has no `type`", &known),
        }
    })
}

fn not_supported(what: &str, known: &[&str]) -> ModelError {
    let message = format!("{what}; known are {}", known.join(", "));
    ModelError::new(ModelErrorCode::ProviderNotSupported, message)
}
