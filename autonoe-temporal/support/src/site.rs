//! Projects in one folder, whose sessions are played on hosts that may die.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{
    DeliverableRepository, FileDeliverableRepository, Journal, Mode, Project, RunId, RunLimits,
    RunSpec, Snapshot,
};
use autonoe_temporal::SessionsRun;
use serde::{Deserialize, Serialize};

use crate::log::Log;

/// What the sessions of a run do: the first plans, and each of the others has one deliverable pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work {
    /// How many deliverables there are.
    pub deliverables: u32,
    /// How long each session takes.
    pub pace: Duration,
    /// The session that goes on only when it is [released](Site::release).
    pub held: Option<u32>,
    /// What its agents start.
    pub starts: Starts,
    /// The project, which the [site](Site::run) knows.
    pub folder: PathBuf,
}

/// What an agent starts in each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Starts {
    /// It is no program.
    Nothing,
    /// It is a program, which starts another one.
    Process,
    /// Its tool is a program, which starts another one and does not end.
    Tool,
}

impl Work {
    /// Makes work that takes no time.
    pub fn new(deliverables: u32) -> Self {
        Self {
            deliverables,
            pace: Duration::ZERO,
            held: None,
            starts: Starts::Nothing,
            folder: PathBuf::new(),
        }
    }

    /// Returns how many sessions it takes.
    pub fn sessions(&self) -> u32 {
        1 + self.deliverables
    }

    /// Returns the name of a deliverable; the first has the number 1.
    pub fn deliverable(&self, number: u32) -> String {
        format!("DL-{number:03}")
    }
}

/// A folder with projects, and with the log of what was done in them.
#[derive(Debug)]
pub struct Site {
    folder: tempfile::TempDir,
}

impl Site {
    /// Makes a folder without projects.
    pub fn make() -> Self {
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

    /// Makes a project, and the run of its name that does the work. Nobody waits between sessions.
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
        let run = SessionsRun::new(work, limits).named(RunId::new(name));
        run.expect("it is JSON")
    }

    /// Lets the session of a run go on that is held.
    pub fn release(&self, run: &RunSpec) {
        fs::write(self.project_path(run).join(RELEASED), "").expect("writable");
    }

    /// Returns the folder of the project of a run.
    pub fn project_path(&self, run: &RunSpec) -> PathBuf {
        self.path().join(run.id.as_str())
    }

    /// Returns the project of a run.
    pub fn project(&self, run: &RunSpec) -> Project {
        Project::find(&self.project_path(run), None).expect("it is there")
    }

    /// Returns the journal of the project of a run.
    pub fn journal(&self, run: &RunSpec) -> Journal {
        Journal::read_all(&self.project(run)).expect("it can be read")
    }

    /// Returns the ledger of the project of a run.
    pub async fn ledger(&self, run: &RunSpec) -> Snapshot {
        let ledger = FileDeliverableRepository::open(&self.project(run));
        let found = ledger.expect("it can be opened").load().await;
        found.expect("it can be read").expect("it was written")
    }
}

/// The file for which a session waits that is held.
pub(crate) const RELEASED: &str = "released";

pub(crate) fn log_in(site: &Path) -> Log {
    Log::at(site.join("sessions.jsonl"))
}
