//! A sub-harness in a process of its own, reached by its folder.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Clock, InvalidValue, RunOutcome, Spent, SystemClock};
use autonoe_process::Sweep;

use super::{HandleError, HarnessHandle};
use crate::folder::at_least;
use crate::{Alert, FolderError, HarnessFolder, HarnessId, HarnessView};

/// A sub-harness in a process of its own, reached by its folder.
///
/// Whoever can write to the folder can have one; who started the process does not matter.
pub struct ProcessHandle {
    folder: HarnessFolder,
    clock: Arc<dyn Clock>,
    every: Duration,
    seen: Mutex<HarnessView>,
}

/// How long it is tried at most to kill everything.
const KILL: Duration = Duration::from_secs(10);

impl ProcessHandle {
    /// How often it is looked whether something has happened, if nothing else is said.
    pub const EVERY: Duration = Duration::from_millis(250);

    /// Looks at the sub-harness of a folder.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read. One whose status is corrupt can be stopped and killed
    /// all the same; what is wrong with it is told by [`refresh`](HarnessHandle::refresh).
    pub fn open(folder: HarnessFolder) -> Result<Self, HandleError> {
        let seen = match folder.view() {
            Err(error @ FolderError::Corrupt { .. }) => {
                folder.order()?;
                HarnessView {
                    error: Some(error.to_string()),
                    ..HarnessView::pending(folder.id().clone())
                }
            }
            seen => seen?,
        };
        Ok(Self {
            seen: Mutex::new(seen),
            folder,
            clock: Arc::new(SystemClock),
            every: Self::EVERY,
        })
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets how often it is looked whether something has happened.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Returns its folder.
    pub fn folder(&self) -> &HarnessFolder {
        &self.folder
    }

    fn look(&self) -> Result<HarnessView, HandleError> {
        let view = self.folder.view()?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = view.clone();
        Ok(view)
    }

    fn not_ended(&self) -> Result<(), HandleError> {
        match self.look()?.outcome {
            Some(_) => Err(HandleError::Ended(self.id().clone())),
            None => Ok(()),
        }
    }

    /// Waits as long as [`every`](Self::every) says.
    async fn until_next_look(&self) -> Result<(), HandleError> {
        InvalidValue::check_time("every(0)", self.every).map_err(FolderError::from)?;
        self.clock.sleep(self.every).await;
        Ok(())
    }

    /// Waits until nobody serves it and it has ended, or was lost.
    async fn gone(&self) -> Result<(), HandleError> {
        loop {
            let is_over = || -> Result<bool, HandleError> {
                let has_ended = self.folder.outcome()?.is_some();
                Ok(has_ended || self.look().is_ok_and(|view| view.is_lost))
            };
            if !self.folder.is_served()? && is_over()? {
                return Ok(());
            }
            self.until_next_look().await?;
        }
    }

    /// Waits until a task of this process has let go of it: that cannot be killed from outside.
    async fn let_go(&self) -> Result<(), HandleError> {
        let letting_go = async {
            while self.folder.is_served()? {
                self.until_next_look().await?;
            }
            Ok(())
        };
        tokio::select! {
            biased;
            gone = letting_go => gone,
            () = self.clock.sleep(KILL) => {
                let (id, left) = (self.id().clone(), 1);
                Err(HandleError::Unkillable { id, left })
            }
        }
    }

    async fn kill_tree(&self) -> Result<Sweep, HandleError> {
        let marker = self.folder.marker()?;
        // Also without a status that can be read: the marker finds them.
        let process = self.folder.state().ok().flatten();
        let process = process.and_then(|state| state.process);
        let kill = move || match process {
            Some(process) => process.identity().kill_tree(&marker, KILL),
            None => marker.kill_all(KILL),
        };
        Ok(tokio::task::spawn_blocking(kill).await.unwrap_or_default())
    }
}

#[async_trait]
impl HarnessHandle for ProcessHandle {
    fn id(&self) -> &HarnessId {
        self.folder.id()
    }

    fn state_dir(&self) -> Option<&Path> {
        Some(self.folder.path())
    }

    fn view(&self) -> HarnessView {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn refresh(&self) -> Result<HarnessView, HandleError> {
        self.look()
    }

    async fn send_instruction(&self, text: &str) -> Result<u64, HandleError> {
        self.not_ended()?;
        if self.folder.stop_requested()?.is_some() {
            // It is told to end, and reads nothing more.
            return Err(HandleError::Ended(self.id().clone()));
        }
        let number = self.folder.post(text, self.clock.now())?;
        // It may have ended meanwhile, and then nobody reads it any more.
        match self.folder.outcome()? {
            Some(_) if self.folder.withdraw(number)? => Err(HandleError::Ended(self.id().clone())),
            _ => Ok(number),
        }
    }

    async fn pause(&self) -> Result<(), HandleError> {
        self.not_ended()?;
        Ok(self.folder.request_pause()?)
    }

    async fn resume(&self) -> Result<(), HandleError> {
        self.not_ended()?;
        Ok(self.folder.request_resume()?)
    }

    async fn stop(&self, reason: &str) -> Result<(), HandleError> {
        // Whatever else of it cannot be read: that it is to end can be said.
        match self.folder.outcome() {
            Ok(Some(_)) => Ok(()),
            _ => Ok(self.folder.request_stop(reason)?),
        }
    }

    async fn kill(&self, after: Duration) -> Result<RunOutcome, HandleError> {
        self.stop("killed").await?;
        tokio::select! {
            biased;
            gone = self.gone() => gone?,
            () = self.clock.sleep(after) => {}
        }
        // Also after an orderly end: what it started may have left it.
        let swept = self.kill_tree().await?;
        if !swept.left.is_empty() {
            let (id, left) = (self.id().clone(), swept.left.len());
            return Err(HandleError::Unkillable { id, left });
        }
        let reason = self.folder.stop_requested()?;
        let reason = reason.unwrap_or_else(|| "killed".to_owned());
        let spent = match self.look() {
            Ok(view) => view.spent_and_more(),
            Err(_) => at_least(Spent::default()),
        };
        let killed = RunOutcome::cancelled(reason).with_spent(spent);
        let outcome = self.folder.settle(&killed)?;
        self.let_go().await?;
        self.look()?;
        Ok(outcome)
    }

    async fn wait(&self) -> Result<RunOutcome, HandleError> {
        loop {
            if let Some(outcome) = self.look()?.outcome {
                return Ok(outcome);
            }
            self.until_next_look().await?;
        }
    }

    async fn logs(&self, tail: usize) -> Result<Vec<String>, HandleError> {
        Ok(self.folder.log(tail)?)
    }

    async fn alerts(&self) -> Result<Vec<Alert>, HandleError> {
        Ok(self.folder.alerts()?)
    }
}

impl fmt::Debug for ProcessHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessHandle")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
