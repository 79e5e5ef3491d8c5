//! Fixture of the session host checks, and the project in which a host works.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
use autonoe_core::event::InstructionName;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{AgentClientFactory, RunId};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::agents::HostedAgents;
use crate::conformance::checks::{CheckOutcome, Flaw};

/// The working environment of a session host in a check: a separate project, and its agents.
#[derive(Debug)]
pub struct HostProject {
    _dir: TempDir,
    project: PathBuf,
    signs: PathBuf,
}

impl HostProject {
    pub(super) fn new() -> std::io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let (project, signs) = (dir.path().join("project"), dir.path().join("signs"));
        std::fs::create_dir(&project)?;
        std::fs::create_dir(&signs)?;
        Ok(Self {
            _dir: dir,
            project,
            signs,
        })
    }

    /// Returns the project directory. Its spec and its state are not shared.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the run that the sessions belong to.
    pub fn run(&self) -> RunId {
        run()
    }

    /// Returns the folder of [`HostedAgents::at`].
    pub fn event_folder(&self) -> &Path {
        &self.signs
    }

    /// Returns the agents for a host in this process.
    pub fn agents(&self) -> Arc<dyn AgentClientFactory> {
        Arc::new(HostedAgents::at(&self.signs))
    }
}

/// The number of hosts that share a project.
const HOSTS: usize = 4;

/// A project and its hosts.
pub(super) struct Fixture {
    _host_project: HostProject,
    hosts: Vec<Arc<dyn SessionHost>>,
    asked: AtomicUsize,
    pub(super) events: EventFolder,
}

/// The result of attaching to a session.
pub(super) type Attached = Result<HostedOutcome, SessionHostError>;

impl Fixture {
    pub(super) async fn new(
        make: &impl AsyncFn(&HostProject) -> Arc<dyn SessionHost>,
    ) -> CheckOutcome<Self> {
        let host_project = HostProject::new()
            .map_err(|error| Flaw::Untestable(format!("cannot create a folder: {error}")))?;
        let mut hosts = Vec::new();
        for _ in 0..HOSTS {
            hosts.push(make(&host_project).await);
        }
        Ok(Self {
            events: EventFolder::in_folder(host_project.event_folder()),
            _host_project: host_project,
            hosts,
            asked: AtomicUsize::new(0),
        })
    }

    /// Returns a host in round-robin order.
    pub(super) fn host(&self) -> &dyn SessionHost {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        &*self.hosts[number % HOSTS]
    }

    /// Attaches to a session through another host.
    pub(super) async fn attach(&self, number: u32, epoch: u64, does: &str) -> Attached {
        self.attach_until(number, epoch, does, CancellationToken::new())
            .await
    }

    pub(super) async fn attach_until(
        &self,
        number: u32,
        epoch: u64,
        does: &str,
        cancelled: CancellationToken,
    ) -> Attached {
        let session = session(InstructionName::Coding, does);
        self.host()
            .attach_or_start(&key(number), Epoch(epoch), session, &|_| {}, cancelled)
            .await
    }

    /// Attaches through another host to a session that ends at once, which the host must run.
    pub(super) async fn run_session(&self, number: u32, epoch: u64) -> CheckOutcome<HostedOutcome> {
        expect_outcome(self.attach(number, epoch, super::agents::does::GIVE).await)
    }

    /// Checks that `count` agents have started, and that all of them have ended.
    pub(super) async fn check_started_and_ended(&self, count: usize) -> CheckOutcome {
        self.events.until(ENDED, count).await;
        let begun = self.events.count(STARTED);
        ensure!(begun == count, "{begun} agents have started, not {count}");
        Ok(())
    }

    /// Polls until `is_so` returns true.
    pub(super) async fn until<F: Future<Output = bool>>(&self, is_so: impl Fn() -> F) {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

pub(super) fn run() -> RunId {
    RunId::new("conformance")
}

pub(super) fn key(number: u32) -> SessionKey {
    SessionKey { run: run(), number }
}

pub(super) fn session(instruction: InstructionName, does: &str) -> HostedSession {
    HostedSession::new(instruction).prompt(does)
}

pub(super) fn expect_outcome(attached: Attached) -> CheckOutcome<HostedOutcome> {
    attached.map_err(|error| Flaw::Failed(format!("there is no outcome: {error}")))
}

/// The polling interval.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A folder in which agents record their actions, and which signals when they may end.
#[derive(Clone, Debug)]
pub(super) struct EventFolder {
    folder: PathBuf,
}

impl EventFolder {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Records an event.
    pub(super) fn record(&self, what: &str) {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.log());
        // A lost record fails the check.
        let _ = log.and_then(|mut log| log.write_all(format!("{what}\n").as_bytes()));
    }

    /// Counts how often an event was recorded.
    pub(super) fn count(&self, what: &str) -> usize {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().filter(|line| *line == what).count()
    }

    /// Waits until an event was recorded `count` times.
    pub(super) async fn until(&self, what: &str, count: usize) {
        while self.count(what) < count {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Lets holding agents end.
    pub(super) fn release(&self) {
        let _ = fs::write(self.released(), "");
    }

    /// Waits until holding agents may end.
    pub(super) async fn wait_for_release(&self) {
        while !self.released().exists() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn released(&self) -> PathBuf {
        self.folder.join("released")
    }
}

/// An agent has started.
pub(super) const STARTED: &str = "begun";

/// An agent has ended.
pub(super) const ENDED: &str = "gone";

/// An agent has received the message of the suite.
pub(super) const RECEIVED: &str = "told";

/// An agent has tried to write to the ledger.
pub(super) const TRIED: &str = "tried";
