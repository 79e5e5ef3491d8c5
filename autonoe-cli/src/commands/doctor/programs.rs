//! Programs that agents need.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use autonoe_core::{EffectiveConfig, McpServer, ProbeFinding, ProbeState};
use autonoe_process::find_program;

use crate::compose::{NO_NODE, NO_PROGRAM};
use crate::surroundings::Surroundings;

/// Finds a program by PATH.
pub(super) fn find(name: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    find_program(name, surroundings.environment.get(OsStr::new("PATH"))?)
}

/// Looks for git, which agents keep their work with.
pub(super) fn git(surroundings: &Surroundings) -> ProbeFinding {
    match find("git", surroundings) {
        Some(path) => ProbeFinding::good("git", path.display().to_string()),
        None => ProbeFinding::problem("git", "there is no program `git` on PATH", "install git"),
    }
}

/// Looks for the programs of MCP servers. A session starts without the built-in server only.
pub(super) fn servers(
    effective: &EffectiveConfig,
    surroundings: &Surroundings,
) -> Vec<ProbeFinding> {
    let servers = effective.mcp_servers().iter();
    servers
        .filter_map(|(name, server)| match server {
            McpServer::Stdio { command, .. } => Some((name, command)),
            _ => None,
        })
        .map(
            |(name, command)| match server(name, command, surroundings) {
                problem if problem.is_problem() && effective.is_optional_server(name) => {
                    without_browser(problem)
                }
                found => found,
            },
        )
        .collect()
}

fn server(name: &str, command: &str, surroundings: &Surroundings) -> ProbeFinding {
    let is_there = match command.contains('/') {
        true => Path::new(command).exists(),
        false => find(command, surroundings).is_some(),
    };
    if is_there {
        return ProbeFinding::good("mcp server", format!("{name}: {command} is there"));
    }
    let remedy = match command {
        "npx" | "node" => NO_NODE,
        _ => NO_PROGRAM,
    };
    let found = format!("{name}: there is no program `{command}`");
    ProbeFinding::problem("mcp server", found, remedy)
}

/// Makes a problem of the built-in server a warning: a run does without it.
pub(super) fn without_browser(mut problem: ProbeFinding) -> ProbeFinding {
    problem.state = ProbeState::Warning;
    problem.found += "; agents work without a browser";
    problem
}
