//! [`RequestForwarder`], which passes requests of other processes to the run of this one.

use std::collections::HashSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{OperatorRequest, PendingRequest, RequestFolder};
use crate::event::{RunEvent, RunEventKind, RunObserver};
use crate::project::{Project, RunLock, RunLockHolder};
use crate::run::{RunControl, RunMessage};
use crate::time::RunId;

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
