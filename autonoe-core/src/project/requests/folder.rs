//! [`RequestFolder`], the folder of requests to the run of a project.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::project::safe_read::{ReadError, read_file};
use crate::project::{
    FileKind, Project, RunLockHolder, create_file_durably, create_private_folder,
};
use crate::time::RunId;

/// The maximum size of a request, in bytes.
const LARGEST: u64 = 128 * 1024;

/// The maximum number of pending requests.
const MAX_PENDING: usize = 1000;

/// A request of an operator to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
#[non_exhaustive]
pub enum OperatorRequest {
    /// Pause before the next session.
    Pause,
    /// Resume after a pause.
    Resume,
    /// Cancel the run, as Ctrl-C does.
    Stop,
    /// Send a message to the agent.
    Instruct {
        /// The text of the message.
        text: String,
    },
}

/// A request that was not settled yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingRequest {
    /// Its ID, which is the name of its file. IDs sort by the time of the request.
    #[serde(skip)]
    pub id: String,
    /// The process that runs the agents.
    pub to: RunLockHolder,
    /// The run.
    pub run: RunId,
    /// The request.
    #[serde(flatten)]
    pub request: OperatorRequest,
}

/// The folder of requests to the run of a project: `.autonoe/requests`.
///
/// A [`RequestForwarder`](super::RequestForwarder) in the process of the run reads it. Agents
/// cannot write it, as everything in `.autonoe`.
///
/// ```
/// use autonoe_core::project::{OperatorRequest, RequestFolder, RunLock};
/// use autonoe_core::{Project, RunId};
/// use jiff::Timestamp;
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let _lock = RunLock::acquire(&project, Timestamp::now())?;
/// let holder = RunLock::held(&project)?.and_then(|held| held.holder).expect("the lock is held");
///
/// let folder = RequestFolder::new(&project);
/// folder.send(&holder, &RunId::new("shop"), OperatorRequest::Pause, Timestamp::now())?;
///
/// assert_eq!(folder.pending()?[0].request, OperatorRequest::Pause);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestFolder {
    dir: PathBuf,
}

impl RequestFolder {
    /// Returns the folder of `project`, whether or not it exists.
    pub fn new(project: &Project) -> Self {
        Self {
            dir: project.requests_dir(),
        }
    }

    /// Sends `request` to the run `run` of the process `to`, and returns its ID.
    ///
    /// A pause, a resume or a stop reaches only that process. A message belongs to the run: if the
    /// process ends before the agent receives it, the process that resumes the run delivers it.
    ///
    /// # Errors
    ///
    /// The request is too large, too many requests are pending, or the file cannot be written.
    pub fn send(
        &self,
        to: &RunLockHolder,
        run: &RunId,
        request: OperatorRequest,
        at: Timestamp,
    ) -> io::Result<String> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let id = format!("{:020}-{process}-{count:06}", at.as_nanosecond().max(0));
        let file = PendingRequest {
            id: id.clone(),
            to: to.clone(),
            run: run.clone(),
            request,
        };
        let bytes = serde_json::to_vec(&file)?;
        if bytes.len() as u64 > LARGEST {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the request is larger than {LARGEST} bytes"),
            ));
        }
        create_private_folder(&self.dir)?;
        if self.ids()?.len() >= MAX_PENDING {
            return Err(io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!("{MAX_PENDING} requests are pending"),
            ));
        }
        create_file_durably(&self.path(&id), &bytes)?;
        Ok(id)
    }

    /// Returns the pending requests, the oldest first. Files that are no requests are left out.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn pending(&self) -> io::Result<Vec<PendingRequest>> {
        let ids = self.ids()?;
        Ok(ids.into_iter().filter_map(|id| self.read(id)).collect())
    }

    /// Deletes a request that is settled.
    ///
    /// # Errors
    ///
    /// The file cannot be deleted. A missing file is no error.
    pub(super) fn settle(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the IDs of the files in the folder, sorted.
    fn ids(&self) -> io::Result<Vec<String>> {
        // A symlink could lead to a folder that other users can write.
        match fs::symlink_metadata(&self.dir) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            ids.extend(id.filter(|id| !id.starts_with('.')).map(str::to_owned));
        }
        ids.sort_unstable();
        ids.truncate(MAX_PENDING);
        Ok(ids)
    }

    fn read(&self, id: String) -> Option<PendingRequest> {
        let path = self.path(&id);
        let found = fs::symlink_metadata(&path).ok()?;
        let bytes = if found.is_file() {
            read_file(&path, LARGEST)
        } else {
            Err(ReadError::NotAFile(FileKind::from_file_type(
                found.file_type(),
            )))
        };
        // It may just have been settled.
        let read: Option<PendingRequest> = match bytes {
            Ok(bytes) => serde_json::from_slice(&bytes?).ok(),
            Err(_) => None,
        };
        if read.is_none() {
            tracing::debug!(path = %path.display(), "a file in the folder of requests is ignored");
        }
        read.map(|request| PendingRequest { id, ..request })
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.json"))
    }
}
