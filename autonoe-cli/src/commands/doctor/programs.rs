//! Checks the programs that agents need, for `autonoe doctor`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use autonoe_app::{NO_NODE, NO_PROGRAM};
use autonoe_core::agent::{ProbeFinding, ProbeState};
use autonoe_core::project::EffectiveConfig;
use autonoe_core::tool::McpServer;
use autonoe_process::find_program;

use crate::cli_env::CliEnv;

/// Finds a program on `PATH`.
pub(super) fn find(name: &str, env: &CliEnv) -> Option<PathBuf> {
    find_program(name, env.environment.get(OsStr::new("PATH"))?)
}

/// Checks for git, with which agents commit their work.
pub(super) fn git(env: &CliEnv) -> ProbeFinding {
    match find("git", env) {
        Some(path) => ProbeFinding::good("git", path.display().to_string()),
        None => ProbeFinding::problem("git", "there is no program `git` on PATH", "install git"),
    }
}

/// Checks for the programs of MCP servers. Only the built-in server is optional for a session.
pub(super) fn servers(effective: &EffectiveConfig, env: &CliEnv) -> Vec<ProbeFinding> {
    let servers = effective.mcp_servers().iter();
    servers
        .filter_map(|(name, server)| match server {
            McpServer::Stdio { command, .. } => Some((name, command)),
            _ => None,
        })
        .map(|(name, command)| match server(name, command, env) {
            problem if problem.is_problem() && effective.is_optional_server(name) => {
                without_browser(problem)
            }
            found => found,
        })
        .collect()
}

fn server(name: &str, command: &str, env: &CliEnv) -> ProbeFinding {
    let is_there = if command.contains('/') {
        Path::new(command).exists()
    } else {
        find(command, env).is_some()
    };
    if is_there {
        return ProbeFinding::good("mcp server", format!("{name}: found {command}"));
    }
    let remedy = match command {
        "npx" | "node" => NO_NODE,
        _ => NO_PROGRAM,
    };
    let found = format!("{name}: there is no program `{command}`");
    ProbeFinding::problem("mcp server", found, remedy)
}

/// Downgrades a problem of the built-in server to a warning, because a run works without it.
pub(super) fn without_browser(mut problem: ProbeFinding) -> ProbeFinding {
    problem.state = ProbeState::Warning;
    problem.found += "; agents work without a browser";
    problem
}
