//! Handle to watch and control a member.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::RunOutcome;
use autonoe_core::event::InvalidValue;
use autonoe_core::time::{Clock, SystemClock};
use autonoe_process::KillReport;

use crate::alert::Alert;
use crate::folder::as_lower_bound;
use crate::folder::{FolderError, MemberFolder, MemberView};
use crate::strategy::MemberId;

/// Watches and controls one member through its folder, whether it runs in a process of its own or
/// in this one. Any process that can write to the folder can have a handle.
///
/// [`view`](Self::view) returns what the last [`refresh`](Self::refresh) or other call found.
pub struct MemberHandle {
    folder: MemberFolder,
    clock: Arc<dyn Clock>,
    every: Duration,
    seen: Mutex<MemberView>,
}

/// Error of controlling a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The member has ended and accepts nothing more.
    #[error("the member {0} has ended")]
    Ended(MemberId),
    /// Its folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Processes of the member are alive, although they were killed.
    #[error("cannot kill {left} processes of the member {id}")]
    Unkillable {
        /// The member.
        id: MemberId,
        /// The number of live processes.
        left: usize,
    },
}

impl HandleError {
    /// Returns a stable code of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended(_) => "ended",
            Self::Folder(error) => error.code(),
            Self::Unkillable { .. } => "unkillable",
        }
    }
}

/// Time limit for killing all processes of a member.
const KILL: Duration = Duration::from_secs(10);

impl MemberHandle {
    /// The default poll interval of the folder.
    pub const POLL_INTERVAL: Duration = Duration::from_millis(250);

    /// The usual number of log lines for [`logs`](Self::logs).
    pub const LOG_LINES: usize = 100;

    /// The usual time for [`kill`](Self::kill) to wait for an orderly end.
    pub const KILL_TIMEOUT: Duration = Duration::from_secs(30);

    /// Opens the member of a folder.
    ///
    /// # Errors
    ///
    /// There is no member, or its folder cannot be read. A member with a status that is
    /// corrupt or has another version can still be stopped and killed; [`refresh`](Self::refresh) returns the error.
    pub fn open(folder: MemberFolder) -> Result<Self, HandleError> {
        let seen = match folder.view() {
            Err(error @ (FolderError::Corrupt { .. } | FolderError::OtherVersion { .. })) => {
                folder.order()?;
                MemberView {
                    error: Some(error.to_string()),
                    ..MemberView::pending(folder.id().clone())
                }
            }
            seen => seen?,
        };
        Ok(Self {
            seen: Mutex::new(seen),
            folder,
            clock: Arc::new(SystemClock),
            every: Self::POLL_INTERVAL,
        })
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the poll interval of the folder.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Returns the ID of the member.
    pub fn id(&self) -> &MemberId {
        self.folder.id()
    }

    /// Returns its folder.
    pub fn folder(&self) -> &MemberFolder {
        &self.folder
    }

    /// Returns the state as of the last read of the folder.
    pub fn view(&self) -> MemberView {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Reads its folder.
    ///
    /// # Errors
    ///
    /// A file of it cannot be read.
    pub async fn refresh(&self) -> Result<MemberView, HandleError> {
        self.read_view()
    }

    /// Sends an instruction to its agent, and returns the number of the instruction.
    ///
    /// It becomes part of the prompt of the next turn. Until such a turn is over it is sent again,
    /// also by the next process after a kill; then never again. An interrupted turn does not count:
    /// the turn that replaces it gets the instruction.
    ///
    /// # Errors
    ///
    /// [`HandleError::Ended`], or it cannot be written.
    pub async fn send_instruction(&self, text: &str) -> Result<u64, HandleError> {
        self.not_ended()?;
        if self.folder.stop_requested()?.is_some() {
            // The member is about to end, and reads nothing more.
            return Err(HandleError::Ended(self.id().clone()));
        }
        let number = self.folder.post(text, self.clock.now())?;
        // The member may have ended in the meantime, and then nothing reads the instruction.
        match self.folder.outcome()? {
            Some(_) if self.folder.withdraw(number)? => Err(HandleError::Ended(self.id().clone())),
            _ => Ok(number),
        }
    }

    /// Requests a pause: nothing more starts until the member is resumed.
    ///
    /// # Errors
    ///
    /// [`HandleError::Ended`], or it cannot be written.
    pub async fn pause(&self) -> Result<(), HandleError> {
        self.not_ended()?;
        Ok(self.folder.request_pause()?)
    }

    /// Withdraws the pause request. A member that asks a person continues without an answer.
    ///
    /// # Errors
    ///
    /// [`HandleError::Ended`], or it cannot be written.
    pub async fn resume(&self) -> Result<(), HandleError> {
        self.not_ended()?;
        Ok(self.folder.request_resume()?)
    }

    /// Requests an orderly end; [`wait`](Self::wait) returns the outcome. Does nothing if the
    /// member has ended.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub async fn stop(&self, reason: &str) -> Result<(), HandleError> {
        // Works even if other files cannot be read.
        match self.folder.outcome() {
            Ok(Some(_)) => Ok(()),
            _ => Ok(self.folder.request_stop(reason)?),
        }
    }

    /// Requests an orderly end, and after `after` kills the member with its whole process tree.
    ///
    /// # Errors
    ///
    /// [`HandleError::Unkillable`], or its outcome cannot be read or written.
    pub async fn kill(&self, after: Duration) -> Result<RunOutcome, HandleError> {
        self.stop("killed").await?;
        tokio::select! {
            biased;
            ended = self.wait_until_ended() => ended?,
            () = self.clock.sleep(after) => {}
        }
        // Also after an orderly end: descendants may have detached.
        let swept = self.kill_tree().await?;
        if !swept.left.is_empty() {
            let (id, left) = (self.id().clone(), swept.left.len());
            return Err(HandleError::Unkillable { id, left });
        }
        let reason = self.folder.stop_requested()?;
        let reason = reason.unwrap_or_else(|| "killed".to_owned());
        let spent = match self.read_view() {
            Ok(view) => view.spending_lower_bound(),
            Err(_) => as_lower_bound(BudgetUsage::default()),
        };
        let killed = RunOutcome::cancelled(reason).with_spent(spent);
        let outcome = self.folder.record_outcome(&killed, self.clock.now())?;
        self.wait_until_released().await?;
        self.read_view()?;
        Ok(outcome)
    }

    /// Waits until the member has ended. A member whose process was lost has not ended: its
    /// supervisor decides whether to restart it.
    ///
    /// # Errors
    ///
    /// A file of it cannot be read.
    pub async fn wait(&self) -> Result<RunOutcome, HandleError> {
        loop {
            if let Some(outcome) = self.read_view()?.outcome {
                return Ok(outcome);
            }
            self.sleep_interval().await?;
        }
    }

    /// Returns the last `tail` lines of its log.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub async fn logs(&self, tail: usize) -> Result<Vec<String>, HandleError> {
        Ok(self.folder.log(tail)?)
    }

    /// Returns its alerts.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub async fn alerts(&self) -> Result<Vec<Alert>, HandleError> {
        Ok(self.folder.alerts()?)
    }

    fn read_view(&self) -> Result<MemberView, HandleError> {
        let view = self.folder.view()?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = view.clone();
        Ok(view)
    }

    fn not_ended(&self) -> Result<(), HandleError> {
        match self.read_view()?.outcome {
            Some(_) => Err(HandleError::Ended(self.id().clone())),
            None => Ok(()),
        }
    }

    async fn sleep_interval(&self) -> Result<(), HandleError> {
        InvalidValue::check_time("every(0)", self.every).map_err(FolderError::from)?;
        self.clock.sleep(self.every).await;
        Ok(())
    }

    /// Waits until nothing serves the member and it has ended, or was lost.
    async fn wait_until_ended(&self) -> Result<(), HandleError> {
        loop {
            let is_over = || -> Result<bool, HandleError> {
                let has_ended = self.folder.outcome()?.is_some();
                Ok(has_ended || self.read_view().is_ok_and(|view| view.is_lost))
            };
            if !self.folder.is_served()? && is_over()? {
                return Ok(());
            }
            self.sleep_interval().await?;
        }
    }

    /// Waits until a task of this process has released the folder: it cannot be killed from
    /// outside.
    async fn wait_until_released(&self) -> Result<(), HandleError> {
        let releasing = async {
            while self.folder.is_served()? {
                self.sleep_interval().await?;
            }
            Ok(())
        };
        tokio::select! {
            biased;
            released = releasing => released,
            () = self.clock.sleep(KILL) => {
                let (id, left) = (self.id().clone(), 1);
                Err(HandleError::Unkillable { id, left })
            }
        }
    }

    async fn kill_tree(&self) -> Result<KillReport, HandleError> {
        let marker = self.folder.marker()?;
        // Works without a readable status: the marker finds the processes.
        let process = self.folder.state().ok().flatten();
        let process = process.and_then(|state| state.process);
        let kill = move || match process {
            Some(process) => process.identity().kill_tree(&marker, KILL),
            None => marker.kill_all(KILL),
        };
        Ok(tokio::task::spawn_blocking(kill).await.unwrap_or_default())
    }
}

impl fmt::Debug for MemberHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberHandle")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
