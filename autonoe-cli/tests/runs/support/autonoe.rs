//! Runs `autonoe` as a child process without a terminal, and captures its output.

use std::fs;
use std::process::{Command, Output, Stdio};

use super::project::Project;
use super::script::Script;

/// Prepares `autonoe` with these arguments in the project, with only `PATH` from the environment.
pub(crate) fn autonoe(project: &Project, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
    command
        .args(arguments)
        .current_dir(project.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", project.home())
        .stdin(Stdio::null());
    command
}

/// Runs `autonoe COMMAND` on agents that follow `script`, without pauses.
pub(crate) fn scripted(project: &Project, script: &Script, arguments: &[&str]) -> CommandOutput {
    let command = scripted_command(project, script, arguments);
    CommandOutput::run(command)
}

/// Prepares `autonoe COMMAND` on agents that follow `script`, without pauses.
pub(crate) fn scripted_command(project: &Project, script: &Script, arguments: &[&str]) -> Command {
    let file = project.beside("agents.json");
    fs::write(&file, script.to_json()).expect("writable");
    let mut command = autonoe(project, arguments);
    command
        .arg(format!("--backend=scripted:{}", file.display()))
        .arg("--pause=0s");
    command
}

/// The output of a finished command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    pub(crate) fn run(mut command: Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().expect("it starts");
        let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).expect("text"));
        Self {
            code: status.code(),
            stdout,
            stderr,
        }
    }
}
