//! How a sub-harness stands, as it writes it down itself.

use autonoe_core::{Epoch, RunEnding, RunOutcome, RunProgress};
use autonoe_process::ProcessIdentity;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::{read_json, replace_json};
use super::{FolderError, HarnessFolder};
use crate::HarnessId;

/// What a sub-harness does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HarnessStatus {
    /// It has not begun, or its process was told to leave it for later.
    Pending,
    /// It works.
    Running,
    /// It is held until it is resumed.
    Paused,
    /// Its work is done.
    Completed,
    /// Its work is not done, or its process was lost.
    Failed,
    /// It was ended from outside.
    Stopped,
}

impl HarnessStatus {
    /// Tells whether it is over.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Stopped)
    }
}

/// Says what an outcome means for the status.
pub(crate) fn status_of(outcome: &RunOutcome) -> HarnessStatus {
    match outcome.ending {
        RunEnding::Succeeded => HarnessStatus::Completed,
        RunEnding::Failed { .. } => HarnessStatus::Failed,
        RunEnding::Cancelled { .. } => HarnessStatus::Stopped,
    }
}

/// How a sub-harness stands, as its process has written it down in `status.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HarnessState {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// Who it is.
    pub id: HarnessId,
    /// What it does.
    pub status: HarnessStatus,
    /// How far it is.
    #[serde(flatten)]
    pub at: RunProgress,
    /// How many processes have served it, the one that wrote this included.
    pub epoch: Epoch,
    /// The process that serves it; `None` once that has let go in an orderly way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ServingProcess>,
    /// When this was written.
    pub updated_at: Timestamp,
}

/// A process that serves a sub-harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServingProcess {
    /// Its number.
    pub pid: u32,
    /// When it was started: tells it from a later one with the same number.
    pub started: String,
}

/// The version of the format.
const VERSION: u32 = 1;

impl HarnessState {
    pub(crate) fn new(id: HarnessId, epoch: Epoch, now: Timestamp) -> Self {
        Self {
            version: VERSION,
            id,
            status: HarnessStatus::Running,
            at: RunProgress::default(),
            epoch,
            process: ServingProcess::own(),
            updated_at: now,
        }
    }
}

impl ServingProcess {
    pub(crate) fn own() -> Option<Self> {
        ProcessIdentity::own().map(|own| Self {
            pid: own.pid(),
            started: own.started().to_owned(),
        })
    }

    /// Returns the process for who wants to know whether it lives.
    pub fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::new(self.pid, self.started.clone())
    }
}

impl HarnessFolder {
    /// Returns how the sub-harness stood when it last wrote it down; `None` before it was served.
    ///
    /// # Errors
    ///
    /// It cannot be read or understood, or was written by a newer version.
    pub fn state(&self) -> Result<Option<HarnessState>, FolderError> {
        let path = self.file("status.json");
        let state: Option<HarnessState> = read_json(&path)?;
        match state {
            Some(state) if state.version != VERSION => {
                let what = format!("it has version {}, and not {VERSION}", state.version);
                Err(FolderError::corrupt(&path, what))
            }
            Some(state) if state.id != *self.id() => {
                let what = format!("it is about {}", state.id);
                Err(FolderError::corrupt(&path, what))
            }
            state => Ok(state),
        }
    }

    pub(crate) fn write_state(&self, state: &HarnessState) -> Result<(), FolderError> {
        replace_json(&self.file("status.json"), state)
    }
}
