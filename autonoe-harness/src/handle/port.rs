//! What every handle of a sub-harness can do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::RunOutcome;

use super::HandleError;
use crate::{Alert, HarnessId, HarnessResult, HarnessStatus, HarnessView};

/// How many lines of a log are returned if no number is given.
pub const DEFAULT_LOG_LINES: usize = 100;

/// How long a kill waits for an orderly end if no time is given.
pub const DEFAULT_KILL_TIMEOUT: Duration = Duration::from_secs(30);

/// Watches and leads one sub-harness, in a process of its own or in this one.
///
/// What it tells without waiting is as of the last [`refresh`](Self::refresh).
///
/// An implementer owes:
/// - instructions in the order in which they were sent, each to one turn that counts: see
///   [`send_instruction`](Self::send_instruction);
/// - an outcome that stays, and that nothing of the sub-harness is left when it is told;
/// - a [`kill`](Self::kill) that ends everything that it has started, whatever it does about it;
/// - [`HandleError::Ended`] for an instruction or a pause that nobody will read; a stop or a kill
///   of what has ended changes nothing.
///
/// `conformance::handle` checks it, with the feature `conformance`.
#[async_trait]
pub trait HarnessHandle: Send + Sync {
    /// Returns who it is.
    fn id(&self) -> &HarnessId;

    /// Returns the directory with its state, its log and its alerts, if it has one.
    fn state_dir(&self) -> Option<&Path>;

    /// Returns where its database of tasks is, if it has a directory. A sub-harness that is no member of
    /// a fleet may have no database there.
    fn state_db(&self) -> Option<PathBuf> {
        self.state_dir().map(|folder| folder.join("state.db"))
    }

    /// Returns the directory in which its agent works, once it has reported one.
    fn working_dir(&self) -> Option<PathBuf> {
        self.view().at.working_dir
    }

    /// Returns how it stood when it was last looked at.
    fn view(&self) -> HarnessView;

    /// Returns what it does.
    fn status(&self) -> HarnessStatus {
        self.view().status
    }

    /// Returns how far it has come, from 0 to 1.
    fn progress(&self) -> f64 {
        self.view().at.progress
    }

    /// Returns what it works on.
    fn current_task(&self) -> Option<String> {
        self.view().at.task
    }

    /// Returns the number of its iteration; 0 before the first.
    fn current_iteration(&self) -> u32 {
        self.view().at.iteration
    }

    /// Returns what it came to as a member of a fleet, once it has ended.
    fn result(&self) -> Option<HarnessResult> {
        self.view().result()
    }

    /// Returns what went wrong.
    fn error(&self) -> Option<String> {
        self.view().error
    }

    /// Returns the process that serves it, while one does.
    fn pid(&self) -> Option<u32> {
        self.view().pid
    }

    /// Looks how it stands.
    ///
    /// # Errors
    ///
    /// What it keeps cannot be read.
    async fn refresh(&self) -> Result<HarnessView, HandleError>;

    /// Tells its agent something, and returns the number of the instruction.
    ///
    /// It is in the prompt of the next turn. Until such a turn is over it is told again, also by a
    /// process that comes after a kill; then never again. A turn that a kill cut off does not
    /// count: what it did is not recorded, and the turn that takes its place is told.
    ///
    /// # Errors
    ///
    /// [`HandleError::Ended`], or it cannot be written down.
    async fn send_instruction(&self, text: &str) -> Result<u64, HandleError>;

    /// Has it begin nothing more until it is resumed.
    ///
    /// # Errors
    ///
    /// [`HandleError::Ended`], or it cannot be written down.
    async fn pause(&self) -> Result<(), HandleError>;

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// [`HandleError::Ended`], or it cannot be written down.
    async fn resume(&self) -> Result<(), HandleError>;

    /// Asks it to end. That it ended is told by [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// It cannot be written down.
    async fn stop(&self, reason: &str) -> Result<(), HandleError>;

    /// Asks it to end, and after that time kills it with all that it has started.
    ///
    /// # Errors
    ///
    /// [`HandleError::Unkillable`], or its outcome cannot be read or written.
    async fn kill(&self, after: Duration) -> Result<RunOutcome, HandleError>;

    /// Asks it to end, and after [`DEFAULT_KILL_TIMEOUT`] kills it with all that it has started.
    ///
    /// # Errors
    ///
    /// [`HandleError::Unkillable`], or its outcome cannot be read or written.
    async fn force_kill(&self) -> Result<RunOutcome, HandleError> {
        self.kill(DEFAULT_KILL_TIMEOUT).await
    }

    /// Waits until it has ended.
    ///
    /// One whose process was lost has not: whoever started it decides what becomes of it.
    ///
    /// # Errors
    ///
    /// What it keeps cannot be read.
    async fn wait(&self) -> Result<RunOutcome, HandleError>;

    /// Returns the last `tail` lines of its log.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    async fn logs(&self, tail: usize) -> Result<Vec<String>, HandleError>;

    /// Returns the last [`DEFAULT_LOG_LINES`] lines of its log.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    async fn get_logs(&self) -> Result<Vec<String>, HandleError> {
        self.logs(DEFAULT_LOG_LINES).await
    }

    /// Returns its alerts.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    async fn alerts(&self) -> Result<Vec<Alert>, HandleError>;
}
