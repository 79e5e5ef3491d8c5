//! A model, its provider and its key. Nobody is asked anything.

use std::path::Path;

use autonoe_core::{
    BackendSpec, EffectiveConfig, McpServer, ProbeFinding, Project, ProjectPaths, SandboxSwitch,
    SpecContext,
};
use autonoe_model::McpOptions;

use super::programs::without_browser;
use crate::compose::{ChosenModel, ModelsFile, NoModel, Origin, remedy_of};
use crate::error::whole;
use crate::surroundings::Surroundings;

/// Looks at the file, the provider, its key, the model and the sandbox.
pub(super) async fn findings(
    chosen: &Result<ChosenModel, NoModel>,
    project: Option<&Project>,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Vec<ProbeFinding> {
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(NoModel::File(error)) => {
            return vec![ProbeFinding::explained_problem("models.json", whole(error))];
        }
        Err(NoModel::Unknown { provider, known }) => {
            let found = format!("there is no provider `{provider}`");
            return vec![ProbeFinding::problem(
                "provider",
                found,
                NoModel::hint(known),
            )];
        }
    };
    let mut findings = Vec::new();
    if chosen.origin != Origin::CommandLine {
        findings.push(file(project));
    }
    findings.push(provider(chosen));
    let root = project.map_or(surroundings.working_dir.as_path(), Project::root);
    findings.extend(ready(chosen, root, switch, surroundings).await);
    findings
}

fn file(project: Option<&Project>) -> ProbeFinding {
    let is_there = project.is_some_and(|project| ModelsFile::path(project).exists());
    let found = match is_there {
        true => "valid",
        false => "there is none; what is built in counts",
    };
    ProbeFinding::good("models.json", found)
}

fn provider(chosen: &ChosenModel) -> ProbeFinding {
    const NAME: &str = "provider";
    let name = chosen.backend.provider_name();
    if let Some(warning) = chosen.warning() {
        return ProbeFinding::explained_warning(NAME, warning);
    }
    ProbeFinding::good(
        NAME,
        match &chosen.origin {
            Origin::BuiltIn => format!("{name}, which is built in"),
            Origin::CommandLine => format!("{name}, of the command line"),
            Origin::File(path) => format!("{name}, of {}", path.display()),
        },
    )
}

/// Looks at all that needs a key.
async fn ready(
    chosen: &ChosenModel,
    root: &Path,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Vec<ProbeFinding> {
    if let Err(error) = chosen.options(root, surroundings) {
        let problem = ProbeFinding::problem("key", whole(&error), chosen.remedy());
        return vec![problem];
    }
    let environment = surroundings.environment.clone();
    let context = SpecContext::new(ProjectPaths::new(root)).with_environment(environment);
    let probe = chosen.backend.probe(&context).await;
    super::backend::findings("model", &probe, &chosen.backend, switch)
}

/// Looks whether the MCP servers of a project could be started. None is, and nobody is asked.
pub(super) fn servers(
    chosen: &ChosenModel,
    project: &Project,
    effective: &EffectiveConfig,
    surroundings: &Surroundings,
) -> Vec<ProbeFinding> {
    let options = chosen.servers(project.root(), surroundings);
    let servers = effective.mcp_servers().iter();
    servers
        .map(
            |(name, server)| match self::server(name, server, &options) {
                problem if problem.is_problem() && effective.is_optional_server(name) => {
                    without_browser(problem)
                }
                found => found,
            },
        )
        .collect()
}

fn server(name: &str, server: &McpServer, options: &McpOptions) -> ProbeFinding {
    const NAME: &str = "mcp server";
    match (options.check(name, server), server) {
        (Err(error), _) => {
            let remedy = remedy_of(server, &error);
            ProbeFinding::problem(NAME, whole(&error), remedy)
        }
        (Ok(()), McpServer::Stdio { command, .. }) => {
            ProbeFinding::good(NAME, format!("{name}: {command} is there"))
        }
        (Ok(()), _) => {
            ProbeFinding::good(NAME, format!("{name}: it is elsewhere and was not asked"))
        }
    }
}
