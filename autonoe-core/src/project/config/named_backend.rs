//! [`NamedBackend`], the backend that a configuration file names.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::spec::{BackendSpec, SpecPort, spec_schema};

/// The backend that a configuration file names: by a short name, or by its spec.
///
/// A short name is the `type` of a spec. The program that reads the file interprets the text after
/// a colon: the command supports `model:PROVIDER/MODEL`, for example.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::project::{AgentConfig, NamedBackend};
/// use autonoe_testkit as _;
///
/// let text = r#"{"backend": {"type": "scripted", "sessions": []}}"#;
/// let config = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
///
/// let Some(NamedBackend::Spec(spec)) = config.backend else { panic!("it is a spec") };
/// assert_eq!(spec.typetag_name(), "scripted");
/// # Ok::<(), autonoe_core::project::ConfigError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NamedBackend {
    /// A short name.
    Name(String),
    /// A spec.
    Spec(Arc<dyn BackendSpec>),
}

impl NamedBackend {
    /// Returns the short name, or the `type` of the spec.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Spec(spec) => spec.typetag_name(),
        }
    }
}

impl fmt::Debug for NamedBackend {
    // A spec may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedBackend").field(&self.name()).finish()
    }
}

impl JsonSchema for NamedBackend {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NamedBackend".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut spec = spec_schema(SpecPort::Backend, generator).to_value();
        // The files of a project cannot choose the sandbox of its agents.
        for one in spec["oneOf"].as_array_mut().into_iter().flatten() {
            if let Some(properties) = one["properties"].as_object_mut() {
                properties.remove("sandbox");
            }
        }
        let name = json!({"type": "string", "description": "A short name."});
        Schema::try_from(json!({"anyOf": [name, spec]})).unwrap_or_default()
    }
}
