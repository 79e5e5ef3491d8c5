//! Traits and registry of the plugins that a configuration file can name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::agent::{AgentClientFactory, BackendProbe, Capabilities, OuterSandbox, ProbeFinding};
use crate::gate::{PreToolUseHook, ProjectPaths};

/// Describes a hook in a configuration file, and builds it.
///
/// An implementation is a plain serialisable struct. Its tag has the form `crate-thing`, so that
/// two crates do not collide. Only Autonoe's own backends have short tags, such as `model`.
/// [`register_spec!`](crate::register_spec) adds the tag, the schema and an example to the list of
/// [`registered_specs`]. A crate that is never named in code is not linked: write `use that_crate
/// as _;` in the program that needs its specs.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::gate::ProjectPaths;
/// use autonoe_core::spec::{HookSpec, SpecContext, SpecError};
/// use autonoe_core::{HookDecision, PreToolUseHook, ToolKind, hook_fn};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Blocks the network.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// struct Offline {
///     /// RefusalReason, for the agent.
///     reason: String,
/// }
///
/// #[typetag::serde(name = "docs-offline")]
/// impl HookSpec for Offline {
///     fn build(&self, _: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError> {
///         let reason = self.reason.clone();
///         Ok(hook_fn("offline", move |call, _| match call.kind {
///             ToolKind::Fetch { .. } => HookDecision::block(reason.clone()),
///             _ => HookDecision::Pass,
///         }))
///     }
/// }
///
/// let spec: Box<dyn HookSpec> =
///     serde_json::from_str(r#"{"type": "docs-offline", "reason": "we work offline"}"#)?;
/// let hook = spec.build(&SpecContext::new(ProjectPaths::new("/srv/project")))?;
/// assert_eq!(hook.name(), "offline");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[typetag::serde(tag = "type")]
pub trait HookSpec: fmt::Debug + Send + Sync {
    /// Builds the hook.
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError>;
}

/// Describes a backend in a configuration file, and builds it.
///
/// The rules of [`HookSpec`] apply here too. [`probe_backends`](crate::spec::probe_backends) probes
/// all registered backends. To implement [`probe`](BackendSpec::probe), write `#[async_trait]`
/// below `#[typetag::serde]`.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::spec::{BackendSpec, SpecContext, SpecError};
/// use autonoe_core::AgentClientFactory;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize)]
/// struct Missing;
///
/// #[typetag::serde(name = "docs-missing")]
/// impl BackendSpec for Missing {
///     fn build(&self, _: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
///         Err(SpecError::new("docs-missing", "there is nothing to build"))
///     }
/// }
/// ```
#[typetag::serde(tag = "type")]
#[async_trait]
pub trait BackendSpec: fmt::Debug + Send + Sync {
    /// Builds the backend.
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError>;

    /// Probes whether a run could start on this backend, for commands that check before a start.
    ///
    /// An implementation must not call a service: it looks for programs, queries their versions,
    /// and checks whether there is a key. The default implementation builds the backend and queries
    /// its capabilities, as a run does first.
    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        let probe = BackendProbe::new(self.typetag_name());
        let agents = match self.build(context) {
            Ok(agents) => agents,
            Err(error) => {
                return probe.finding(ProbeFinding::explained_problem("backend", error.reason));
            }
        };
        match agents.probe().await {
            Ok(capabilities) => {
                let probe = probe.finding(ProbeFinding::good("backend", "it can be built"));
                match capabilities.version {
                    Some(version) => probe.with_version(version),
                    None => probe,
                }
            }
            Err(error) => probe.finding(match error.remedy() {
                Some(remedy) => ProbeFinding::problem("backend", error.to_string(), remedy),
                None => ProbeFinding::explained_problem("backend", error.to_string()),
            }),
        }
    }

    /// Returns the capabilities that the backend claims with these fields, on a machine where it
    /// works; `None` if only a probe can determine them.
    ///
    /// Commands use it to refuse an option or a configuration before anything starts:
    /// [`Capabilities::require`].
    fn claims(&self) -> Option<Capabilities> {
        None
    }

    /// Returns the outer sandbox that a run on this backend needs, unless the caller has set up
    /// another one. It is for a backend that creates the sandbox itself when a session names it,
    /// and that is not safe without it.
    ///
    /// By default there is none.
    fn outer_sandbox(&self) -> Option<OuterSandbox> {
        None
    }
}

/// The context in which a spec builds its plugin.
#[derive(Clone)]
#[non_exhaustive]
pub struct SpecContext {
    /// The directories of the project.
    pub project_paths: ProjectPaths,
    /// The environment for programs that a backend starts. The library never reads its own
    /// environment.
    pub environment: BTreeMap<OsString, OsString>,
}

impl SpecContext {
    /// Creates a context for the project at `project_paths`, with an empty environment.
    pub fn new(project_paths: ProjectPaths) -> Self {
        Self {
            project_paths,
            environment: BTreeMap::new(),
        }
    }

    /// Sets the environment for programs that a backend starts.
    ///
    /// ```
    /// use autonoe_core::gate::ProjectPaths;
    /// use autonoe_core::spec::SpecContext;
    ///
    /// let path = [("PATH".into(), "/usr/bin:/bin".into())];
    /// let context = SpecContext::new(ProjectPaths::new("/srv/project")).with_environment(path);
    ///
    /// assert_eq!(context.environment.len(), 1);
    /// ```
    #[must_use]
    pub fn with_environment(
        mut self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.environment = environment.into_iter().collect();
        self
    }
}

impl fmt::Debug for SpecContext {
    // The environment may contain secrets, so only its names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpecContext")
            .field("project_paths", &self.project_paths)
            .field("environment", &self.environment.keys())
            .finish()
    }
}

/// Error of a spec that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{tag} cannot be used: {reason}")]
pub struct SpecError {
    tag: String,
    reason: String,
}

impl SpecError {
    /// Creates an error about the spec with `tag`.
    pub fn new(tag: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            tag: tag.into(),
            reason: reason.into(),
        }
    }

    /// Returns the reason, without the name of the spec.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// A registered spec.
#[derive(Debug)]
pub struct SpecEntry {
    /// The kind of plugin that it describes.
    pub port: SpecPort,
    /// The value of `type` that names it.
    pub tag: &'static str,
    /// The module that registered it. Its path starts with the name of its crate.
    pub module: &'static str,
    /// The schema of its fields.
    pub schema: fn() -> Schema,
    /// A complete example, including `type`.
    pub example: fn() -> Value,
}

inventory::collect!(SpecEntry);

impl SpecEntry {
    /// Returns the schema with the field `type`.
    pub(crate) fn tagged_schema(&self) -> Value {
        let mut schema = (self.schema)().to_value();
        schema["properties"]["type"] = json!({"const": self.tag});
        match schema["required"].as_array_mut() {
            Some(required) => required.push("type".into()),
            None => schema["required"] = json!(["type"]),
        }
        schema
    }
}

/// The kind of plugin that a spec describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SpecPort {
    /// A [`HookSpec`].
    Hook,
    /// A [`BackendSpec`].
    Backend,
    /// A spec whose trait belongs to another crate, under a name that this crate chooses:
    /// `provider`.
    Other(&'static str),
}

impl SpecPort {
    /// Returns the name of the port, which is the prefix of the schema names of its specs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Backend => "backend",
            Self::Other(name) => name,
        }
    }
}

/// Returns every registered spec of `port`, sorted by tag.
///
/// ```
/// use autonoe_core::spec::{SpecPort, registered_specs};
///
/// let tags: Vec<_> = registered_specs(SpecPort::Hook).iter().map(|spec| spec.tag).collect();
/// assert!(tags.contains(&"core-deny-tool"));
/// ```
pub fn registered_specs(port: SpecPort) -> Vec<&'static SpecEntry> {
    let mut entries: Vec<_> = inventory::iter::<SpecEntry>()
        .filter(|entry| entry.port == port)
        .collect();
    entries.sort_by_key(|entry| entry.tag);
    entries
}

/// Returns every registered spec of every port.
pub(crate) fn all_specs() -> impl Iterator<Item = &'static SpecEntry> {
    inventory::iter::<SpecEntry>()
}

/// Registers a spec: its port, its type, its tag and an example of its fields without `type`.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::spec::{HookSpec, SpecContext, SpecError};
/// use autonoe_core::{HookDecision, PreToolUseHook, hook_fn};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Lets everything pass.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// struct Nothing {}
///
/// #[typetag::serde(name = "docs-nothing")]
/// impl HookSpec for Nothing {
///     fn build(&self, _: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError> {
///         Ok(hook_fn("nothing", |_, _| HookDecision::Pass))
///     }
/// }
///
/// autonoe_core::register_spec!(Hook, Nothing, "docs-nothing", {});
/// # fn main() {}
/// ```
///
/// A crate with its own port names it: `register_spec!(Other("provider"), ...)`.
#[macro_export]
macro_rules! register_spec {
    ($port:ident $(($name:literal))?, $spec:ty, $tag:literal, $example:tt) => {
        $crate::plugin::inventory::submit! {
            $crate::spec::SpecEntry {
                port: $crate::spec::SpecPort::$port $(($name))?,
                tag: $tag,
                module: ::core::module_path!(),
                schema: || $crate::tool::plain_schema::<$spec>(),
                example: || {
                    let mut example = $crate::plugin::serde_json::json!($example);
                    example["type"] = $tag.into();
                    example
                },
            }
        }
    };
}

/// Returns the schema of one spec of `port`, for a field that holds one.
///
/// ```
/// use autonoe_core::spec::{SpecPort, spec_schema};
/// use schemars::{JsonSchema, Schema, SchemaGenerator, schema_for};
///
/// fn hook(generator: &mut SchemaGenerator) -> Schema {
///     spec_schema(SpecPort::Hook, generator)
/// }
///
/// #[derive(JsonSchema)]
/// struct Settings {
///     #[schemars(schema_with = "hook")]
///     hook: String,
/// }
///
/// let schema = schema_for!(Settings).to_value();
/// assert!(schema["properties"]["hook"]["oneOf"].is_array());
/// ```
pub fn spec_schema(port: SpecPort, generator: &mut SchemaGenerator) -> Schema {
    let specs: Vec<Value> = registered_specs(port)
        .iter()
        .map(|spec| tagged(spec, generator))
        .collect();
    Schema::try_from(json!({"oneOf": specs})).unwrap_or_default()
}

/// Returns the schema of one spec: its fields and its tag.
fn tagged(spec: &SpecEntry, generator: &mut SchemaGenerator) -> Value {
    let mut schema = spec.tagged_schema();
    // Two specs may define different types of the same name, so the tag becomes part of the names.
    rename_references(&mut schema, spec.tag);
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        if let Some(Value::Object(definitions)) = object.remove("$defs") {
            let named = definitions
                .into_iter()
                .map(|(name, definition)| (format!("{}.{name}", spec.tag), definition));
            generator.definitions_mut().extend(named);
        }
    }
    schema
}

fn rename_references(value: &mut Value, tag: &str) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(target) if name == "$ref" => {
                        *target = target.replace("#/$defs/", &format!("#/$defs/{tag}."));
                    }
                    _ => rename_references(value, tag),
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rename_references(item, tag)),
        _ => {}
    }
}
