//! [`ModelSpec`]: backend spec of agents on a model, which needs only a key.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::AgentClientFactory;
use autonoe_core::agent::{BackendProbe, Credentials, ProbeFinding, ThinkingBudget};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::gate::policy::CREDENTIAL_PATHS;
use autonoe_core::spec::{BackendSpec, SpecContext, SpecError, spec_schema};
use autonoe_process::find_program;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::environment::{command_environment, server_environment};
use super::key_locations::{KeyLocations, is_within};
use crate::agent::{LimitTable, ModelAgentOptions, ModelBackend};
use crate::contract::{ModelError, ModelErrorCode, ModelIdentity};
use crate::mcp::McpOptions;
use crate::price::PriceTable;
use crate::provider::{PROVIDER_PORT, ProviderContext, ProviderSpec};
use crate::retry::RetryPolicy;
use crate::tools::{BuiltInOptions, ToolsConfig};
use crate::transport::Trust;

/// Spec of agents on a model in a configuration file: `{"type": "model", ..}`.
///
/// The agents have the built-in tools, in the directory of the session and in a sandbox unless the
/// operator has disabled it. The keys of the provider are read from the environment of the
/// [`SpecContext`]. They are invisible to agents' commands.
///
/// ```
/// use autonoe_core::gate::ProjectPaths;
/// use autonoe_core::spec::{BackendSpec, SpecContext};
/// use autonoe_model as _;
///
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(
///     r#"{
///         "type": "model",
///         "provider": {"type": "anthropic", "key": {"env": "TEAM_KEY"}},
///         "model": "claude-sonnet-4-5",
///         "maxRounds": 80,
///         "tools": {"limits": {"commandTimeMs": 300000}}
///     }"#,
/// )?;
///
/// let context = SpecContext::new(ProjectPaths::new("/srv/project"))
///     .with_environment([("TEAM_KEY".into(), "sk-ant-123".into())]);
/// let agents = backend.build(&context)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelSpec {
    /// Provider of the model.
    #[schemars(schema_with = "provider_schema")]
    pub provider: Arc<dyn ProviderSpec>,
    /// Name of the provider, for example in prices. Default: its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Default model of sessions.
    pub model: String,
    /// Default system prompt of sessions. Default: the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Default thinking budget of sessions, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingBudget>,
    /// Default limit on the answers of a session.
    #[serde(default = "max_rounds")]
    #[schemars(range(min = 1))]
    pub max_rounds: u32,
    /// Retry policy for failed model calls.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// Prices of models, in addition to the built-in ones.
    #[serde(default)]
    pub prices: PriceTable,
    /// Context and output limits of models, in addition to the built-in ones.
    #[serde(default)]
    pub limits: LimitTable,
    /// Settings of the built-in tools.
    #[serde(default)]
    pub tools: ToolsConfig,
    /// Trusted certificate authorities for encrypted connections: to the provider, unless its own
    /// configuration says otherwise, and to MCP servers.
    #[serde(default)]
    pub trust: Trust,
}

fn max_rounds() -> u32 {
    ModelAgentOptions::MAX_ROUNDS
}

/// Returns the schema of a provider.
fn provider_schema(generator: &mut SchemaGenerator) -> Schema {
    spec_schema(PROVIDER_PORT, generator)
}

impl ModelSpec {
    /// Type of the spec in a configuration file.
    pub const TAG: &'static str = "model";

    /// Creates a spec for agents on `model` of `provider`, with default settings.
    pub fn new(provider: impl Into<Arc<dyn ProviderSpec>>, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            name: None,
            model: model.into(),
            system_prompt: None,
            thinking: None,
            max_rounds: max_rounds(),
            retry: RetryPolicy::default(),
            prices: PriceTable::default(),
            limits: LimitTable::default(),
            tools: ToolsConfig::default(),
            trust: Trust::default(),
        }
    }

    /// Returns the name of the provider.
    pub fn provider_name(&self) -> &str {
        let own = self.name.as_deref();
        own.unwrap_or_else(|| self.provider.typetag_name())
    }

    /// Converts the spec into options. Sends no request.
    ///
    /// # Errors
    ///
    /// A key is missing or readable by agents, or a value is invalid.
    pub fn options(&self, context: &SpecContext) -> Result<ModelAgentOptions, ModelError> {
        let provider_context = self.provider_context(context);
        if let Some(file) = self.agent_writable_authorities(&context.project_paths) {
            return Err(invalid(&format!(
                "agents can write to the certificate authorities in {}: move the file where \
                 they cannot, for example to .autonoe",
                file.display()
            )));
        }
        let keys = KeyLocations::from_spec(&*self.provider);
        let tools = self.built_in(context, &keys)?;
        if self.model.trim().is_empty() {
            return Err(invalid("model is blank; name one"));
        }
        if self.max_rounds == 0 {
            return Err(invalid(
                "maxRounds is 0, so the model could never answer; give at least 1",
            ));
        }
        let provider = self.provider.build(&provider_context)?;
        // Detects an impossible model name early.
        provider.model(&self.model)?;
        let mut options = ModelAgentOptions::new(provider, &self.model);
        options.built_in = Some(tools);
        options.mcp = self.mcp(context);
        options.system_prompt.clone_from(&self.system_prompt);
        options.thinking = self.thinking;
        options.max_rounds = self.max_rounds;
        options.retry = self.retry;
        options.prices = options.prices.with(self.prices.clone());
        options.limits = options.limits.with(self.limits.clone());
        keys.withhold_from(&mut options, &provider_context);
        Ok(options)
    }

    /// Returns a file with certificate authorities that agents could modify.
    fn agent_writable_authorities(&self, project_paths: &ProjectPaths) -> Option<PathBuf> {
        let spec = serde_json::to_value(&*self.provider).unwrap_or_default();
        let of_provider = Trust::deserialize(&spec["trust"]).unwrap_or_default();
        let state = ProjectPaths::STATE_FOLDERS.map(|name| project_paths.project.join(name));
        let is_writable_by_agent = |file: &PathBuf| {
            // A link counts as its target.
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            let writable = [
                project_paths.project.as_path(),
                Path::new(ProjectPaths::TEMPORARY),
            ];
            let is_state = state.iter().any(|folder| is_within(&real, folder));
            let mut writable = writable.into_iter();
            writable.any(|place| is_within(&real, place)) && !is_state
        };
        let mut files = self
            .trust
            .files
            .iter()
            .chain(&of_provider.files)
            .map(|file| project_paths.project.join(file));
        files.find(is_writable_by_agent)
    }

    /// Returns the start options of the sessions' MCP servers. They run outside of the sandbox,
    /// with the variables of commands, the user's home and proxies, and the settings of the
    /// built-in browser. Variables with a key of the provider are excluded. Sends no request, and
    /// needs no key.
    ///
    /// ```
    /// use std::ffi::OsStr;
    ///
    /// use autonoe_core::gate::ProjectPaths;
    /// use autonoe_core::spec::SpecContext;
    /// use autonoe_model::provider::provider_spec;
    /// use autonoe_model::ModelSpec;
    /// use serde_json::json;
    ///
    /// let provider = provider_spec(&json!({"type": "openai", "key": {"env": "TEAM_KEY"}}))?;
    /// let backend = ModelSpec::new(provider, "gpt-5");
    /// let variables = [("HOME", "/home/ada"), ("TEAM_KEY", "sk-1"), ("HTTPS_PROXY", "http://sk-1@x")];
    /// let context = SpecContext::new(ProjectPaths::new("/srv/project"))
    ///     .with_environment(variables.map(|(name, value)| (name.into(), value.into())));
    ///
    /// let servers = backend.mcp(&context);
    ///
    /// assert!(servers.env.contains_key(OsStr::new("HOME")));
    /// assert!(!servers.env.values().any(|value| value.to_string_lossy().contains("sk-1")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mcp(&self, context: &SpecContext) -> McpOptions {
        let mut options = McpOptions::default();
        for key in KeyLocations::from_spec(&*self.provider).keys(&self.provider_context(context)) {
            options.secrets.add(key.expose());
        }
        let env = server_environment(&context.environment, &self.tools.variables);
        options.env.extend(env);
        if let Some(home) = &context.project_paths.home {
            options.env.insert("HOME".into(), home.into());
        }
        options.withhold_secrets();
        options.trust = self
            .trust
            .clone()
            .resolve_in(&context.project_paths.project);
        options
    }

    /// Returns the context in which the provider looks up its keys.
    fn provider_context(&self, context: &SpecContext) -> ProviderContext {
        ProviderContext::new(self.provider_name())
            .with_environment(context.environment.clone())
            .with_folder(&context.project_paths.project)
            .with_trust(self.trust.clone())
    }

    fn built_in(
        &self,
        context: &SpecContext,
        keys: &KeyLocations,
    ) -> Result<BuiltInOptions, ModelError> {
        let plan = &self.tools;
        if !plan.limits.has_valid_times() {
            return Err(invalid(
                "a time limit of the tools is 0, or the longest command time is shorter than \
                 the default command time",
            ));
        }
        if let Some(name) = plan.variables.intersection(&keys.variables).next() {
            return Err(invalid(&format!(
                "the variable {name} contains a key of the provider, so commands must not \
                 receive it; leave it out"
            )));
        }
        if let Some(file) = keys.in_directory(&context.project_paths.project) {
            return Err(invalid(&format!(
                "the key is in the project, where agents work: move {} elsewhere",
                file.display()
            )));
        }
        let mut options = BuiltInOptions {
            network: plan.network.into(),
            limits: plan.limits.clone(),
            available: context.environment.clone(),
            hidden: credentials(context),
            ..BuiltInOptions::default()
        };
        let variables = command_environment(&context.environment, &plan.variables);
        options.env.extend(variables);
        if let Some(path) = context.environment.get(OsStr::new("PATH")) {
            options.bubblewrap = find_program("bwrap", path).unwrap_or(options.bubblewrap);
            options.shell = find_program("bash", path).unwrap_or(options.shell);
        }
        Ok(options)
    }
}

/// Returns the credential paths of the machine and of the user's home, if the home is known.
fn credentials(context: &SpecContext) -> Vec<PathBuf> {
    let home_variable = context.environment.get(OsStr::new("HOME"));
    let home = context
        .project_paths
        .home
        .clone()
        .or(home_variable.map(PathBuf::from));
    let home = home.filter(|home| home.is_absolute());
    let located = |place: &str| match place.strip_prefix("~/") {
        Some(below) => Some(home.as_ref()?.join(below)),
        None => Some(PathBuf::from(place)).filter(|place| place.is_absolute()),
    };
    CREDENTIAL_PATHS
        .iter()
        // Patterns are about other processes, which do not exist inside of a sandbox.
        .filter(|place| !place.contains('*'))
        .filter_map(|place| located(place))
        // Inside of the project, the guards of autonoe-core protect credentials.
        .filter(|path| !is_within(path, &context.project_paths.project))
        .collect()
}

fn invalid(message: &str) -> ModelError {
    ModelError::new(ModelErrorCode::ProviderNotConfigured, message)
}

#[typetag::serde(name = "model")]
#[async_trait]
impl BackendSpec for ModelSpec {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        let options = self
            .options(context)
            .map_err(|error| SpecError::new(Self::TAG, error.message))?;
        Ok(Arc::new(ModelBackend::new(options)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        probe_backend(self, context)
    }
}

/// Probes the key, the model and the sandbox of commands. Sends no request.
fn probe_backend(spec: &ModelSpec, context: &SpecContext) -> BackendProbe {
    let found = BackendProbe::new(ModelSpec::TAG).with_default_model(Some(&spec.model));
    match spec.options(context) {
        Err(error) => {
            let remedy = "see docs/guides/models.md";
            let found = found.with_credentials(Credentials::Unknown);
            found.finding(ProbeFinding::problem("key", error.to_string(), remedy))
        }
        Ok(options) => found
            .with_credentials(Credentials::Found)
            .finding(ProbeFinding::good(
                "key",
                "a key is configured, or none is needed; it was not tested with the provider",
            ))
            .finding(probe_model(spec, &options))
            .finding(probe_sandbox(&options)),
    }
}

fn probe_model(spec: &ModelSpec, options: &ModelAgentOptions) -> ProbeFinding {
    const NAME: &str = "model";
    let model = &options.model;
    let context = options.limits.for_model(model).context;
    let known = format!("{model}, with {context} tokens of context");
    let identity = ModelIdentity::new(spec.provider_name(), model);
    match options.prices.price(&identity) {
        Some(_) => ProbeFinding::good(NAME, known),
        None => ProbeFinding::warning(
            NAME,
            format!("{known}; its price is unknown, so --max-cost cannot be enforced"),
            "add it to `prices` in .autonoe/models.json",
        ),
    }
}

fn probe_sandbox(options: &ModelAgentOptions) -> ProbeFinding {
    const NAME: &str = "sandbox";
    let tried = options.built_in.as_ref().map(|tools| tools.try_sandbox());
    match tried {
        Some(Err(error)) => ProbeFinding::problem(NAME, error.to_string(), error.remedy()),
        _ => ProbeFinding::good(NAME, "bwrap is installed and works"),
    }
}

autonoe_core::register_spec!(Backend, ModelSpec, "model", {
    "provider": {"type": "anthropic", "key": {"env": "ANTHROPIC_API_KEY"}},
    "model": "claude-sonnet-4-5",
    "maxRounds": 80,
    "retry": {"tries": 5},
    "tools": {"network": "shared", "limits": {"commandTimeMs": 300_000}}
});
