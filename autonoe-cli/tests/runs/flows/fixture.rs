//! A project with flows, and a replacement of `npm`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::runs::support::autonoe::{CommandOutput, autonoe};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, text_step, uses};

/// Creates a project with the flows of `examples/flows`.
pub(super) fn project() -> Project {
    let project = Project::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows");
    copy(&examples, &project.path(".autonoe/flows"));
    // The built-in browser would come from the network.
    project.write(".autonoe/agent.json", r#"{"mcpServers": {}}"#);
    project
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("writable");
        }
    }
}

/// Replaces `npm` with a script inside the project, where a sandbox can see it.
pub(super) fn npm(project: &Project, script: &str) {
    project.write("bin/npm", &format!("#!/bin/sh\n{script}\n"));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path("bin/npm"), mode).expect("ours");
}

/// Replaces `npm` with tests that fail `times` times and then pass. Each run adds a line to
/// `tested`.
pub(super) fn npm_fails(project: &Project, times: u32) {
    npm(
        project,
        &format!("echo \"$@\" >> tested\n[ \"$(wc -l < tested)\" -gt {times} ]"),
    );
}

/// Prepares `autonoe flow run` with these words. The programs of the project come first on `PATH`.
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

/// Writes the script of agents next to the project, and returns the option that names it.
pub(super) fn backend(project: &Project, script: &Script) -> String {
    let file = project.sibling_path("agents.json");
    fs::write(&file, script.to_json()).expect("writable");
    format!("--backend=scripted:{}", file.display())
}

/// Runs a flow on agents that follow `script`. `words` are the parameters.
pub(super) fn scripted(
    project: &Project,
    name: &str,
    script: &Script,
    words: &[&str],
) -> CommandOutput {
    let backend = backend(project, script);
    let words = [&[name, "--json", &backend], words].concat();
    let ended = CommandOutput::run(flow(project, &words));
    assert!(!ended.stderr.contains("WARN"), "{}", ended.stderr);
    ended
}

/// A session with one text.
pub(super) fn text_session(text: &str) -> [Value; 2] {
    [text_step(text), ends()]
}

/// A session that calls one of the tools of flows.
pub(super) fn calls(tool: &str, input: Value) -> [Value; 3] {
    let call = uses(&format!("mcp__autonoe__{tool}"), input);
    [call, text_step("That is all."), ends()]
}

/// Parses the output of `--json`.
pub(super) fn result(ended: &CommandOutput) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}
