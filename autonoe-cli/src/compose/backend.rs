//! Which backend the command line names.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use autonoe_claude::ClaudeBackend;
use autonoe_core::{
    AgentClientFactory, BackendSpec, Mode, Places, Project, SpecContext, SpecPort, json_complaint,
    read_text_file, registered_specs,
};
use autonoe_model::{McpOptions, ModelAgents};
use autonoe_testkit::ScriptedBackend;

use super::servers::check_servers;
use super::{ChosenModel, ModelName, ModelsFile, NoModel};
use crate::error::{CliError, whole};
use crate::surroundings::Surroundings;

/// The largest file of a script that is read.
const LARGEST_SCRIPT: u64 = 64 * 1024 * 1024;

/// A backend, as the command line names it.
#[derive(Clone, Debug)]
pub(crate) enum BackendChoice {
    /// `claude`: Claude Code, with nothing special.
    Claude,
    /// `scripted:FILE`: agents that do what a file says.
    Scripted(PathBuf),
    /// `model:PROVIDER/MODEL`: agents in this process.
    Model(ModelName),
    /// The JSON of a spec, or only its `type`.
    Spec(Arc<dyn BackendSpec>),
}

impl FromStr for BackendChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "claude" {
            return Ok(Self::Claude);
        }
        if let Some(file) = text.strip_prefix("scripted:") {
            return match file {
                "" => Err("write scripted:FILE".to_owned()),
                file => Ok(Self::Scripted(file.into())),
            };
        }
        if let Some(name) = text.strip_prefix("model:") {
            return name.parse().map(Self::Model);
        }
        if text == "model" {
            return "".parse().map(Self::Model);
        }
        let json = match text.starts_with('{') {
            true => text.to_owned(),
            false if is_registered(text) => serde_json::json!({"type": text}).to_string(),
            false => return Err(format!("there is no such backend; {}", known())),
        };
        let spec: Box<dyn BackendSpec> = serde_json::from_str(&json).map_err(|error| {
            let complaint = json_complaint(&error);
            format!("{complaint}; {}", known())
        })?;
        Ok(Self::Spec(spec.into()))
    }
}

/// A backend that is ready, and what a person should know about it.
pub(crate) struct Built {
    pub(crate) agents: Arc<dyn AgentClientFactory>,
    pub(crate) warnings: Vec<String>,
}

impl BackendChoice {
    /// Finds the model that agents in this process would work on; `None` if it is another backend.
    pub(crate) fn on_model(
        &self,
        model: Option<&str>,
        project: Option<&Project>,
        surroundings: &Surroundings,
    ) -> Option<Result<ChosenModel, NoModel>> {
        match self {
            Self::Model(name) => Some(ChosenModel::find(name, model, project, surroundings)),
            Self::Spec(spec) => ChosenModel::of_spec(&**spec, model).map(Ok),
            Self::Claude | Self::Scripted(_) => None,
        }
    }

    /// Builds the backend for a run in `project`, on `model` if one is named besides.
    pub(crate) fn build(
        &self,
        project: &Project,
        mode: Mode,
        model: Option<&str>,
        surroundings: &Surroundings,
    ) -> Result<Built, CliError> {
        let environment = surroundings.environment.clone();
        let context = SpecContext::new(Places::new(project.root())).with_environment(environment);
        let built = match self {
            Self::Claude => ClaudeBackend::default().build(&context),
            Self::Scripted(file) => scripted(file, surroundings)?.build(&context),
            Self::Model(name) => {
                let chosen = ChosenModel::find(name, model, Some(project), surroundings);
                let chosen = chosen.map_err(NoModel::into_error)?;
                let (built, options) = on_model(&chosen, project, surroundings)?;
                check_servers(project, mode, &options)?;
                return Ok(built);
            }
            Self::Spec(spec) => match ChosenModel::of_spec(&**spec, model) {
                Some(chosen) => {
                    let file = ModelsFile::load(project)?.unwrap_or_default();
                    let chosen = chosen.withhold(file.telemetry.keys());
                    return on_model(&chosen, project, surroundings).map(|(built, _)| built);
                }
                None => spec.build(&context),
            },
        };
        let agents = built.map_err(|error| CliError::failure(whole(&error)))?;
        let warnings = Vec::new();
        Ok(Built { agents, warnings })
    }
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

fn is_registered(tag: &str) -> bool {
    registered_specs(SpecPort::Backend)
        .iter()
        .any(|spec| spec.tag == tag)
}

fn known() -> String {
    let specs = registered_specs(SpecPort::Backend);
    let tags: Vec<_> = specs.iter().map(|spec| spec.tag).collect();
    format!(
        "it is claude, {}, scripted:FILE, or the JSON of one of {}",
        ModelName::FORM,
        tags.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_go_by_name_file_and_json() {
        for (text, is_fine) in [
            ("claude", true),
            ("scripted:agents.json", true),
            ("claude-code", true),
            ("model:anthropic/claude-sonnet-4-5", true),
            ("model:router/openai/gpt-5", true),
            (
                r#"{"type": "model", "provider": {"type": "openai"}, "model": "gpt-5"}"#,
                true,
            ),
            ("model:anthropic", false),
            ("model:", false),
            ("model", false),
            (r#"{"type": "model", "model": "gpt-5"}"#, false),
            (r#"{"type": "claude-code", "model": "sonnet"}"#, true),
            ("scripted:", false),
            ("gpt", false),
            (r#"{"type": "unheard-of"}"#, false),
            (r#"{"type": "claude-code", "modle": "sonnet"}"#, false),
            ("", false),
        ] {
            let parsed = text.parse::<BackendChoice>();
            assert_eq!(parsed.is_ok(), is_fine, "{text}: {parsed:?}");
        }
    }

    #[test]
    fn an_unknown_backend_is_told_with_those_that_there_are() {
        let error = "gpt".parse::<BackendChoice>().expect_err("there is none");
        assert!(
            ["claude-code", "scripted:FILE", "model:PROVIDER/MODEL"]
                .iter()
                .all(|known| error.contains(known)),
            "{error}"
        );
    }
}
