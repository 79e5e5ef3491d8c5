//! A model, its provider and its key. Nobody is asked anything.

use std::path::Path;

use autonoe_core::{EffectiveConfig, McpServer, Project, Sandbox, SandboxSwitch};
use autonoe_model::{McpOptions, ModelAgentOptions, ModelIdentity};

use super::finding::Finding;
use super::sandbox::switched_off;
use crate::compose::{ChosenModel, ModelsFile, NoModel, Origin, remedy_of};
use crate::error::whole;
use crate::surroundings::Surroundings;

/// Looks at the file, the provider, its key, the model and the sandbox.
pub(super) fn findings(
    chosen: &Result<ChosenModel, NoModel>,
    project: Option<&Project>,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Vec<Finding> {
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(NoModel::File(error)) => {
            return vec![Finding::explained_problem("models.json", whole(error))];
        }
        Err(NoModel::Unknown { provider, known }) => {
            let found = format!("there is no provider `{provider}`");
            return vec![Finding::problem("provider", found, NoModel::hint(known))];
        }
    };
    let mut findings = Vec::new();
    if chosen.origin != Origin::CommandLine {
        findings.push(file(project));
    }
    findings.push(provider(chosen));
    let root = project.map_or(surroundings.working_dir.as_path(), Project::root);
    findings.extend(ready(chosen, root, switch, surroundings));
    findings
}

fn file(project: Option<&Project>) -> Finding {
    let is_there = project.is_some_and(|project| ModelsFile::path(project).exists());
    let found = match is_there {
        true => "valid",
        false => "there is none; what is built in counts",
    };
    Finding::good("models.json", found)
}

fn provider(chosen: &ChosenModel) -> Finding {
    const NAME: &str = "provider";
    let name = chosen.backend.provider_name();
    if let Some(warning) = chosen.warning() {
        return Finding::explained_warning(NAME, warning);
    }
    Finding::good(
        NAME,
        match &chosen.origin {
            Origin::BuiltIn => format!("{name}, which is built in"),
            Origin::CommandLine => format!("{name}, of the command line"),
            Origin::File(path) => format!("{name}, of {}", path.display()),
        },
    )
}

/// Looks at all that needs a key.
fn ready(
    chosen: &ChosenModel,
    root: &Path,
    switch: SandboxSwitch,
    surroundings: &Surroundings,
) -> Vec<Finding> {
    match chosen.options(root, surroundings) {
        Err(error) => vec![Finding::problem("key", whole(&error), chosen.remedy())],
        Ok(options) => vec![
            Finding::good("key", "there is one, or none is needed; nobody was asked"),
            model(chosen, &options),
            sandbox(switch, &options),
        ],
    }
}

fn model(chosen: &ChosenModel, options: &ModelAgentOptions) -> Finding {
    const NAME: &str = "model";
    let (provider, model) = (chosen.backend.provider_name(), &options.model);
    let context = options.limits.of(model).context;
    let known = format!("{model}, with {context} tokens of context");
    let identity = ModelIdentity::new(provider, model);
    match options.prices.price(&identity) {
        Some(_) => Finding::good(NAME, known),
        None => Finding::warning(
            NAME,
            format!("{known}; its price is not known, so that no --max-cost can be kept"),
            "add it to `prices` in .autonoe/models.json",
        ),
    }
}

fn sandbox(switch: SandboxSwitch, options: &ModelAgentOptions) -> Finding {
    const NAME: &str = "sandbox";
    if switch.sandbox() == Sandbox::Off {
        return switched_off();
    }
    let tried = options.built_in.as_ref().map(|tools| tools.try_sandbox());
    match tried {
        Some(Err(error)) => {
            let remedy = format!("{}, or use --no-sandbox in a container", error.remedy());
            Finding::problem(NAME, whole(&error), remedy)
        }
        _ => Finding::good(NAME, "bwrap is there and works"),
    }
}

/// Looks whether the MCP servers of a project could be started. None is, and nobody is asked.
pub(super) fn servers(
    chosen: &ChosenModel,
    project: &Project,
    effective: &EffectiveConfig,
    surroundings: &Surroundings,
) -> Vec<Finding> {
    let options = chosen.servers(project.root(), surroundings);
    let servers = effective.mcp_servers().iter();
    servers
        .map(|(name, server)| self::server(name, server, &options))
        .collect()
}

fn server(name: &str, server: &McpServer, options: &McpOptions) -> Finding {
    const NAME: &str = "mcp server";
    match (options.check(name, server), server) {
        (Err(error), _) => {
            let remedy = remedy_of(server, &error);
            Finding::problem(NAME, whole(&error), remedy)
        }
        (Ok(()), McpServer::Stdio { command, .. }) => {
            Finding::good(NAME, format!("{name}: {command} is there"))
        }
        (Ok(()), _) => Finding::good(NAME, format!("{name}: it is elsewhere and was not asked")),
    }
}
