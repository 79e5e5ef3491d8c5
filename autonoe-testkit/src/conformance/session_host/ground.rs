//! Where a session host works, and what the checks share.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use autonoe_core::{
    AgentClientFactory, Epoch, HostedOutcome, HostedSession, InstructionName, RunId, SessionHost,
    SessionHostError, SessionKey,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::agents::HostedAgents;
use crate::conformance::checks::{Finding, Flaw};

/// Where a session host of a check works: a project of its own, and the agents in it.
#[derive(Debug)]
pub struct HostGround {
    _dir: TempDir,
    project: PathBuf,
    signs: PathBuf,
}

impl HostGround {
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

    /// Returns the project directory. Its spec and its state are those of nobody else.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the run whose sessions are asked for.
    pub fn run(&self) -> RunId {
        run()
    }

    /// Returns the folder of [`HostedAgents::at`].
    pub fn signs(&self) -> &Path {
        &self.signs
    }

    /// Returns the agents that a host in this process has.
    pub fn agents(&self) -> Arc<dyn AgentClientFactory> {
        Arc::new(HostedAgents::at(&self.signs))
    }
}

/// How many hosts there are on one ground.
const HOSTS: usize = 4;

/// A ground and the hosts on it.
pub(super) struct Stand {
    _ground: HostGround,
    hosts: Vec<Arc<dyn SessionHost>>,
    asked: AtomicUsize,
    pub(super) signs: Signs,
}

/// What comes of asking for a session.
pub(super) type Attached = Result<HostedOutcome, SessionHostError>;

impl Stand {
    pub(super) async fn new(
        make: &impl AsyncFn(&HostGround) -> Arc<dyn SessionHost>,
    ) -> Finding<Self> {
        let ground = HostGround::new()
            .map_err(|error| Flaw::Untestable(format!("there is no folder to work in: {error}")))?;
        let mut hosts = Vec::new();
        for _ in 0..HOSTS {
            hosts.push(make(&ground).await);
        }
        Ok(Self {
            signs: Signs::in_folder(ground.signs()),
            _ground: ground,
            hosts,
            asked: AtomicUsize::new(0),
        })
    }

    /// Returns another host than last time.
    pub(super) fn host(&self) -> &dyn SessionHost {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        &*self.hosts[number % HOSTS]
    }

    /// Asks another host for a session.
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

    /// Asks another host for a session that ends at once, which it must run.
    pub(super) async fn give(&self, number: u32, epoch: u64) -> Finding<HostedOutcome> {
        told(self.attach(number, epoch, super::agents::does::GIVE).await)
    }

    /// Tells whether so many agents have begun, and all of them are gone.
    pub(super) async fn begun_and_gone(&self, count: usize) -> Finding {
        self.signs.until(GONE, count).await;
        let begun = self.signs.count(BEGUN);
        ensure!(begun == count, "{begun} agents have begun, and not {count}");
        Ok(())
    }

    /// Looks again and again until it is so.
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

pub(super) fn told(attached: Attached) -> Finding<HostedOutcome> {
    attached.map_err(|error| Flaw::Failed(format!("there is no outcome: {error}")))
}

/// How long to wait before looking again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A folder in which agents write down what they do, and find when they may end.
#[derive(Clone, Debug)]
pub(super) struct Signs {
    folder: PathBuf,
}

impl Signs {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Writes down that something happened.
    pub(super) fn note(&self, what: &str) {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.log());
        // What is not written is not seen, and then the check fails.
        let _ = log.and_then(|mut log| log.write_all(format!("{what}\n").as_bytes()));
    }

    /// Counts how often something happened.
    pub(super) fn count(&self, what: &str) -> usize {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().filter(|line| *line == what).count()
    }

    /// Waits until something has happened so often.
    pub(super) async fn until(&self, what: &str, count: usize) {
        while self.count(what) < count {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Lets agents that hold end.
    pub(super) fn release(&self) {
        let _ = fs::write(self.released(), "");
    }

    /// Waits until agents that hold may end.
    pub(super) async fn until_released(&self) {
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

/// An agent has begun.
pub(super) const BEGUN: &str = "begun";

/// An agent is gone.
pub(super) const GONE: &str = "gone";

/// An agent was told what the suite tells.
pub(super) const TOLD: &str = "told";

/// An agent has tried to write to the ledger.
pub(super) const TRIED: &str = "tried";
