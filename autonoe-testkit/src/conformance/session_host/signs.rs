//! What agents of the suite show, and are shown, from whichever process they are in.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
