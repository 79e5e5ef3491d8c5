//! [`Fixture`], a temporary project and the command in it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::commands::console::Console;

/// A project, an empty home and a folder for programs, all of them temporary.
pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

/// The output of a finished command.
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        Self { folder }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file of the project.
    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.project().join(path);
        let folder = path.parent().expect("it is in the project");
        fs::create_dir_all(folder).expect("writable");
        fs::write(path, text).expect("writable");
        self
    }

    /// Writes a file in the home.
    pub(crate) fn home_file(self, path: &str, text: &str) -> Self {
        let path = self.folder.path().join("home").join(path);
        fs::create_dir_all(path.parent().expect("it is in the home")).expect("writable");
        fs::write(path, text).expect("writable");
        self
    }

    /// Creates a program that the command finds on `PATH`.
    pub(crate) fn program(self, name: &str, script: &str) -> Self {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).expect("readable")
    }

    /// Prepares the command in the project, with an environment that only this setting defines.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .env("HOME", self.folder.path().join("home"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn autonoe(&self, args: &[&str]) -> CommandOutput {
        self.command_output(self.command(args).output().expect("it starts"))
    }

    /// Runs the command to its end, or panics when it blocks.
    pub(crate) fn autonoe_within_timeout(&self, args: &[&str]) -> CommandOutput {
        let mut child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let deadline = Instant::now() + Duration::from_secs(300);
        while child.try_wait().expect("ours").is_none() {
            if Instant::now() > deadline {
                child.kill().expect("ours");
                panic!("{args:?} hangs");
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.command_output(child.wait_with_output().expect("it has ended"))
    }

    /// Runs the command with `input` on its standard input.
    pub(crate) fn autonoe_with_input(&self, args: &[&str], input: &[u8]) -> CommandOutput {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // The command may not read all of it.
        let _ = child.stdin.take().expect("piped").write_all(input);
        self.command_output(child.wait_with_output().expect("it ends"))
    }

    /// Returns the names of all files in the project.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect(&self.project(), &self.project(), &mut names);
        names.sort();
        names
    }

    /// Runs every command of a guide in the project, and checks its exit code and output.
    pub(crate) fn check_guide(&self, guide: &str) {
        let program = Path::new(env!("CARGO_BIN_EXE_autonoe"));
        let folder = program.parent().expect("it is in a folder").to_owned();
        let own = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&own)))
            .expect("plain names");
        for console in Console::all(guide) {
            for command in &console.commands {
                let output = Command::new("bash")
                    .args(["-c", &format!("exec 2>&1\n{}", command.text)])
                    .current_dir(self.project())
                    .env_clear()
                    .env("HOME", self.project().join("../home"))
                    .env("PATH", &path)
                    .output()
                    .expect("it starts");

                let printed = String::from_utf8_lossy(&output.stdout);
                let (code, text) = (output.status.code(), &command.text);
                assert_eq!(code, Some(console.exit), "{text}\n{printed}");
                if let Some(missing) = command.missing_in(&printed) {
                    panic!("{text}: no line {missing:?} in\n{printed}");
                }
            }
        }
    }

    /// Converts the output of a command that was started separately.
    pub(crate) fn command_output(&self, output: Output) -> CommandOutput {
        // Replaces parts that differ between machines.
        let folder = fs::canonicalize(self.folder.path()).expect("it is there");
        let plain = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("it writes UTF-8");
            text.replace(&folder.display().to_string(), "[folder]")
                .replace(&self.folder.path().display().to_string(), "[folder]")
        };
        CommandOutput {
            code: output.status.code().expect("it was not killed"),
            stdout: plain(output.stdout),
            stderr: plain(output.stderr),
        }
    }
}

fn collect(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            collect(root, &path, names);
        } else {
            let below = path.strip_prefix(root).expect("below");
            names.push(below.display().to_string());
        }
    }
}

impl CommandOutput {
    /// Formats the output as the operator sees it.
    pub(crate) fn screen(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
