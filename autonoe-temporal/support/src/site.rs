//! [`Site`]: projects in one folder, with scripted sessions on hosts that may die.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::engine::RunSpec;
use autonoe_core::ledger::Snapshot;
use autonoe_core::project::{FileDeliverableRepository, Journal};
use autonoe_core::run::RunLimits;
use autonoe_core::{DeliverableRepository, Mode, Project, RunId};
use autonoe_temporal::SessionsRun;
use serde::{Deserialize, Serialize};

use crate::log::Log;

/// The work of a run's sessions: the first one plans, and each of the others passes one
/// deliverable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work {
    /// The number of deliverables.
    pub deliverables: u32,
    /// The duration of each session.
    pub session_duration: Duration,
    /// The session that waits until it is [released](Site::release).
    pub held: Option<u32>,
    /// Processes that the agents start.
    pub starts: Starts,
    /// The project. [`Site::run`] sets it.
    pub folder: PathBuf,
}

/// Processes that an agent starts in each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Starts {
    /// The agent is not a process.
    Nothing,
    /// The agent is a process, which starts another one.
    Process,
    /// The agent's tool is a process, which starts another one and does not end.
    Tool,
}

impl Work {
    /// Creates work whose sessions take no time.
    pub fn new(deliverables: u32) -> Self {
        Self {
            deliverables,
            session_duration: Duration::ZERO,
            held: None,
            starts: Starts::Nothing,
            folder: PathBuf::new(),
        }
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> u32 {
        1 + self.deliverables
    }

    /// Returns the ID of a deliverable; the first one has the number 1.
    pub fn deliverable(&self, number: u32) -> String {
        format!("DL-{number:03}")
    }
}

/// A folder with projects, and the log of their sessions.
#[derive(Debug)]
pub struct Site {
    folder: tempfile::TempDir,
}

impl Site {
    /// Creates a folder without projects.
    pub fn create() -> Self {
        let folder = tempfile::tempdir().expect("a directory can be made");
        Self { folder }
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the log.
    pub fn log(&self) -> Log {
        log_in(self.path())
    }

    /// Creates a project, and the run of the same name. There are no pauses between sessions.
    pub fn run(&self, name: &str, work: &Work) -> RunSpec {
        let folder = self.path().join(name);
        fs::create_dir(&folder).expect("it is new");
        fs::write(folder.join("SPEC.md"), "# Shop\n").expect("writable");
        let limits = RunLimits {
            pause: Duration::ZERO,
            ..RunLimits::new(Mode::Run)
        };
        let work = Work {
            folder,
            ..work.clone()
        };
        let work = serde_json::to_value(work).expect("it is JSON");
        let run = SessionsRun::new(work, limits).to_spec(RunId::new(name));
        run.expect("it is JSON")
    }

    /// Releases the waiting session of a run.
    pub fn release(&self, run: &RunSpec) {
        fs::write(self.project_path(run).join(RELEASED), "").expect("writable");
    }

    /// Returns the project folder of a run.
    pub fn project_path(&self, run: &RunSpec) -> PathBuf {
        self.path().join(run.id.as_str())
    }

    /// Returns the project of a run.
    pub fn project(&self, run: &RunSpec) -> Project {
        Project::find(&self.project_path(run), None).expect("it is there")
    }

    /// Returns the project journal of a run.
    pub fn journal(&self, run: &RunSpec) -> Journal {
        Journal::read_all(&self.project(run)).expect("it can be read")
    }

    /// Returns the project ledger of a run.
    pub async fn ledger(&self, run: &RunSpec) -> Snapshot {
        let ledger = FileDeliverableRepository::open(&self.project(run));
        let found = ledger.expect("it can be opened").load().await;
        found.expect("it can be read").expect("it was written")
    }
}

/// The file for which a held session waits.
pub(crate) const RELEASED: &str = "released";

pub(crate) fn log_in(site: &Path) -> Log {
    Log::at(site.join("sessions.jsonl"))
}
