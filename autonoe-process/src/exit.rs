//! [`Exit`] of a process, and the shutdowns that are still running.

use std::fmt;
use std::io::Read;
use std::os::fd::BorrowedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Exit status of a process.
///
/// ```
/// use autonoe_process::Exit;
///
/// assert!(Exit::Code(0).is_success());
/// assert_eq!(Exit::Signal(9).to_string(), "was killed by signal 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// A signal with this number ended it.
    Signal(i32),
    /// The exit status is unknown: the supervisor process was killed. Without a supervisor, this
    /// program ignores `SIGCHLD`, or waits for any child.
    Unknown,
}

impl Exit {
    /// Returns whether it exited with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(number) => write!(f, "was killed by signal {number}"),
            Self::Unknown => f.write_str("ended without an exit code or a signal"),
        }
    }
}

/// Waits until the child `pid` has ended, without reaping it.
///
/// Until the child is reaped, the system does not reuse its process ID.
pub(crate) fn wait_without_reaping(pid: Pid) -> Exit {
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(Some(status)) => {
                let code = status.exit_status().map(Exit::Code);
                let signal = status.terminating_signal().map(Exit::Signal);
                return code.or(signal).unwrap_or(Exit::Unknown);
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Exit::Unknown,
        }
    }
}

/// Writes `exit` to `pipe`, for [`recv`]. It does not allocate.
pub(crate) fn report(pipe: BorrowedFd<'_>, exit: Exit) {
    match exit {
        Exit::Code(code) => send(pipe, code),
        Exit::Signal(number) => send(pipe, -number),
        // The closed pipe reports it.
        Exit::Unknown => {}
    }
}

/// Reads the exit that [`report`] wrote. If the pipe is closed without one, the exit is unknown.
pub(crate) fn recv(pipe: impl Read) -> Exit {
    match recv_number(pipe) {
        Ok(code @ 0..) => Exit::Code(code),
        Ok(number) => Exit::Signal(-number),
        Err(_) => Exit::Unknown,
    }
}

/// Writes a number to `pipe`, for [`recv_number`]. It does not allocate.
pub(crate) fn send(pipe: BorrowedFd<'_>, number: i32) {
    // Without a reader, the number is not needed.
    let _ = rustix::io::write(pipe, &number.to_ne_bytes());
}

/// Reads a number that [`send`] wrote.
pub(crate) fn recv_number(mut pipe: impl Read) -> std::io::Result<i32> {
    let mut bytes = [0; size_of::<i32>()];
    pipe.read_exact(&mut bytes)?;
    Ok(i32::from_ne_bytes(bytes))
}

static PENDING_SHUTDOWNS: PendingShutdowns = PendingShutdowns {
    count: Mutex::new(0),
    decreased: Condvar::new(),
};

struct PendingShutdowns {
    count: Mutex<usize>,
    decreased: Condvar,
}

impl PendingShutdowns {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until every process whose handle was dropped has ended, or until `limit` has passed.
/// Returns the number of processes that are still being shut down.
///
/// Call it at the end of `main`: shutdowns run in threads of their own, which end with the program.
/// It blocks the thread.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(autonoe_process::wait_for_shutdowns(Duration::from_secs(15)), 0);
/// ```
pub fn wait_for_shutdowns(limit: Duration) -> usize {
    let waited =
        PENDING_SHUTDOWNS
            .decreased
            .wait_timeout_while(PENDING_SHUTDOWNS.count(), limit, |count| *count > 0);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Counts one process as being shut down, until this is dropped.
#[derive(Debug)]
pub(crate) struct PendingShutdown(());

impl PendingShutdown {
    pub(crate) fn start() -> Self {
        *PENDING_SHUTDOWNS.count() += 1;
        Self(())
    }
}

impl Drop for PendingShutdown {
    fn drop(&mut self) {
        *PENDING_SHUTDOWNS.count() -= 1;
        PENDING_SHUTDOWNS.decreased.notify_all();
    }
}
