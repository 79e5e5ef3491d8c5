//! Fixture: a folder, an executor, and the tasks that each backend runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::AgentClientFactory;
use autonoe_core::agent::{OuterSandbox, Sandbox};
use autonoe_core::gate::policy::Verdict;
use autonoe_core::time::Clock;
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{AllOf, CommandCriterion, ExecutionOutcome, FileCriterion};
use autonoe_harness::{AgentExecutor, Execution, ExecutionReport, Executor, Task};
use autonoe_mcp::HttpToolServer;
use autonoe_process::{Marker, ProcessRunner};
use autonoe_testkit::model_server::{ModelServer, ServerAnswer};
pub(crate) use autonoe_testkit::program::TIMEOUT;
use autonoe_testkit::program::sessions_in;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::sync::watch;

/// Environment variable that all processes started by a test inherit.
pub(crate) const MARKER: &str = "AUTONOE_TEST_SETTING";

/// Temporary folders of a test. Remaining processes are killed on drop.
pub(crate) struct Fixture {
    folder: PathBuf,
    owned: Option<TempDir>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["home", "tmp", "project"] {
            fs::create_dir(folders.path().join(name)).expect("it can be made");
        }
        Self {
            folder: folders.path().canonicalize().expect("it is there"),
            owned: Some(folders),
        }
    }

    /// Opens the folders that another process of the test has created.
    pub(crate) fn of_another(folder: PathBuf) -> Self {
        let owned = None;
        Self { folder, owned }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Returns the environment of a program, with `more` added.
    pub(crate) fn environment<const N: usize>(
        &self,
        more: [(&str, OsString); N],
    ) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = [
            ("PATH", path),
            ("HOME", self.folder.join("home").into()),
            (MARKER, self.folder.clone().into()),
        ];
        let all = own.into_iter().chain(more);
        all.map(|(name, value)| (name.into(), value)).collect()
    }

    fn marker(&self) -> Marker {
        Marker::new(MARKER, self.folder.to_string_lossy()).expect("it can be one")
    }

    /// Returns a runner of commands whose processes are found if they are left behind.
    pub(crate) fn commands(&self) -> ProcessRunner {
        let path = std::env::var_os("PATH").unwrap_or_default();
        ProcessRunner::unconfined("/")
            .env("PATH", path)
            .env(MARKER, &self.folder)
    }

    pub(crate) fn executor(
        &self,
        name: &str,
        agents: Arc<dyn AgentClientFactory>,
    ) -> AgentExecutor {
        AgentExecutor::new(name, agents, self.project())
            .commands(self.commands())
            .sessions(|builder| {
                builder
                    .bash_security(|_: &str| Verdict::Allow)
                    .tool_server(Arc::new(HttpToolServer::new()))
                    .sandbox(Sandbox::Off)
                    // The behaviour of these agents is scripted.
                    .outer_sandbox(OuterSandbox {
                        name: "a script".to_owned(),
                    })
            })
    }

    /// Fails if a process or a folder of a session is left.
    pub(crate) async fn assert_nothing_is_left(&self) {
        // Sessions may still be shutting down: this task must not block the runtime.
        let started = Instant::now();
        let is_clean = || self.marker().processes().is_empty() && self.sessions().is_empty();
        while !is_clean() && started.elapsed() < TIMEOUT {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(self.marker().processes(), []);
        assert_eq!(self.sessions(), Vec::<String>::new());
    }

    fn sessions(&self) -> Vec<String> {
        sessions_in(&self.temporary())
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if self.owned.is_some() {
            self.marker().kill_all(TIMEOUT);
        }
    }
}

/// A clock that only the test advances.
struct ManualClock {
    start: Timestamp,
    elapsed: watch::Sender<Duration>,
}

impl ManualClock {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            start: Timestamp::now(),
            elapsed: watch::Sender::new(Duration::ZERO),
        })
    }

    fn advance(&self, by: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.start + *self.elapsed.borrow()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut elapsed = self.elapsed.subscribe();
        let end = elapsed.borrow().saturating_add(duration);
        Box::pin(async move {
            let slept = elapsed.wait_for(|elapsed| *elapsed >= end).await;
            slept.expect("the executor holds the clock");
        })
    }
}

async fn execute(executor: &AgentExecutor, task: &Task) -> ExecutionReport {
    let execution = Execution::default();
    let executed = executor.run(task, &execution);
    let executed = tokio::time::timeout(TIMEOUT, executed).await;
    executed.expect("in time").expect("the task is right")
}

/// A model that writes `hello.txt` and then prints what sounds like a failure has done its task.
pub(crate) async fn does_a_task(place: &Fixture, name: &str, agents: Arc<dyn AgentClientFactory>) {
    let executor = place.executor(name, agents);
    let task = Task::new("T-1", "Write hello to hello.txt.")
        .expect("an id")
        .cli(name)
        .success_criteria(AllOf::new([
            FileCriterion::new("hello.txt")
                .contains("hello")
                .modified()
                .into(),
            CommandCriterion::new(["grep", "-qx", "hello", "hello.txt"]).into(),
        ]));

    let result = execute(&executor, &task).await;

    assert!(result.is_success(), "{result:?}");
    assert!(result.output.contains("error: failed"), "{result:?}");
    assert!(result.conversation.is_some(), "{result:?}");
    assert!(result.tokens.total() > 0, "{result:?}");
    let verified = executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;
    assert!(verified.is_success(), "{verified}");
    place.assert_nothing_is_left().await;
}

/// A model that never answers is stopped at the time limit, with its CLI.
pub(crate) async fn is_stopped_in_time(
    place: &Fixture,
    name: &str,
    agents: Arc<dyn AgentClientFactory>,
    model: &ModelServer,
) {
    let clock = ManualClock::new();
    let executor = place.executor(name, agents).clock(clock.clone());
    let time = Duration::from_secs(8);
    let task = Task::new("T-2", "Say hello.").expect("an id").timeout(time);

    let pass_time = async {
        let log = model.log();
        let request = log.wait_for(TIMEOUT, |it| matches!(it.answer, ServerAnswer::Turn(_)));
        request.await.expect("the model is asked");
        clock.advance(time);
    };
    let (result, ()) = tokio::join!(execute(&executor, &task), pass_time);

    assert_eq!(
        result.end,
        ExecutionOutcome::TimedOut { after_seconds: 8 },
        "{result:?}"
    );
    assert!(
        !executor
            .verify_success(&task, &result, &VerificationBudget::default())
            .await
            .is_success()
    );
    place.assert_nothing_is_left().await;
}

/// Returns a file of a pinned CLI, or fails the test if it is not installed.
pub(crate) fn installed(file: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let path = workspace
        .expect("it is a member")
        .join("target/clis")
        .join(file);
    let found = path.canonicalize();
    found.unwrap_or_else(|_| {
        let path = path.display();
        panic!("{path} is missing: run `cargo xtask clis` to install it")
    })
}
