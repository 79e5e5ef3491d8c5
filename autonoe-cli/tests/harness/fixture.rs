//! [`Fixture`], a project in a git repository with scripted agents, and the command.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use autonoe_harness::folder::MemberFolder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for anything, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Three tasks, one of which depends on another.
pub(crate) const ROADMAP: &str = "\
# A calculator

## Objective
A calculator for the terminal.

## Tasks
- [ ] **parser**: Read sums.
  - success: `test -f src/parser.txt`
- [ ] **shell**: Ask for a line.
  - depends: parser
  - success: `test -f src/shell.txt`
- [ ] **docs**: Write about it.
";

/// A project in a git repository. Dropping it kills all processes of its fleets.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// The output of a finished command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Fixture {
    /// Creates a project with the roadmap, all of it committed.
    pub(crate) fn new() -> Self {
        let fixture = Self::without_repository();
        fixture.git(&["init", "-q", "-b", "main"]);
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "The roadmap"]);
        fixture
    }

    pub(crate) fn without_repository() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["project", "home"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        let fixture = Self { folder };
        fixture.write("ROADMAP.md", ROADMAP);
        fixture
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Returns the path of a file next to the project.
    pub(crate) fn sibling_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let path = self.project().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }

    /// Runs git in the project, and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
            .args(arguments)
            .current_dir(self.project())
            .output()
            .expect("git starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Writes a script of agents next to the project, and returns the option that names it.
    pub(crate) fn agents(&self, name: &str, sessions: &[Value]) -> String {
        let file = self.sibling_path(&format!("{name}.json"));
        fs::write(&file, json!({"sessions": sessions}).to_string()).expect("writable");
        format!("scripted:{}", file.display())
    }

    /// Agents for the three tasks: each writes its file, after the file in `holds` for its task
    /// exists.
    pub(crate) fn usual_agents(&self, holds: &[(&str, &str)]) -> String {
        let session = |task: &str, path: &str| {
            let hold = holds.iter().find(|(held, _)| *held == task);
            let hold = hold.map(|(_, file)| waits_for(&self.sibling_path(file)));
            let work = [
                writes(path, task),
                text_step(&format!("{task} is there.")),
                ends(),
            ];
            session(task, hold.into_iter().chain(work))
        };
        self.agents(
            "agents",
            &[
                session("parser", "src/parser.txt"),
                session("shell", "src/shell.txt"),
                session("docs", "docs.md"),
            ],
        )
    }

    /// Releases agents that wait for a file.
    pub(crate) fn release(&self, name: &str) {
        fs::write(self.sibling_path(name), "").expect("writable");
    }

    /// Prepares `autonoe harness` with a minimal environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.autonoe(&[&["harness"][..], arguments].concat())
    }

    /// Prepares `autonoe` with a minimal environment.
    pub(crate) fn autonoe(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.sibling_path("home"))
            .stdin(Stdio::null());
        command
    }

    /// Runs `autonoe harness` to its end.
    pub(crate) fn harness(&self, arguments: &[&str]) -> CommandOutput {
        RunningCommand::start(self.command(arguments)).end()
    }

    /// Starts `autonoe harness run ROADMAP.md` with these options.
    pub(crate) fn run(&self, options: &[&str]) -> RunningCommand {
        RunningCommand::start(self.command(&run(options)))
    }

    /// Runs `autonoe harness .. --json`, and returns its output.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<_> = arguments.iter().chain(&["--json"]).copied().collect();
        let ended = self.harness(&arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        serde_json::from_str(&ended.stdout).expect("JSON")
    }

    /// Returns the state of a member, as `status` prints it.
    pub(crate) fn member(&self, name: &str) -> Value {
        let status = self.json(&["status"]);
        let mut members = status["fleets"][0]["now"]["members"]
            .as_array()
            .into_iter()
            .flatten();
        let found = members.find(|member| member["id"] == name);
        found.cloned().unwrap_or_default()
    }

    /// Waits until a member has this status.
    pub(crate) fn until_member_is(&self, name: &str, status: &str) {
        eventually(&format!("{name} to be {status}"), || {
            self.member(name)["status"] == status
        });
    }

    /// Waits until the log of a member contains a text.
    pub(crate) fn until_log_has(&self, member: &str, text: &str) {
        let log = format!(".harness/roadmap.{member}/harness.log");
        eventually(&format!("{text:?} in the log of {member}"), || {
            fs::read_to_string(self.project().join(&log)).is_ok_and(|log| log.contains(text))
        });
    }

    /// Returns the number of processes that fleets of the project have left running.
    pub(crate) fn left_processes(&self) -> usize {
        let folders = MemberFolder::list(&self.project().join(".harness"))
            .expect("readable")
            .into_iter();
        let markers = folders.filter_map(|folder| folder.marker().ok());
        markers.map(|marker| marker.processes().len()).sum()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // Cleans up after a failed test.
        let folders = MemberFolder::list(&self.project().join(".harness"));
        for folder in folders.unwrap_or_default() {
            if let Ok(marker) = folder.marker() {
                marker.kill_all(PATIENCE);
            }
        }
    }
}

/// Returns the arguments of `run` on the roadmap.
pub(crate) fn run<'a>(options: &[&'a str]) -> Vec<&'a str> {
    ["run", "ROADMAP.md"]
        .iter()
        .chain(options)
        .copied()
        .collect()
}

/// Waits until a condition holds. Panics after the time limit.
pub(crate) fn eventually(condition_name: &str, mut condition: impl FnMut() -> bool) {
    let started_at = Instant::now();
    while !condition() {
        assert!(
            started_at.elapsed() < PATIENCE,
            "waited in vain for {condition_name}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A running command. Dropping it kills the process.
pub(crate) struct RunningCommand {
    child: Child,
}

impl RunningCommand {
    pub(crate) fn start(mut command: Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Self { child }
    }

    pub(crate) fn pid(&self) -> u32 {
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

    /// Waits for the end. Panics after the time limit.
    pub(crate) fn end(mut self) -> CommandOutput {
        let read = |pipe: Option<Box<dyn Read + Send>>| {
            std::thread::spawn(move || {
                let mut text = String::new();
                let mut pipe = pipe.expect("it is a pipe");
                pipe.read_to_string(&mut text).expect("text");
                text
            })
        };
        let stdout = read(self.child.stdout.take().map(|it| Box::new(it) as Box<_>));
        let stderr = read(self.child.stderr.take().map(|it| Box::new(it) as Box<_>));
        eventually("its end", || self.child.try_wait().expect("ours").is_some());
        let status = self.child.wait().expect("it is ours");
        CommandOutput {
            code: status.code(),
            stdout: stdout.join().expect("no panic"),
            stderr: stderr.join().expect("no panic"),
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates the session of a task, which costs a quarter of a dollar.
pub(crate) fn session(task: &str, steps: impl IntoIterator<Item = Value>) -> Value {
    let steps: Vec<_> = steps.into_iter().collect();
    let instruction = format!("task-{task}");
    json!({"name": task, "instruction": instruction, "costUsd": "0.25", "steps": steps})
}

pub(crate) fn writes(path: &str, text: &str) -> Value {
    json!({"writes": {"path": path, "text": format!("{text}\n")}})
}

pub(crate) fn text_step(text: &str) -> Value {
    json!({"says": text})
}

pub(crate) fn waits_for(file: &Path) -> Value {
    json!({"waitsForFile": file})
}

pub(crate) fn ends() -> Value {
    json!("ends")
}
