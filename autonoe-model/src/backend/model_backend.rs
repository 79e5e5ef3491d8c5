//! The backend that needs only a key.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClientFactory, BackendProbe, BackendSpec, CredentialPlaces, ProjectPaths, SpecContext,
    SpecError, ThinkingBudget, spec_schema,
};
use autonoe_process::find_program;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::command_environment::command_environment;
use super::key_places::{KeyPlaces, is_within};
use super::server_environment::for_servers;
use super::spec_probe;
use crate::agent::{LimitTable, ModelAgentOptions, ModelAgents};
use crate::contract::{ModelError, ModelErrorCode};
use crate::mcp::McpOptions;
use crate::price::PriceTable;
use crate::provider::{IntoProviderSpec, PROVIDER_PORT, ProviderContext, ProviderSpec};
use crate::retry::RetryPolicy;
use crate::tools::{BuiltInTools, ToolPlan};
use crate::transport::Trust;

/// Describes agents on a model in a configuration file: `{"type": "model", ..}`.
///
/// They have the built-in tools, in the directory of the session and in a sandbox unless a
/// person has switched it off. The keys of the provider are looked up in the environment of
/// the [`SpecContext`]; no command of an agent sees them.
///
/// ```
/// use autonoe_core::{BackendSpec, ProjectPaths, SpecContext};
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
pub struct ModelBackend {
    /// Who serves the model.
    #[schemars(schema_with = "provider_schema")]
    pub provider: Arc<dyn ProviderSpec>,
    /// What the provider is called, in prices for example; its type if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model of sessions that name none.
    pub model: String,
    /// What holds for sessions that bring no system prompt; ours if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// How many tokens models may think in sessions that do not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingBudget>,
    /// How many answers a session may take that does not say so itself.
    #[serde(default = "max_rounds")]
    #[schemars(range(min = 1))]
    pub max_rounds: u32,
    /// When a call that failed is made again.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// What models cost, beside the prices that are built in.
    #[serde(default)]
    pub prices: PriceTable,
    /// How much models can read and write, beside the limits that are built in.
    #[serde(default)]
    pub limits: LimitTable,
    /// What holds for the built-in tools.
    #[serde(default)]
    pub tools: ToolPlan,
    /// Whom encrypted connections trust: to the provider, unless it says so itself, and to MCP
    /// servers.
    #[serde(default)]
    pub trust: Trust,
}

fn max_rounds() -> u32 {
    ModelAgentOptions::MAX_ROUNDS
}

/// Describes one provider.
fn provider_schema(generator: &mut SchemaGenerator) -> Schema {
    spec_schema(PROVIDER_PORT, generator)
}

impl ModelBackend {
    /// The type of the spec in a file.
    pub const TAG: &'static str = "model";

    /// Describes agents on `model` of `provider`, with nothing special.
    pub fn new(provider: impl IntoProviderSpec, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into_provider_spec(),
            name: None,
            model: model.into(),
            system_prompt: None,
            thinking: None,
            max_rounds: max_rounds(),
            retry: RetryPolicy::default(),
            prices: PriceTable::default(),
            limits: LimitTable::default(),
            tools: ToolPlan::default(),
            trust: Trust::default(),
        }
    }

    /// Returns what the provider is called.
    pub fn provider_name(&self) -> &str {
        let own = self.name.as_deref();
        own.unwrap_or_else(|| self.provider.typetag_name())
    }

    /// Says the same as options. Nobody is asked anything.
    ///
    /// # Errors
    ///
    /// A key is missing, or would be within reach of an agent, or a value makes no sense.
    pub fn options(&self, context: &SpecContext) -> Result<ModelAgentOptions, ModelError> {
        let place = self.place(context);
        if let Some(file) = self.authorities_of_agents(&context.project_paths) {
            return Err(senseless(&format!(
                "{} says whom to trust, and agents can write to it: move it where they cannot, to \
                 .autonoe for example",
                file.display()
            )));
        }
        let keys = KeyPlaces::of(&*self.provider);
        let tools = self.built_in(context, &keys)?;
        if self.model.trim().is_empty() {
            return Err(senseless("model is blank; name one"));
        }
        if self.max_rounds == 0 {
            return Err(senseless("maxRounds of 0 leaves no answer"));
        }
        let provider = self.provider.build(&place)?;
        // That there cannot be such a model is known here.
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
        keys.withhold_from(&mut options, &place);
        Ok(options)
    }

    /// Returns a file with authorities that agents could put their own into.
    fn authorities_of_agents(&self, project_paths: &ProjectPaths) -> Option<PathBuf> {
        let spec = serde_json::to_value(&*self.provider).unwrap_or_default();
        let of_provider = Trust::deserialize(&spec["trust"]).unwrap_or_default();
        let state = ProjectPaths::STATE_FOLDERS.map(|name| project_paths.project.join(name));
        let is_theirs = |file: &PathBuf| {
            // A link counts as what it leads to.
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            let writable = [
                project_paths.project.as_path(),
                Path::new(ProjectPaths::TEMPORARY),
            ];
            let is_state = state.iter().any(|folder| is_within(&real, folder));
            let mut writable = writable.into_iter();
            writable.any(|place| is_within(&real, place)) && !is_state
        };
        let files = self.trust.files.iter().chain(&of_provider.files);
        let mut files = files.map(|file| project_paths.project.join(file));
        files.find(is_theirs)
    }

    /// Says how the MCP servers of sessions are started: outside of the sandbox, with the
    /// variables that commands get, the home and the proxies of the user, and what the built-in
    /// browser is told by. A variable with a key of the provider is not among them. Nobody is
    /// asked anything, and no key has to be there.
    ///
    /// ```
    /// use std::ffi::OsStr;
    ///
    /// use autonoe_core::{ProjectPaths, SpecContext};
    /// use autonoe_model::{ModelBackend, provider_spec};
    /// use serde_json::json;
    ///
    /// let provider = provider_spec(&json!({"type": "openai", "key": {"env": "TEAM_KEY"}}))?;
    /// let backend = ModelBackend::new(provider, "gpt-5");
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
        for key in KeyPlaces::of(&*self.provider).keys(&self.place(context)) {
            options.secret(key.expose());
        }
        let env = for_servers(&context.environment, &self.tools.variables);
        options.env.extend(env);
        if let Some(home) = &context.project_paths.home {
            options.env.insert("HOME".into(), home.into());
        }
        options.withhold_secrets();
        options.trust = self.trust.clone().in_folder(&context.project_paths.project);
        options
    }

    /// Returns where the provider looks for its keys.
    fn place(&self, context: &SpecContext) -> ProviderContext {
        ProviderContext::new(self.provider_name())
            .with_environment(context.environment.clone())
            .with_folder(&context.project_paths.project)
            .with_trust(self.trust.clone())
    }

    fn built_in(
        &self,
        context: &SpecContext,
        keys: &KeyPlaces,
    ) -> Result<BuiltInTools, ModelError> {
        let plan = &self.tools;
        if !plan.limits.leave_time() {
            return Err(senseless(
                "the limits of the tools leave no time, or a command less than it takes by itself",
            ));
        }
        if let Some(name) = plan.variables.intersection(&keys.variables).next() {
            return Err(senseless(&format!(
                "the variable {name} has a key of the provider, which no command may see"
            )));
        }
        let mut tools = BuiltInTools::new()
            .network(plan.network)
            .limits(plan.limits.clone());
        if let Some(path) = context.environment.get(OsStr::new("PATH")) {
            if let Some(program) = find_program("bwrap", path) {
                tools = tools.bubblewrap(program);
            }
            if let Some(program) = find_program("bash", path) {
                tools = tools.shell(program);
            }
        }
        for (name, value) in command_environment(&context.environment, &plan.variables) {
            tools = tools.env(name, value);
        }
        for (name, value) in &context.environment {
            tools = tools.available(name, value);
        }
        if let Some(file) = keys.in_directory(&context.project_paths.project) {
            return Err(senseless(&format!(
                "the key is in the project, where agents work: move {} elsewhere",
                file.display()
            )));
        }
        for path in credentials(context) {
            tools = tools.hidden(path);
        }
        Ok(tools)
    }
}

/// Returns the places of credentials: of the machine, and in the home of the user as far as it is
/// known.
fn credentials(context: &SpecContext) -> Vec<PathBuf> {
    let given = context.environment.get(OsStr::new("HOME"));
    let home = context
        .project_paths
        .home
        .clone()
        .or(given.map(PathBuf::from));
    let home = home.filter(|home| home.is_absolute());
    let located = |place: &str| match place.strip_prefix("~/") {
        Some(below) => Some(home.as_ref()?.join(below)),
        None => Some(PathBuf::from(place)).filter(|place| place.is_absolute()),
    };
    let places = CredentialPlaces::default();
    places
        .iter()
        // Those are of other processes, which a sandbox has none of.
        .filter(|place| !place.contains('*'))
        .filter_map(located)
        // There the guards of core watch.
        .filter(|path| !is_within(path, &context.project_paths.project))
        .collect()
}

fn senseless(what: &str) -> ModelError {
    ModelError::new(ModelErrorCode::ProviderNotConfigured, what)
}

#[typetag::serde(name = "model")]
#[async_trait]
impl BackendSpec for ModelBackend {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        let options = self.options(context);
        let options = options.map_err(|error| SpecError::new(Self::TAG, error.message))?;
        Ok(Arc::new(ModelAgents::new(options)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        spec_probe::probe_backend(self, context)
    }
}

autonoe_core::register_spec!(Backend, ModelBackend, "model", {
    "provider": {"type": "anthropic", "key": {"env": "ANTHROPIC_API_KEY"}},
    "model": "claude-sonnet-4-5",
    "maxRounds": 80,
    "retry": {"tries": 5},
    "tools": {"network": "shared", "limits": {"commandTimeMs": 300_000}}
});
