//! [`BuiltBackend`]: a backend that is ready for a run, with prices if it reports only tokens.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::agent::OuterSandbox;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::project::{
    AgentConfig, EffectiveConfig, SandboxSwitch, json_error_message, read_text_file,
};
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_core::{AgentClientFactory, Mode, Project};
use autonoe_model::mcp::McpOptions;
use autonoe_model::{ModelBackend, PriceTable, PricedBackend};
use autonoe_scripted::ScriptedSpec;
use serde::Deserialize;
use serde_json::Value;

use crate::backend_choice::fields_of;
use crate::backend_requirements::{check, check_config};
use crate::error::{AppError, error_chain};
use crate::git_identity::add_git_identity;
use crate::known_backend::{CostSource, KnownBackend};
use crate::mcp_servers::{CheckedServers, MissingServer, check_servers};
use crate::program_environment::{is_key_of_other_service, program_environment};
use crate::trust_warnings::environment_warnings;
use crate::{
    AgentOptions, BackendChoice, ChosenBackend, ChosenModel, Env, FindModelError, ModelsFile,
    Origin,
};

/// Maximum size of a script file.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024 * 1024;

/// A backend that is ready, with warnings for the operator.
pub struct BuiltBackend {
    pub agents: Arc<dyn AgentClientFactory>,
    /// The outer sandbox of the backend's sessions.
    pub outer_sandbox: Option<OuterSandbox>,
    /// The built-in MCP server, if it cannot be started.
    pub missing_server: Option<String>,
    pub warnings: Vec<String>,
}

impl BuiltBackend {
    /// Omits the built-in server from sessions, if it is missing.
    fn omit(&mut self, missing: Option<MissingServer>) {
        if let Some(MissingServer { name, warning }) = missing {
            self.missing_server = Some(name);
            self.warnings.push(warning);
        }
    }
}

impl ChosenBackend {
    /// Rejects options that the backend does not support.
    pub fn check(&self, options: &AgentOptions, env: &Env) -> Result<(), AppError> {
        check(&self.choice, options, options.sandbox(env))
    }

    /// Rejects a configuration that the backend does not support.
    pub fn check_config(&self, config: &EffectiveConfig) -> Result<(), AppError> {
        check_config(&self.choice, config)
    }

    /// Finds the model of agents in this process; `None` for another backend.
    pub fn on_model(
        &self,
        model: Option<&str>,
        project: Option<&Project>,
        env: &Env,
    ) -> Option<Result<ChosenModel, FindModelError>> {
        let file = match (&self.choice, project) {
            (BackendChoice::Model(_), Some(project)) => ModelsFile::load(project),
            _ => Ok(None),
        };
        match file {
            Ok(file) => self.find_model(model, project, &file.unwrap_or_default(), env),
            Err(error) => Some(Err(FindModelError::File(error))),
        }
    }

    /// Finds the model of agents in this process, in `models` or among the built-in ones; `None`
    /// for another backend.
    fn find_model(
        &self,
        model: Option<&str>,
        project: Option<&Project>,
        models: &ModelsFile,
        env: &Env,
    ) -> Option<Result<ChosenModel, FindModelError>> {
        match &self.choice {
            BackendChoice::Model(name) => {
                let path = project.map(ModelsFile::path);
                Some(ChosenModel::find(name, model, path, models, env))
            }
            BackendChoice::Spec(spec) => {
                let origin = match self.file() {
                    Some(file) => Origin::File(file.to_owned()),
                    None => Origin::CommandLine,
                };
                ChosenModel::from_spec(&**spec, model, origin).map(Ok)
            }
            BackendChoice::Scripted(_) => None,
        }
    }

    /// Returns the spec, read from its file if necessary. `None` for agents on a model from
    /// `models.json`.
    pub fn spec(&self, env: &Env) -> Result<Option<Arc<dyn BackendSpec>>, AppError> {
        Ok(match &self.choice {
            BackendChoice::Model(_) => None,
            BackendChoice::Spec(spec) => Some(spec.clone()),
            BackendChoice::Scripted(file) => Some(Arc::new(scripted(file, env)?)),
        })
    }

    /// Returns the environment of a process that runs agents on this backend: all variables except
    /// the keys that Autonoe uses for other services.
    pub fn environment(&self, models: &ModelsFile, env: &Env) -> BTreeMap<OsString, OsString> {
        let fields = match &self.choice {
            BackendChoice::Spec(spec) => fields_of(&**spec),
            BackendChoice::Scripted(_) | BackendChoice::Model(_) => Value::Null,
        };
        let tag = self.choice.tag();
        let mut environment = program_environment(tag, &fields, models, env);
        environment.retain(|name, _| !is_key_of_other_service(tag, name));
        environment
    }

    /// Builds the backend for a run in `project` with its files `config` and `models`.
    pub fn build(
        &self,
        project: &Project,
        config: &AgentConfig,
        mode: Mode,
        options: &AgentOptions,
        models: &ModelsFile,
        env: &Env,
    ) -> Result<BuiltBackend, AppError> {
        self.check(options, env)?;
        let switch = SandboxSwitch::default();
        let config = EffectiveConfig::merge(Some(config.clone()), mode, switch)?;
        self.check_config(&config)?;
        let model = options.model.as_deref();
        let mut built = match self.find_model(model, Some(project), models, env) {
            Some(chosen) => {
                let chosen = chosen
                    .map_err(FindModelError::into_error)?
                    .withhold(models.telemetry.keys());
                let (mut built, options) = on_model(&chosen, project, env)?;
                // A spec in JSON on the command line has always been used as it is.
                if matches!(self.choice, BackendChoice::Model(_)) {
                    let none = BTreeMap::new();
                    built.omit(check_servers(
                        project,
                        &config,
                        &none,
                        &options,
                        CheckedServers::All,
                    )?);
                }
                built
            }
            None => {
                let known = self.known_backend()?;
                let mut built = self.build_spec(known, project, models, env)?;
                let checked = known.checked_servers();
                if let (BackendChoice::Spec(spec), Some(checked)) = (&self.choice, checked) {
                    let mut options = McpOptions::default();
                    options.env.clone_from(&env.environment);
                    let servers = &fields_of(&**spec)["mcpServers"];
                    let backend_servers = BTreeMap::deserialize(servers).unwrap_or_default();
                    let missing =
                        check_servers(project, &config, &backend_servers, &options, checked)?;
                    built.omit(missing);
                }
                built
            }
        };
        built.warnings.splice(0..0, self.warnings.iter().cloned());
        built.warnings.extend(config.warnings().iter().cloned());
        built.warnings.extend(environment_warnings(&config));
        Ok(built)
    }

    /// Returns what Autonoe knows about the backend.
    fn known_backend(&self) -> Result<KnownBackend, AppError> {
        let tag = self.choice.tag();
        KnownBackend::from_tag(tag)
            .ok_or_else(|| AppError::failure(format!("this program cannot run the backend {tag}")))
    }

    fn build_spec(
        &self,
        known: KnownBackend,
        project: &Project,
        models: &ModelsFile,
        env: &Env,
    ) -> Result<BuiltBackend, AppError> {
        let Some(spec) = self.spec(env)? else {
            return Err(AppError::failure("the backend cannot be built from a spec"));
        };
        let (tag, fields) = (self.choice.tag(), fields_of(&*spec));
        let context = context_for(tag, &fields, project.root(), models, env);
        let agents = spec.build(&context).map_err(|error| {
            let app_error = AppError::failure(error_chain(&error));
            app_error.with_hint("run `autonoe doctor` to check all backends")
        })?;
        Ok(BuiltBackend {
            agents: add_prices(known, &fields, models, agents),
            outer_sandbox: spec.outer_sandbox(),
            missing_server: None,
            warnings: Vec::new(),
        })
    }
}

/// Returns the build context of the spec with `tag` and `fields`.
pub fn context_for(
    tag: &str,
    fields: &Value,
    root: &Path,
    models: &ModelsFile,
    env: &Env,
) -> SpecContext {
    let mut environment = program_environment(tag, fields, models, env);
    add_git_identity(&mut environment, root);
    SpecContext::new(ProjectPaths::new(root)).with_environment(environment)
}

fn on_model(
    chosen: &ChosenModel,
    project: &Project,
    env: &Env,
) -> Result<(BuiltBackend, McpOptions), AppError> {
    let options = chosen.options(project.root(), env).map_err(|error| {
        let remedy = chosen.remedy();
        AppError::failure(error_chain(&error)).with_hint(remedy)
    })?;
    let servers = options.mcp.clone();
    let built = BuiltBackend {
        warnings: chosen.warnings(),
        agents: Arc::new(ModelBackend::new(options)),
        outer_sandbox: None,
        missing_server: None,
    };
    Ok((built, servers))
}

fn scripted(file: &Path, env: &Env) -> Result<ScriptedSpec, AppError> {
    let path = env.working_dir.join(file);
    let text = match read_text_file(&path, MAX_SCRIPT_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => {
            return Err(AppError::failure(format!(
                "the file {path:?} does not exist"
            )));
        }
        Err(error) => return Err(AppError::failure(error_chain(&error))),
    };
    serde_json::from_str(&text).map_err(|error| {
        let reason = json_error_message(&error);
        AppError::failure(format!("{path:?} is not a valid agent script: {reason}"))
            .with_hint("run `autonoe schema scripted` to see the format")
    })
}

/// Adds prices to the backend with `fields`, if it reports only tokens.
fn add_prices(
    known: KnownBackend,
    fields: &Value,
    models: &ModelsFile,
    agents: Arc<dyn AgentClientFactory>,
) -> Arc<dyn AgentClientFactory> {
    let (provider, counts) = match known.cost_source() {
        CostSource::Backend => return agents,
        CostSource::Tokens { provider, counts } => (provider, counts),
    };
    let prices = PriceTable::built_in().with(models.prices.clone());
    let mut priced = PricedBackend::new(agents, prices, counts);
    if let Some(provider) = provider {
        priced = priced.by_provider(provider);
    }
    if let Some(model) = fields["model"].as_str() {
        priced = priced.for_model(model);
    }
    Arc::new(priced)
}
