//! Requests to a fleet: pause, resume and stop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::run::RunRequest;
use autonoe_core::time::Clock;

use super::FleetHome;
use crate::folder::{FolderError, MemberFolder};

impl FleetHome {
    /// Requests that a fleet ends for good. The first reason is kept.
    ///
    /// The leader of the fleet stops its members. If there is none, the members are requested to
    /// stop here, and the next leader ends the fleet.
    ///
    /// # Errors
    ///
    /// A folder cannot be written.
    pub fn request_stop(&self, fleet: &str, reason: &str) -> Result<(), FolderError> {
        self.create_coordinator_folder(fleet)?
            .request_stop(reason)?;
        if self.coordinator(fleet)?.is_none() {
            for member in self.running_members(fleet)? {
                member.request_stop(reason)?;
            }
        }
        Ok(())
    }

    /// Requests that a fleet pauses: no member starts, and running members start no further turn.
    ///
    /// # Errors
    ///
    /// A folder cannot be written.
    pub fn request_pause(&self, fleet: &str) -> Result<(), FolderError> {
        self.create_coordinator_folder(fleet)?.request_pause()?;
        for member in self.running_members(fleet)? {
            member.request_pause()?;
        }
        Ok(())
    }

    /// Requests that a fleet resumes with all of its members, including those that were paused
    /// individually. Members that ask a person continue without an answer.
    ///
    /// # Errors
    ///
    /// A folder cannot be written.
    pub fn request_resume(&self, fleet: &str) -> Result<(), FolderError> {
        let folder = self.coordinator_folder(fleet)?;
        if folder.path().exists() {
            folder.request_resume()?;
        }
        for member in self.running_members(fleet)? {
            member.request_resume()?;
        }
        Ok(())
    }

    /// Returns whether a pause of the fleet is requested.
    ///
    /// # Errors
    ///
    /// The request cannot be read.
    pub fn is_pause_requested(&self, fleet: &str) -> Result<bool, FolderError> {
        self.coordinator_folder(fleet)?.is_pause_requested()
    }

    /// Returns the reason of a stop request, if there is one.
    ///
    /// # Errors
    ///
    /// The request cannot be read.
    pub fn stop_requested(&self, fleet: &str) -> Result<Option<String>, FolderError> {
        self.coordinator_folder(fleet)?.stop_requested()
    }

    /// Returns the members of a fleet that were started and have not ended.
    fn running_members(&self, fleet: &str) -> Result<Vec<MemberFolder>, FolderError> {
        let mut running_members = Vec::new();
        for member in self.member_folders(fleet)? {
            if member.outcome()?.is_none() {
                running_members.push(member);
            }
        }
        Ok(running_members)
    }
}

/// Forwards requests to a fleet to the [`RunControl`] of its coordinator.
pub(super) struct RequestForwarder {
    folder: MemberFolder,
    to: RunControl,
    by_file: bool,
    by_person: bool,
    stopped: Arc<Mutex<Option<String>>>,
}

impl RequestForwarder {
    pub(super) fn new(folder: MemberFolder, to: RunControl) -> Self {
        Self {
            folder,
            to,
            by_file: false,
            by_person: false,
            stopped: Arc::default(),
        }
    }

    /// Returns a handle to the reason of a stop request, which is set when the request arrives.
    pub(super) fn stop_reason(&self) -> Arc<Mutex<Option<String>>> {
        self.stopped.clone()
    }

    /// Reads the request files. An error is logged, and the next call retries.
    pub(super) fn poll(&mut self) {
        if let Err(error) = self.read_files() {
            tracing::warn!(%error, "cannot read the requests to a fleet");
        }
    }

    fn read_files(&mut self) -> Result<(), FolderError> {
        if let Some(reason) = self.folder.stop_requested()?
            && !self.to.is_cancelled()
        {
            *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
            self.to.cancel();
        }
        let is_requested = self.folder.is_pause_requested()?;
        self.hold(|requests| requests.by_file = is_requested);
        Ok(())
    }

    /// Forwards requests for ever.
    pub(super) async fn forward(
        mut self,
        control: &RunControl,
        clock: &dyn Clock,
        every: Duration,
    ) {
        loop {
            tokio::select! {
                biased;
                () = control.cancelled(), if !self.to.is_cancelled() => self.to.cancel(),
                request = control.next_request() => match request {
                    RunRequest::Pause => self.hold(|requests| requests.by_person = true),
                    RunRequest::Resume => self.hold(|requests| requests.by_person = false),
                    RunRequest::Instruct(message) => self.to.send_message(message),
                },
                () = clock.sleep(every) => self.poll(),
            }
        }
    }

    /// Changes the requested pauses, and pauses or resumes the fleet accordingly.
    fn hold(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.by_file || self.by_person;
        change(self);
        match (before, self.by_file || self.by_person) {
            (false, true) => self.to.pause(),
            (true, false) => self.to.resume(),
            _ => {}
        }
    }
}
