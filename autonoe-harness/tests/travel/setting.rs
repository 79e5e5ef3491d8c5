//! What the tests share: a remote, and hosts that have nothing in common but that.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    Epoch, ExitReason, Failure, HostedOutcome, HostedSession, InstructionName, JournalLine,
    LedgerView, Mode, ProjectSessionHost, RunId, RunLimits, RunMachine, RunProgress, RunReport,
    SessionHost, SessionHostError, SessionKey,
};
use autonoe_harness::{TravelRemote, TravellingHost, TravellingProject};
use autonoe_process::Commands;
pub(crate) use autonoe_testkit::program::git;
use autonoe_testkit::{ScriptedAgents, SessionScript};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
pub(crate) const BRANCH: &str = "autonoe/shop";

/// A remote with a project on `main`, and room for hosts.
pub(crate) struct Stage {
    folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let seed = stage.path("seed");
        fs::create_dir(&seed).expect("a folder");
        git(&seed, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(seed.join("SPEC.md"), "# Shop\n").expect("a file");
        fs::write(seed.join("a.txt"), "one\n").expect("a file");
        fs::write(seed.join(".gitignore"), "*.log\n.autonoe/\n").expect("a file");
        stage.seed("first");
        stage
    }

    /// Commits what is in the seed, and makes a new remote of it.
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

    /// Returns all names on the remote with their commits.
    pub(crate) fn names(&self) -> String {
        self.on_remote(&["for-each-ref"])
    }

    pub(crate) fn tip(&self) -> String {
        self.on_remote(&["rev-parse", BRANCH])
    }

    /// Returns a file at the end of the run's branch.
    pub(crate) fn published(&self, path: &str) -> String {
        self.on_remote(&["show", &format!("{BRANCH}:{path}")])
    }

    pub(crate) fn travels(&self, host: &str) -> TravellingProject {
        open(&self.path(host), &self.remote(), commands())
    }

    pub(crate) fn host(&self, name: &str) -> Host {
        Host::on(self.travels(name))
    }

    /// Makes a commit on a branch of the remote as somebody who has nothing to do with the run.
    pub(crate) fn somebody_pushes(&self, branch: &str, file: &str) -> String {
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
        fs::write(clone.join(file), "theirs\n").expect("a file");
        git(&clone, &["add", "--force", file]);
        git(&clone, &["commit", "--quiet", "-m", "Theirs"]);
        git(&clone, &["push", "--quiet", "origin", branch]);
        git(&clone, &["rev-parse", "HEAD"])
    }

    /// Takes the remote away until it is dropped.
    pub(crate) fn away(&self) -> Away<'_> {
        fs::rename(self.remote(), self.path("away.git")).expect("it is there");
        Away { stage: self }
    }
}

pub(crate) struct Away<'a> {
    stage: &'a Stage,
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        fs::rename(self.stage.path("away.git"), self.stage.remote()).expect("it is there");
    }
}

pub(crate) fn open(home: &Path, remote: &Path, commands: Commands) -> TravellingProject {
    let remote = TravelRemote::new(remote.to_str().expect("plain")).expect("a path");
    let opened = TravellingProject::open(home, remote, "main", &RunId::new("shop"), commands);
    opened.expect("it can be opened")
}

/// A host, and the sessions that it had.
pub(crate) struct Host {
    pub(crate) host: TravellingHost,
    pub(crate) played: Arc<ScriptedAgents>,
}

impl Host {
    pub(crate) fn on(travels: TravellingProject) -> Self {
        let scripts = (1..=20).map(|number| {
            let script = SessionScript::new(format!("session {number}"));
            script.says("Done.").ends()
        });
        Self::with(travels, scripts)
    }

    pub(crate) fn with(
        travels: TravellingProject,
        scripts: impl IntoIterator<Item = SessionScript>,
    ) -> Self {
        // More sessions are written than a host has.
        let played = Arc::new(ScriptedAgents::new(scripts).unverified());
        let project = travels.project().clone();
        let sessions = ProjectSessionHost::new(project.clone(), played.clone());
        let working = Working {
            folder: project.root().to_owned(),
            sessions,
        };
        Self {
            host: TravellingHost::new(travels, working),
            played,
        }
    }

    pub(crate) fn travels(&self) -> &TravellingProject {
        self.host.travels()
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.travels().project().root().join(path)
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

    /// Tells it that the run has ended.
    pub(crate) async fn conclude(&self, epoch: Epoch) -> Result<(), SessionHostError> {
        let machine = RunMachine::new(RunLimits::new(Mode::Run));
        let (run, now) = (RunId::new("shop"), jiff::Timestamp::UNIX_EPOCH);
        let report = machine.report(&run, ExitReason::AllPassed, now);
        self.host.conclude(epoch, &report).await
    }
}

/// Does the work of a session: each leaves a file of its own.
struct Working {
    folder: PathBuf,
    sessions: ProjectSessionHost,
}

#[async_trait]
impl SessionHost for Working {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        self.sessions.claim(run).await
    }

    async fn look(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.sessions.look(run).await
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

/// Returns the numbers of the sessions whose end stands in the journal of a project.
pub(crate) fn recorded(host: &Host) -> Vec<u32> {
    let journal = autonoe_core::Journal::read_all(host.travels().project());
    let journal = journal.expect("it can be read");
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter_map(|line| match line {
            JournalLine::SessionEnded { number, .. } => Some(*number),
            _ => None,
        })
        .collect()
}

pub(crate) fn commands() -> Commands {
    Commands::unconfined("/").env("PATH", PATH)
}
