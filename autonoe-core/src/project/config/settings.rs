//! [`NamedBackend`], [`Profiles`] and [`SandboxSwitch`], settings with their own types.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use autonoe_security::Profile;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::field_values::one_of;
use super::strict::read_part;
use crate::agent::Sandbox;
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

/// The profiles of a project: one, or a list.
///
/// ```
/// use autonoe_core::gate::policy::Profile;
/// use autonoe_core::project::Profiles;
///
/// let one: Profiles = serde_json::from_str(r#""node""#)?;
/// let two: Profiles = serde_json::from_str(r#"["python", "node"]"#)?;
///
/// assert_eq!(Vec::from_iter(one.selected()), [Profile::Node]);
/// assert_eq!(Vec::from_iter(two.selected()), [Profile::Node, Profile::Python]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Profiles {
    /// One profile.
    One(#[schemars(schema_with = "profile_schema")] Profile),
    /// Several profiles. An empty list leaves the commands that every project has.
    Several(#[schemars(schema_with = "profiles_schema")] BTreeSet<Profile>),
}

impl Profiles {
    /// Returns the profiles, each once.
    pub fn selected(&self) -> BTreeSet<Profile> {
        match self {
            Self::One(profile) => BTreeSet::from([*profile]),
            Self::Several(profiles) => profiles.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for Profiles {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        one_of(
            from,
            "a profile or a list of profiles",
            |value| match value {
                Value::String(_) => Some(read_part(value).map(Self::One)),
                Value::Array(_) => Some(read_part(value).map(Self::Several)),
                _ => None,
            },
        )
    }
}

fn profile_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "A language whose commands an agent may run.",
        "type": "string",
        "enum": Profile::ALL.map(Profile::name),
    })
}

fn profiles_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": profile_schema(generator),
        "uniqueItems": true,
    })
}

/// Whether a sandbox is required, and the source of that setting.
///
/// The caller that starts a run passes it in; a configuration file cannot change it. The library
/// does not read the environment, so the caller does.
///
/// ```
/// use autonoe_core::agent::Sandbox;
/// use autonoe_core::project::{SandboxSwitch, SwitchSource};
///
/// let by_nobody = SandboxSwitch::resolve(None, None);
/// assert_eq!(by_nobody.sandbox(), Sandbox::Required);
///
/// let switch = SandboxSwitch::resolve(None, Some(Sandbox::Off));
/// assert_eq!((switch.sandbox(), switch.source()), (Sandbox::Off, SwitchSource::Environment));
/// assert!(switch.warning().is_some());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SandboxSwitch {
    // Private, so that the sandbox is not off by default.
    sandbox: Sandbox,
    source: SwitchSource,
}

/// The source of the sandbox setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SwitchSource {
    /// The operator, on the command line.
    Flag,
    /// The environment of the program.
    Environment,
    /// The default.
    #[default]
    Default,
}

impl SandboxSwitch {
    /// Uses the value of the command line, otherwise that of the environment, otherwise requires a
    /// sandbox.
    pub fn resolve(flag: Option<Sandbox>, environment: Option<Sandbox>) -> Self {
        let by = |source| move |sandbox| Self { sandbox, source };
        flag.map(by(SwitchSource::Flag))
            .or(environment.map(by(SwitchSource::Environment)))
            .unwrap_or_default()
    }

    /// Returns whether a sandbox is required.
    pub fn sandbox(self) -> Sandbox {
        self.sandbox
    }

    /// Returns the source of the setting.
    pub fn source(self) -> SwitchSource {
        self.source
    }

    /// Returns a warning for the operator if the sandbox is off.
    pub fn warning(self) -> Option<&'static str> {
        match (self.sandbox, self.source) {
            (Sandbox::Required, _) => None,
            (Sandbox::Off, SwitchSource::Environment) => Some(
                "the sandbox is switched off by the environment: commands of agents reach \
                 everything that you can reach",
            ),
            (Sandbox::Off, SwitchSource::Flag | SwitchSource::Default) => Some(
                "the sandbox is switched off: commands of agents reach everything that you can \
                 reach",
            ),
        }
    }
}
