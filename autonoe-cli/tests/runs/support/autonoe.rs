//! Runs `autonoe` as a child process without a terminal, to its end or until an event.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

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
    let file = project.sibling_path("agents.json");
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

/// Time limit for anything, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running command. Dropping it kills the process.
pub(crate) struct RunningCommand {
    child: Child,
}

impl RunningCommand {
    /// Starts `command`, and returns when the journal of `project` contains `text`.
    pub(crate) fn until_journal_has(command: Command, project: &Project, text: &str) -> Self {
        Self::until_file_has(command, &project.path(".autonoe/journal.jsonl"), text)
    }

    /// Starts `command`, and returns when the file contains `text`.
    pub(crate) fn until_file_has(mut command: Command, file: &Path, text: &str) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut run = Self { child };
        run.wait_for(file, text);
        run
    }

    /// Waits until the journal of `project` contains `text`.
    pub(crate) fn wait_for_journal(&mut self, project: &Project, text: &str) {
        self.wait_for(&project.path(".autonoe/journal.jsonl"), text);
    }

    fn wait_for(&mut self, file: &Path, text: &str) {
        let started_at = Instant::now();
        while !std::fs::read_to_string(file).is_ok_and(|written| written.contains(text)) {
            assert!(started_at.elapsed() < PATIENCE, "{file:?} has no {text}");
            let ended = self.child.try_wait().expect("ours");
            assert_eq!(ended, None, "it ended before {file:?} had {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process without a chance to clean up.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Sends an interrupt.
    pub(crate) fn interrupt(&self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
    }

    /// Waits for the end, and returns the exit code and the output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        use std::io::Read;

        let mut written = String::new();
        for output in [
            self.child
                .stdout
                .take()
                .map(|it| Box::new(it) as Box<dyn Read>),
            self.child
                .stderr
                .take()
                .map(|it| Box::new(it) as Box<dyn Read>),
        ] {
            let mut output = output.expect("it is a pipe");
            output.read_to_string(&mut written).expect("text");
        }
        let status = self.child.wait().expect("it is ours");
        (status.code(), written)
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
