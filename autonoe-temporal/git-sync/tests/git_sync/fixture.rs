//! Fixture: a remote, and hosts that share nothing but that.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::{Failure, InstructionName};
use autonoe_core::ledger::LedgerView;
use autonoe_core::project::ProjectSessionHost;
use autonoe_core::run::{JournalLine, RunLimits, RunMachine};
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{ExitReason, Mode, RunId, RunReport};
use autonoe_git_sync::{SyncRemote, SyncedProject, SyncedSessionHost};
use autonoe_process::ProcessRunner;
pub(crate) use autonoe_testkit::program::git;
use autonoe_testkit::{ScriptedBackend, SessionScript};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
pub(crate) const BRANCH: &str = "autonoe/shop";

/// A remote with a project on `main`, and folders for hosts.
pub(crate) struct Fixture {
    folder: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let seed = fixture.path("seed");
        fs::create_dir(&seed).expect("a folder");
        git(&seed, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(seed.join("SPEC.md"), "# Shop\n").expect("a file");
        fs::write(seed.join("a.txt"), "one\n").expect("a file");
        fs::write(seed.join(".gitignore"), "*.log\n.autonoe/\n").expect("a file");
        fixture.seed("first");
        fixture
    }

    /// Commits the files in the seed, and creates a new remote from it.
    pub(crate) fn seed(&self, message: &str) {
        let (seed, remote) = (self.path("seed"), self.remote());
        git(&seed, &["add", "--all"]);
        git(
            &seed,
            &["commit", "--quiet", "--allow-empty", "-m", message],
        );
        if !remote.exists() {
            let clone = ["clone", "--quiet", "--bare", "seed", "remote.git"];
            git(self.folder.path(), &clone);
        }
        git(
            &seed,
            &["push", "--quiet", "--force", "../remote.git", "main"],
        );
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.path("remote.git")
    }

    pub(crate) fn on_remote(&self, arguments: &[&str]) -> String {
        git(&self.remote(), arguments)
    }

    /// Returns all refs on the remote with their commits.
    pub(crate) fn names(&self) -> String {
        self.on_remote(&["for-each-ref"])
    }

    pub(crate) fn tip(&self) -> String {
        self.on_remote(&["rev-parse", BRANCH])
    }

    /// Returns a file at the last commit of the run's branch.
    pub(crate) fn published(&self, path: &str) -> String {
        self.on_remote(&["show", &format!("{BRANCH}:{path}")])
    }

    /// Returns the commits that a host keeps and the remote does not have.
    pub(crate) fn unpublished_work(&self, host: &str) -> Vec<String> {
        let list = [
            "for-each-ref",
            "--format=%(objectname)",
            "refs/git-sync/kept/",
        ];
        let listed = git(&self.path(host).join("sync.git"), &list);
        listed.lines().map(ToOwned::to_owned).collect()
    }

    pub(crate) fn synced_project(&self, host: &str) -> SyncedProject {
        open(&self.path(host), &self.remote(), commands())
    }

    pub(crate) fn host(&self, name: &str) -> Host {
        Host::on(self.synced_project(name))
    }

    /// Creates a commit on a branch of the remote, as someone unrelated to the run.
    pub(crate) fn push_foreign_commit(&self, branch: &str, file: &str) -> String {
        let clone = self.path("somebody");
        let _ = fs::remove_dir_all(&clone);
        let arguments = [
            "clone",
            "--quiet",
            "--branch",
            branch,
            "remote.git",
            "somebody",
        ];
        git(self.folder.path(), &arguments);
        let path = clone.join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, "theirs\n").expect("a file");
        git(&clone, &["add", "--force", file]);
        git(&clone, &["commit", "--quiet", "-m", "Theirs"]);
        git(&clone, &["push", "--quiet", "origin", branch]);
        git(&clone, &["rev-parse", "HEAD"])
    }

    /// Makes the remote unreachable until the returned value is dropped.
    pub(crate) fn make_unreachable(&self) -> UnreachableRemote<'_> {
        fs::rename(self.remote(), self.path("away.git")).expect("it is there");
        UnreachableRemote { fixture: self }
    }
}

pub(crate) struct UnreachableRemote<'a> {
    fixture: &'a Fixture,
}

impl Drop for UnreachableRemote<'_> {
    fn drop(&mut self) {
        fs::rename(self.fixture.path("away.git"), self.fixture.remote()).expect("it is there");
    }
}

pub(crate) fn open(home: &Path, remote: &Path, commands: ProcessRunner) -> SyncedProject {
    let remote = SyncRemote::new(remote.to_str().expect("plain")).expect("a path");
    let opened = SyncedProject::open(home, remote, "main", &RunId::new("shop"), commands);
    opened.expect("it can be opened")
}

/// A host, and the sessions that it has run.
pub(crate) struct Host {
    pub(crate) host: SyncedSessionHost,
    pub(crate) played: Arc<ScriptedBackend>,
}

impl Host {
    pub(crate) fn on(synced_project: SyncedProject) -> Self {
        let scripts = (1..=20).map(|number| {
            let script = SessionScript::new(format!("session {number}"));
            script.says("Done.").ends()
        });
        Self::with(synced_project, scripts)
    }

    pub(crate) fn with(
        synced_project: SyncedProject,
        scripts: impl IntoIterator<Item = SessionScript>,
    ) -> Self {
        // More sessions are scripted than a host runs.
        let played = Arc::new(ScriptedBackend::new(scripts).unverified());
        let project = synced_project.project().clone();
        let sessions = ProjectSessionHost::new(project.clone(), played.clone());
        let working = Working {
            folder: project.root().to_owned(),
            sessions,
        };
        Self {
            host: SyncedSessionHost::new(synced_project, working),
            played,
        }
    }

    pub(crate) fn synced_project(&self) -> &SyncedProject {
        self.host.project()
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.synced_project().project().root().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap_or_default()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.file(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) async fn claim(&self) -> Epoch {
        let claimed = self.host.claim(&RunId::new("shop")).await;
        claimed.expect("it can be claimed")
    }

    pub(crate) async fn attach(
        &self,
        number: u32,
        epoch: Epoch,
    ) -> Result<HostedOutcome, SessionHostError> {
        let (key, never) = (key(number), CancellationToken::new());
        self.host
            .attach_or_start(&key, epoch, session(), &|_| {}, never)
            .await
    }

    /// Reports the end of the run to the host.
    pub(crate) async fn conclude(&self, epoch: Epoch) -> Result<(), SessionHostError> {
        let machine = RunMachine::new(RunLimits::new(Mode::Run));
        let (run, now) = (RunId::new("shop"), jiff::Timestamp::UNIX_EPOCH);
        let report = machine.report(&run, ExitReason::AllPassed, now);
        self.host.conclude(epoch, &report).await
    }
}

/// Does the work of a session: each writes a file of its own.
struct Working {
    folder: PathBuf,
    sessions: ProjectSessionHost,
}

#[async_trait]
impl SessionHost for Working {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        self.sessions.claim(run).await
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.sessions.ledger_view(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let file = self.folder.join(format!("session-{}.txt", key.number));
        fs::write(file, "worked\n").expect("a file");
        let attaching = self
            .sessions
            .attach_or_start(key, epoch, session, beat, cancelled);
        attaching.await
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        self.sessions.conclude(epoch, report).await
    }
}

pub(crate) fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("shop"),
        number,
    }
}

pub(crate) fn session() -> HostedSession {
    HostedSession::new(InstructionName::Coding).prompt("Work.")
}

/// Returns the numbers of the sessions whose end is in the journal of a project.
pub(crate) fn recorded(host: &Host) -> Vec<u32> {
    let journal = autonoe_core::project::Journal::read_all(host.synced_project().project());
    let journal = journal.expect("it can be read");
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter_map(|line| match line {
            JournalLine::SessionEnded { number, .. } => Some(*number),
            _ => None,
        })
        .collect()
}

pub(crate) fn commands() -> ProcessRunner {
    ProcessRunner::unconfined("/").env("PATH", PATH)
}
