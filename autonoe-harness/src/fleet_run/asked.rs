//! What a fleet is asked for while it is led: by files, and by who runs it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::{Clock, RunControl, RunRequest};

use crate::{FolderError, HarnessFolder};

/// Hands on what a fleet is asked for to who leads its members.
pub(super) struct Asked {
    desk: HarnessFolder,
    to: RunControl,
    by_file: bool,
    by_person: bool,
    stopped: Arc<Mutex<Option<String>>>,
}

impl Asked {
    pub(super) fn new(desk: HarnessFolder, to: RunControl) -> Self {
        Self {
            desk,
            to,
            by_file: false,
            by_person: false,
            stopped: Arc::default(),
        }
    }

    /// Returns where it is told why the fleet was asked to end.
    pub(super) fn stopped(&self) -> Arc<Mutex<Option<String>>> {
        self.stopped.clone()
    }

    /// Looks what is asked for by files, and tries again at the next look what could not be seen.
    pub(super) fn look(&mut self) {
        if let Err(error) = self.look_at_files() {
            tracing::warn!(%error, "what a fleet is asked for cannot be looked at");
        }
    }

    fn look_at_files(&mut self) -> Result<(), FolderError> {
        if let Some(reason) = self.desk.stop_requested()?
            && !self.to.is_cancelled()
        {
            *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
            self.to.cancel();
        }
        let wanted = self.desk.is_pause_requested()?;
        self.hold(|asked| asked.by_file = wanted);
        Ok(())
    }

    /// Hands on what is asked for, for ever.
    pub(super) async fn listen(mut self, control: &RunControl, clock: &dyn Clock, every: Duration) {
        loop {
            tokio::select! {
                biased;
                () = control.cancelled(), if !self.to.is_cancelled() => self.to.cancel(),
                request = control.next_request() => match request {
                    RunRequest::Pause => self.hold(|asked| asked.by_person = true),
                    RunRequest::Resume => self.hold(|asked| asked.by_person = false),
                    RunRequest::Say(message) => self.to.tell(message),
                },
                () = clock.sleep(every) => self.look(),
            }
        }
    }

    /// Changes who wants the fleet to be held, and hands on what follows from that.
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
