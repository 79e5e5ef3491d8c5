//! A sub-harness in a process of its own, reached by its folder.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Clock, RunOutcome, SystemClock};
use autonoe_process::Sweep;

use super::{HandleError, HarnessHandle};
use crate::{Alert, HarnessFolder, HarnessId, HarnessView};

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
    /// There is none, or it cannot be read.
    pub fn open(folder: HarnessFolder) -> Result<Self, HandleError> {
        Ok(Self {
            seen: Mutex::new(folder.view()?),
            folder,
            clock: Arc::new(SystemClock),
            every: Self::EVERY,
        })
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
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

    /// Waits until no process serves it, or it has ended without one.
    async fn gone(&self) -> Result<(), HandleError> {
        loop {
            let process = self.folder.state()?.and_then(|state| state.process);
            let lives = process.is_some_and(|process| process.identity().lives());
            if !lives && (self.folder.outcome()?.is_some() || self.look()?.is_lost) {
                return Ok(());
            }
            self.clock.sleep(self.every).await;
        }
    }

    async fn kill_tree(&self) -> Result<Sweep, HandleError> {
        let marker = self.folder.marker()?;
        let process = self.folder.state()?.and_then(|state| state.process);
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

    fn working_dir(&self) -> Option<&Path> {
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
        if self.look()?.outcome.is_none() {
            self.folder.request_stop(reason)?;
        }
        Ok(())
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
        let spent = self.look()?.spent_and_more();
        let killed = RunOutcome::cancelled(reason).with_spent(spent);
        let outcome = self.folder.settle(&killed)?;
        self.look()?;
        Ok(outcome)
    }

    async fn wait(&self) -> Result<RunOutcome, HandleError> {
        loop {
            if let Some(outcome) = self.look()?.outcome {
                return Ok(outcome);
            }
            self.clock.sleep(self.every).await;
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
