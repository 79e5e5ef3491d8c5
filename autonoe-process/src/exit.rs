//! How a process ended.

use std::fmt;
use std::io::Read;
use std::os::fd::BorrowedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// How a process ended.
///
/// ```
/// use autonoe_process::Exit;
///
/// assert!(Exit::Code(0).is_success());
/// assert_eq!(Exit::Signal(9).to_string(), "ended by signal 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It ended with this code.
    Code(i32),
    /// A signal of this number ended it.
    Signal(i32),
    /// It ended in an unknown way: its supervisor process was killed. Without a supervisor, this
    /// program ignores `SIGCHLD`, or waits for any child.
    Unknown,
}

impl Exit {
    /// Tells whether it ended with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with code {code}"),
            Self::Signal(number) => write!(f, "ended by signal {number}"),
            Self::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// Waits until the child `pid` has ended, and leaves it to be waited for again.
///
/// As long as nobody takes its status, its number is not given to another process.
pub(crate) fn wait_and_leave(pid: Pid) -> Exit {
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

static ENDINGS: Endings = Endings {
    count: Mutex::new(0),
    fewer: Condvar::new(),
};

struct Endings {
    count: Mutex<usize>,
    fewer: Condvar,
}

impl Endings {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until every process whose handle was dropped has been ended, or `limit` is
/// over, and returns how many are left.
///
/// It is for the end of `main`: ladders go on in threads of their own, and those end
/// with the program. It blocks the thread.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(autonoe_process::wait_for_shut_downs(Duration::from_secs(15)), 0);
/// ```
pub fn wait_for_shut_downs(limit: Duration) -> usize {
    let waited = ENDINGS
        .fewer
        .wait_timeout_while(ENDINGS.count(), limit, |count| *count > 0);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// One process that is being ended, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Ending(());

impl Ending {
    pub(crate) fn begin() -> Self {
        *ENDINGS.count() += 1;
        Self(())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        *ENDINGS.count() -= 1;
        ENDINGS.fewer.notify_all();
    }
}
