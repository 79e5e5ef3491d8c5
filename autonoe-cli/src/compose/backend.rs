//! A backend that is ready for a run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::{
    AgentClientFactory, AgentConfig, BackendSpec, EffectiveConfig, Mode, OuterSandbox, Project,
    ProjectPaths, SandboxSwitch, SpecContext, json_complaint, read_text_file,
};
use autonoe_model::{McpOptions, ModelAgents};
use autonoe_scripted::ScriptedBackend;
use serde::Deserialize;
use serde_json::Value;

use super::announced::environment_warnings;
use super::backend_choice::fields_of;
use super::fitness::{Wanted, check, check_config};
use super::git_identity::add_git_identity;
use super::priced::priced;
use super::program_environment::{is_key_of_other_service, program_environment};
use super::servers::{MissingServer, Which, check_servers};
use super::{BackendChoice, ChosenBackend, ChosenModel, ModelsFile, NoModel, Origin};
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

/// The backend that plays a script.
const SCRIPTED: &str = "scripted";

/// The backend that runs Claude Code.
const CLAUDE: &str = "claude";

/// The largest file of a script that is read.
const LARGEST_SCRIPT: u64 = 64 * 1024 * 1024;

/// A backend that is ready, and what a person should know about it.
pub(crate) struct Built {
    pub(crate) agents: Arc<dyn AgentClientFactory>,
    /// The sandbox that the backend makes around its sessions.
    pub(crate) outer_sandbox: Option<OuterSandbox>,
    /// The built-in MCP server, if it cannot be started.
    pub(crate) missing_server: Option<String>,
    pub(crate) warnings: Vec<String>,
}

impl Built {
    /// Leaves the server out of sessions, if it is missing.
    fn omit(&mut self, missing: Option<MissingServer>) {
        if let Some(MissingServer { name, warning }) = missing {
            self.missing_server = Some(name);
            self.warnings.push(warning);
        }
    }
}

impl ChosenBackend {
    /// Refuses what the backend cannot give.
    pub(crate) fn check(&self, wanted: Wanted<'_>) -> Result<(), CliError> {
        check(&self.choice, wanted)
    }

    /// Refuses a configuration that the backend does not support.
    pub(crate) fn check_config(&self, config: &EffectiveConfig) -> Result<(), CliError> {
        check_config(&self.choice, config)
    }

    /// Finds the model that agents in this process would work on; `None` if it is another backend.
    pub(crate) fn on_model(
        &self,
        model: Option<&str>,
        project: Option<&Project>,
        surroundings: &Surroundings,
    ) -> Option<Result<ChosenModel, NoModel>> {
        match &self.choice {
            BackendChoice::Model(name) => {
                Some(ChosenModel::find(name, model, project, surroundings))
            }
            BackendChoice::Spec(spec) => {
                let origin = match self.file() {
                    Some(file) => Origin::File(file.to_owned()),
                    None => Origin::CommandLine,
                };
                ChosenModel::of_spec(&**spec, model, origin).map(Ok)
            }
            BackendChoice::Scripted(_) => None,
        }
    }

    /// Returns the spec, which is read from its file if it is in one; `None` for agents on a
    /// model that `models.json` describes.
    pub(crate) fn spec(
        &self,
        surroundings: &Surroundings,
    ) -> Result<Option<Arc<dyn BackendSpec>>, CliError> {
        Ok(match &self.choice {
            BackendChoice::Model(_) => None,
            BackendChoice::Spec(spec) => Some(spec.clone()),
            BackendChoice::Scripted(file) => Some(Arc::new(scripted(file, surroundings)?)),
        })
    }

    /// Returns the environment of a process that runs agents on this backend: all variables except
    /// the keys that Autonoe itself uses for something else.
    pub(crate) fn environment(
        &self,
        models: &ModelsFile,
        surroundings: &Surroundings,
    ) -> BTreeMap<OsString, OsString> {
        let fields = match &self.choice {
            BackendChoice::Spec(spec) => fields_of(&**spec),
            BackendChoice::Scripted(_) | BackendChoice::Model(_) => Value::Null,
        };
        let tag = self.choice.tag();
        let mut environment = program_environment(tag, &fields, models, surroundings);
        environment.retain(|name, _| !is_key_of_other_service(tag, name));
        environment
    }

    /// Builds the backend for a run in `project`.
    pub(crate) fn build(
        &self,
        project: &Project,
        mode: Mode,
        wanted: Wanted<'_>,
        models: &ModelsFile,
        surroundings: &Surroundings,
    ) -> Result<Built, CliError> {
        self.check(wanted)?;
        let config = AgentConfig::load(project.config_path())?;
        let config = EffectiveConfig::merge(config, mode, SandboxSwitch::default())?;
        self.check_config(&config)?;
        let mut built = match self.on_model(wanted.model, Some(project), surroundings) {
            Some(chosen) => {
                let chosen = chosen.map_err(NoModel::into_error)?;
                let chosen = chosen.withhold(models.telemetry.keys());
                let (mut built, options) = on_model(&chosen, project, surroundings)?;
                // What a person tells in JSON has always been taken as it is.
                if matches!(self.choice, BackendChoice::Model(_)) {
                    let none = BTreeMap::new();
                    built.omit(check_servers(project, mode, &none, &options, Which::All)?);
                }
                built
            }
            None => {
                let mut built = self.build_spec(project, models, surroundings)?;
                let which = match self.choice.tag() {
                    // It starts no servers.
                    SCRIPTED => None,
                    CLAUDE => Some(Which::ProgramsInProject),
                    _ => Some(Which::Programs),
                };
                if let (BackendChoice::Spec(spec), Some(which)) = (&self.choice, which) {
                    // Claude Code and Codex would fail in each session, and Gemini CLI would
                    // silently omit the server.
                    let mut options = McpOptions::default();
                    options.env.clone_from(&surroundings.environment);
                    let servers = &fields_of(&**spec)["mcpServers"];
                    let backend_servers = BTreeMap::deserialize(servers).unwrap_or_default();
                    let missing = check_servers(project, mode, &backend_servers, &options, which)?;
                    built.omit(missing);
                }
                built
            }
        };
        built.warnings.splice(0..0, self.announced.iter().cloned());
        built.warnings.extend(config.warnings().iter().cloned());
        built.warnings.extend(environment_warnings(&config));
        Ok(built)
    }

    fn build_spec(
        &self,
        project: &Project,
        models: &ModelsFile,
        surroundings: &Surroundings,
    ) -> Result<Built, CliError> {
        let Some(spec) = self.spec(surroundings)? else {
            return Err(CliError::failure("there is nothing to build"));
        };
        let (tag, fields) = (self.choice.tag(), fields_of(&*spec));
        let context = context_for(tag, &fields, project.root(), models, surroundings);
        let agents = spec.build(&context).map_err(|error| {
            let told = CliError::failure(whole(&error));
            told.with_hint("`autonoe doctor` looks at all backends")
        })?;
        Ok(Built {
            agents: priced(tag, &fields, models, agents),
            outer_sandbox: spec.outer_sandbox(),
            missing_server: None,
            warnings: Vec::new(),
        })
    }
}

/// Returns what the spec with `tag` is told, which says `fields` of itself.
pub(crate) fn context_for(
    tag: &str,
    fields: &Value,
    root: &Path,
    models: &ModelsFile,
    surroundings: &Surroundings,
) -> SpecContext {
    let mut environment = program_environment(tag, fields, models, surroundings);
    add_git_identity(&mut environment, root);
    SpecContext::new(ProjectPaths::new(root)).with_environment(environment)
}

fn on_model(
    chosen: &ChosenModel,
    project: &Project,
    surroundings: &Surroundings,
) -> Result<(Built, McpOptions), CliError> {
    let options = chosen.options(project.root(), surroundings);
    let options = options.map_err(|error| {
        let remedy = chosen.remedy();
        CliError::failure(whole(&error)).with_hint(remedy)
    })?;
    let servers = options.mcp.clone();
    let built = Built {
        warnings: chosen.announced(),
        agents: Arc::new(ModelAgents::new(options)),
        outer_sandbox: None,
        missing_server: None,
    };
    Ok((built, servers))
}

fn scripted(file: &Path, surroundings: &Surroundings) -> Result<ScriptedBackend, CliError> {
    let path = surroundings.working_dir.join(file);
    let text = match read_text_file(&path, LARGEST_SCRIPT) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(CliError::failure(format!("there is no file {path:?}"))),
        Err(error) => return Err(CliError::failure(whole(&error))),
    };
    serde_json::from_str(&text).map_err(|error| {
        let complaint = json_complaint(&error);
        CliError::failure(format!("{path:?} is no script of agents: {complaint}"))
            .with_hint("`autonoe schema scripted` shows what it looks like")
    })
}
