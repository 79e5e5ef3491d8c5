//! Requests of operators to a run in another process, as files in `.autonoe/requests`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{RunEvent, RunEventKind, RunObserver};
use crate::project::safe_read::{ReadError, read_file};
use crate::project::{
    FileKind, Project, RunLock, RunLockHolder, create_file_durably, create_private_folder,
};
use crate::run::{RunControl, RunMessage};
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
/// A [`RequestForwarder`](RequestForwarder) in the process of the run reads it. Agents
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
    fn settle(&self, id: &str) -> io::Result<()> {
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

/// Passes the requests in the [`RequestFolder`] of a project to the run of this process.
///
/// It must observe the run, whose ID and pauses it learns that way. Requests to earlier processes
/// are deleted, so a late stop does not end a later run. A run that was paused when its process
/// ended does not stay paused in a new process: starting the command again resumes it.
///
/// A message is deleted when the run has received it. If the process is killed at that moment, the
/// next one delivers the message again.
#[derive(Debug)]
pub struct RequestForwarder {
    project: Project,
    folder: RequestFolder,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    run: Option<RunId>,
    is_paused: bool,
    /// A pause was requested from this process, and not cancelled by a resume.
    wants_pause: bool,
    forwarded: HashSet<String>,
}

impl RequestForwarder {
    /// Creates the forwarder of the run of `project` in this process.
    pub fn new(project: &Project) -> Self {
        Self {
            project: project.clone(),
            folder: RequestFolder::new(project),
            state: Mutex::default(),
        }
    }

    /// Forwards requests to `control` every `interval`, until the future is dropped.
    pub async fn forward(&self, control: &RunControl, interval: Duration) {
        let mut is_readable = true;
        loop {
            let forwarded = self.forward_pending(control);
            if let (Err(error), true) = (&forwarded, is_readable) {
                tracing::warn!(%error, "requests to this run cannot be read");
            }
            is_readable = forwarded.is_ok();
            tokio::time::sleep(interval).await;
        }
    }

    /// Forwards the requests that are pending now.
    ///
    /// # Errors
    ///
    /// The folder of requests or the lock of the run cannot be read.
    pub fn forward_pending(&self, control: &RunControl) -> io::Result<()> {
        let mut state = self.state();
        if state.is_paused && !state.wants_pause {
            control.resume();
            state.is_paused = false;
        }
        let Some(run) = state.run.clone() else {
            return Ok(());
        };
        let pending = self.folder.pending()?;
        if pending.is_empty() {
            return Ok(());
        }
        let Some(own) = self.own_lock()? else {
            return Ok(());
        };
        for request in pending {
            self.forward_one(&mut state, &run, &own, request, control)?;
        }
        Ok(())
    }

    fn forward_one(
        &self,
        state: &mut State,
        run: &RunId,
        own: &RunLockHolder,
        pending: PendingRequest,
        control: &RunControl,
    ) -> io::Result<()> {
        let PendingRequest {
            id,
            to,
            run: addressed,
            request,
        } = pending;
        if let OperatorRequest::Instruct { text } = request {
            if addressed != *run {
                tracing::warn!(run = %addressed, "a message to an earlier run is deleted");
                return self.folder.settle(&id);
            }
            if state.forwarded.insert(id.clone()) {
                let folder = self.folder.clone();
                let settle = id.clone();
                let message = RunMessage::new(text).with_id(id).with_receipt(move || {
                    if let Err(error) = folder.settle(&settle) {
                        tracing::warn!(%error, "a delivered message cannot be deleted");
                    }
                });
                control.send_message(message);
            }
            return Ok(());
        }
        if to != *own {
            return self.folder.settle(&id);
        }
        match request {
            OperatorRequest::Pause => {
                if state.forwarded.insert(id.clone()) {
                    state.wants_pause = true;
                    control.pause();
                }
                // The file stays until the run has paused, so that others can see the request.
                if state.is_paused || !state.wants_pause {
                    self.folder.settle(&id)?;
                }
                return Ok(());
            }
            OperatorRequest::Resume => {
                state.wants_pause = false;
                control.resume();
                self.settle_pauses()?;
            }
            OperatorRequest::Stop => control.cancel(),
            OperatorRequest::Instruct { .. } => {}
        }
        self.folder.settle(&id)
    }

    /// Deletes the pauses that a resume has cancelled.
    fn settle_pauses(&self) -> io::Result<()> {
        let pauses = self.folder.pending()?.into_iter();
        for pause in pauses.take_while(|next| next.request != OperatorRequest::Resume) {
            if pause.request == OperatorRequest::Pause {
                self.folder.settle(&pause.id)?;
            }
        }
        Ok(())
    }

    /// Returns the record of this process in the run lock, if it holds the lock.
    fn own_lock(&self) -> io::Result<Option<RunLockHolder>> {
        let held = RunLock::held(&self.project).map_err(io::Error::other)?;
        let holder = held.and_then(|held| held.holder);
        Ok(holder.filter(|holder| holder.pid == std::process::id()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunObserver for RequestForwarder {
    fn on_event(&self, event: &RunEvent<'_>) {
        match event.kind {
            RunEventKind::RunStarted { run, .. } | RunEventKind::FlowStarted { run, .. } => {
                self.state().run = Some(run.clone());
            }
            RunEventKind::Paused => self.state().is_paused = true,
            RunEventKind::Resumed => {
                let mut state = self.state();
                state.is_paused = false;
                state.wants_pause = false;
            }
            RunEventKind::RunEnded { .. } | RunEventKind::FlowEnded { .. } => {
                self.state().run = None;
            }
            _ => {}
        }
    }
}
