//! Backends that leave processes behind.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{Prompt, SessionControl};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, SessionSpec,
};
use autonoe_testkit::conformance::{AgentHarness, Scenario, agent_client};
use tempfile::TempDir;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::ScriptedHarness;

/// The process groups that a test started, killed at its end.
#[derive(Clone, Default)]
struct Started(Arc<Mutex<Vec<u32>>>);

impl Started {
    /// Runs `script` in a shell in its own process group, and waits for the shell to exit.
    fn run(&self, script: &str, prepare: impl FnOnce(&mut Command)) -> u32 {
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).process_group(0).current_dir("/");
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        prepare(&mut shell);
        let mut shell = shell.spawn().expect("there is a shell");
        let group = shell.id();
        self.0.lock().expect("not poisoned").push(group);
        shell.wait().expect("it ends");
        group
    }
}

fn kill(group: u32) {
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{group}")])
        .stderr(Stdio::null())
        .status();
}

impl Drop for Started {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) == 1 {
            let groups = self.0.lock().expect("not poisoned");
            groups.iter().copied().for_each(kill);
        }
    }
}

/// Start of a grandchild by a backend, and whether it survives.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    /// A process with the environment of the session, in another directory.
    WithEnvironment,
    /// A process in the project, without the environment of the session.
    InProject,
    /// A process started by the agent's command: without the environment, in another directory.
    ByCommand,
    /// A process of the second of two concurrent sessions.
    BySecondSession,
    /// A process that is killed when the session is disposed or dropped.
    Nothing,
}

struct Backend {
    agents: ScriptedHarness,
    folder: TempDir,
    leaves: Leaves,
    started: Started,
}

impl Backend {
    fn that(leaves: Leaves) -> Self {
        Self {
            agents: ScriptedHarness::default(),
            folder: tempfile::tempdir().expect("a folder"),
            leaves,
            started: Started::default(),
        }
    }
}

#[async_trait]
impl AgentHarness for Backend {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        Some(Arc::new(Agents {
            inner: self.agents.agents(scenario).await?,
            command: match scenario {
                Scenario::RunsCommand { command } => Some(command.clone()),
                _ => None,
            },
            leaves: self.leaves,
            started: self.started.clone(),
        }))
    }

    fn project(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn time_limit(&self) -> Duration {
        match self.leaves {
            // A process that survives now also survives later.
            Leaves::WithEnvironment
            | Leaves::InProject
            | Leaves::ByCommand
            | Leaves::BySecondSession => Duration::from_millis(100),
            Leaves::Nothing => Duration::from_secs(60),
        }
    }
}

struct Agents {
    inner: Arc<dyn AgentClientFactory>,
    command: Option<String>,
    leaves: Leaves,
    started: Started,
}

#[async_trait]
impl AgentClientFactory for Agents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.inner.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        const GRANDCHILD: &str = "sleep 86400 >/dev/null 2>&1 &";
        let inner = self.inner.create(spec.clone())?;
        let grandchild = match (self.leaves, &self.command) {
            (Leaves::ByCommand, Some(command)) if command.contains("sleep") => {
                Some(self.started.run(command, |_| ()))
            }
            (Leaves::ByCommand, _) => None,
            (Leaves::BySecondSession, _) if !is_second(&spec) => None,
            (Leaves::InProject, _) => Some(self.started.run(GRANDCHILD, |shell| {
                shell.current_dir(&spec.cwd);
            })),
            (Leaves::WithEnvironment | Leaves::BySecondSession | Leaves::Nothing, _) => {
                Some(self.started.run(GRANDCHILD, |shell| {
                    shell.envs(&spec.environment);
                }))
            }
        };
        Ok(Box::new(Client {
            inner: Some(inner),
            killed_at_the_end: grandchild.filter(|_| self.leaves == Leaves::Nothing),
        }))
    }
}

/// Returns whether this is the second of two concurrent sessions.
fn is_second(spec: &SessionSpec) -> bool {
    spec.key.number == 2 && spec.key.run.as_str() == "conformance-uses-tools"
}

struct Client {
    inner: Option<Box<dyn AgentClient>>,
    killed_at_the_end: Option<u32>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.killed_at_the_end.into_iter().for_each(kill);
    }
}

#[async_trait]
impl AgentClient for Client {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        self.inner.as_mut().expect("not disposed").query(prompt)
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.as_ref().expect("not disposed").control()
    }

    async fn dispose(mut self: Box<Self>) -> Result<(), AgentError> {
        self.inner.take().expect("not disposed").dispose().await
    }
}

const PROCESSES: &str = "no process outlives its session";
const STOPPED: &str = "no process outlives a session that is stopped";

#[tokio::test(start_paused = true)]
async fn a_grandchild_that_is_left_alive_is_found() {
    for leaves in [Leaves::WithEnvironment, Leaves::InProject] {
        let report = agent_client(&Backend::that(leaves)).await;

        assert_fails(&report, &[STOPPED, PROCESSES]);
        for failure in report.failures() {
            assert!(
                failure
                    .problem
                    .contains("(sleep 86400) is left after the session")
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_the_agent_left_in_the_background_is_found() {
    let report = agent_client(&Backend::that(Leaves::ByCommand)).await;

    assert_fails(&report, &[PROCESSES]);
    let problem = &report.failures()[0].problem;
    assert!(problem.starts_with("background: process "), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_any_check_leaves_is_found() {
    let report = agent_client(&Backend::that(Leaves::BySecondSession)).await;

    assert_fails(&report, &[PROCESSES]);
    let problem = &report.failures()[0].problem;
    let prefix = "two sessions run side by side: process ";
    assert!(problem.starts_with(prefix), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_ends_its_processes_with_each_session_conforms() {
    let report = agent_client(&Backend::that(Leaves::Nothing)).await;

    report.assert();
    for check in [PROCESSES, STOPPED] {
        assert!(report.passed().contains(&check.to_owned()), "{report}");
    }
}
