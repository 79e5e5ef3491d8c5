//! A project with flows, and a program in the place of `npm`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::runs::support::autonoe::{Ended, autonoe};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, says, uses};

/// Makes a project with the flows of `examples/flows`.
pub(super) fn project() -> Project {
    let project = Project::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows");
    copy(&examples, &project.path(".autonoe/flows"));
    // The browser that projects have otherwise comes from the network.
    project.write(".autonoe/agent.json", r#"{"mcpServers": {}}"#);
    project
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let to = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).expect("writable")),
        }
    }
}

/// Puts a script in the place of `npm`; it stands in the project, which a sandbox shows.
pub(super) fn npm(project: &Project, script: &str) {
    project.write("bin/npm", &format!("#!/bin/sh\n{script}\n"));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path("bin/npm"), mode).expect("ours");
}

/// Tests that fail `times` times and pass then. Each run of them leaves a line in `tested`.
pub(super) fn npm_fails(project: &Project, times: u32) {
    npm(
        project,
        &format!("echo \"$@\" >> tested\n[ \"$(wc -l < tested)\" -gt {times} ]"),
    );
}

/// Prepares `autonoe flow run` with these words, and the project's own programs before all others.
pub(super) fn flow(project: &Project, words: &[&str]) -> Command {
    let mut command = autonoe(project, &[&["flow", "run"], words].concat());
    let own = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = [project.path("bin")]
        .into_iter()
        .chain(std::env::split_paths(&own))
        .collect();
    command.env("PATH", std::env::join_paths(path).expect("plain names"));
    command
}

/// Writes the script of agents beside the project, and returns the option that names it.
pub(super) fn backend(project: &Project, script: &Script) -> String {
    let file = project.beside("agents.json");
    fs::write(&file, script.to_json()).expect("writable");
    format!("--backend=scripted:{}", file.display())
}

/// Runs a flow on agents that follow `script`; `words` are the parameters.
pub(super) fn scripted(project: &Project, name: &str, script: &Script, words: &[&str]) -> Ended {
    let backend = backend(project, script);
    let words = [&[name, "--json", &backend], words].concat();
    let ended = Ended::of(flow(project, &words));
    assert!(!ended.stderr.contains("WARN"), "{}", ended.stderr);
    ended
}

/// A session that says something and ends.
pub(super) fn speaks(text: &str) -> [Value; 2] {
    [says(text), ends()]
}

/// A session that calls one of the tools of flows, and ends.
pub(super) fn calls(tool: &str, input: Value) -> [Value; 3] {
    let call = uses(&format!("mcp__autonoe__{tool}"), input);
    [call, says("That is all."), ends()]
}

/// Reads what `--json` printed.
pub(super) fn result(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}
