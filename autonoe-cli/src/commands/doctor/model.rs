//! Checks a model, its provider and its key, for `autonoe doctor`. No service is contacted.

use std::path::Path;

use autonoe_app::{ChosenModel, FindModelError, ModelsFile, Origin, remedy_of};
use autonoe_core::Project;
use autonoe_core::agent::ProbeFinding;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::project::{EffectiveConfig, SandboxSwitch};
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_core::tool::McpServer;
use autonoe_model::mcp::McpOptions;

use super::programs::without_browser;
use crate::cli_env::CliEnv;
use crate::error::error_chain;

/// Checks `models.json`, the provider, its key, the model and the sandbox.
pub(super) async fn findings(
    chosen: &Result<ChosenModel, FindModelError>,
    project: Option<&Project>,
    switch: SandboxSwitch,
    env: &CliEnv,
) -> Vec<ProbeFinding> {
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(FindModelError::File(error)) => {
            return vec![ProbeFinding::explained_problem(
                "models.json",
                error_chain(error),
            )];
        }
        Err(FindModelError::Unknown { provider, known }) => {
            let found = format!("unknown provider `{provider}`");
            return vec![ProbeFinding::problem(
                "provider",
                found,
                FindModelError::hint(known),
            )];
        }
    };
    let mut findings = Vec::new();
    if chosen.origin != Origin::CommandLine {
        findings.push(file(project));
    }
    findings.push(provider(chosen));
    let root = project.map_or(env.working_dir.as_path(), Project::root);
    findings.extend(ready(chosen, root, switch, env).await);
    findings
}

fn file(project: Option<&Project>) -> ProbeFinding {
    let is_there = project.is_some_and(|project| ModelsFile::path(project).exists());
    let found = if is_there {
        "valid"
    } else {
        "not found; using the built-in defaults"
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
            Origin::BuiltIn => format!("{name} (built in)"),
            Origin::CommandLine => format!("{name} (from the command line)"),
            Origin::File(path) => format!("{name} (from {})", path.display()),
        },
    )
}

/// Checks everything that needs a key.
async fn ready(
    chosen: &ChosenModel,
    root: &Path,
    switch: SandboxSwitch,
    env: &CliEnv,
) -> Vec<ProbeFinding> {
    if let Err(error) = chosen.options(root, env) {
        let problem = ProbeFinding::problem("key", error_chain(&error), chosen.remedy());
        return vec![problem];
    }
    let environment = env.environment.clone();
    let context = SpecContext::new(ProjectPaths::new(root)).with_environment(environment);
    let probe = chosen.backend.probe(&context).await;
    super::backend::findings("model", &probe, &chosen.backend, switch)
}

/// Checks whether the MCP servers of a project could start. None is started or contacted.
pub(super) fn servers(
    chosen: &ChosenModel,
    project: &Project,
    effective: &EffectiveConfig,
    env: &CliEnv,
) -> Vec<ProbeFinding> {
    let options = chosen.servers(project.root(), env);
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
            ProbeFinding::problem(NAME, error_chain(&error), remedy)
        }
        (Ok(()), McpServer::Stdio { command, .. }) => {
            ProbeFinding::good(NAME, format!("{name}: found {command}"))
        }
        (Ok(()), _) => ProbeFinding::good(NAME, format!("{name}: remote server, not contacted")),
    }
}
