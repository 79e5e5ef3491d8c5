//! [`Process`], the handle of a child process.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::Pid;

use crate::keeper::{Lifeline, Shared};
use crate::process_tree::ProcessTree;
use crate::{EndedBy, Exit, Marker, ProcessInfo, ShutdownPolicy, ShutdownReport, Signal};

/// A child process, created by [`Launch::start`](crate::Launch::start).
///
/// End it with `shut_down`. If it is dropped instead, also in a panic or after
/// the runtime has ended, a thread of its own shuts the process down with the ladder of the launch;
/// see `wait_for_shutdowns`.
///
/// Until then the system does not reuse the process ID of the child, even after its exit: no signal
/// reaches another process by mistake.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    marker: Marker,
    shared: Arc<Shared>,
    lifeline: Lifeline,
}

impl Process {
    pub(crate) fn new(pid: Pid, marker: Marker, shared: Arc<Shared>, lifeline: Lifeline) -> Self {
        Self {
            pid,
            marker,
            shared,
            lifeline,
        }
    }

    /// Returns the process ID, which is also the ID of its group and session.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Returns the marker of the process and of everything that it starts.
    pub fn marker(&self) -> &Marker {
        &self.marker
    }

    /// Returns the exit of the process, or `None` if it is alive.
    pub fn try_exit(&self) -> Option<Exit> {
        *self.shared.exit.borrow()
    }

    /// Waits until the process has ended.
    ///
    /// By then its standard error was read to the end. Its tools may still be alive.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut exit = self.shared.exit.subscribe();
        async move {
            let ended = exit.wait_for(Option::is_some).await;
            ended.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
    }

    /// Returns the end of the standard error that the process wrote so far.
    ///
    /// Standard error is read continuously; the last 64 KiB are kept, unless
    /// [`Launch::stderr_limit`](crate::Launch::stderr_limit) sets another limit.
    pub fn stderr_tail(&self) -> String {
        self.shared.stderr().text()
    }

    /// Sends `signal` to the process only, not to its descendants.
    ///
    /// # Errors
    ///
    /// The process has ended, or runs as another user now.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.try_exit().is_some() {
            return Err(Errno::SRCH.into());
        }
        let family = ProcessTree::new(self.pid, self.marker.clone());
        Ok(family.signal(self.shared.signal_target, signal.to_system())?)
    }

    /// Returns the living descendants of the process.
    ///
    /// As long as the process is alive, the list is complete: it includes processes that have
    /// created their own session or lost their parent. Only on Linux; on other systems it finds
    /// nothing.
    pub fn descendants(&self) -> Vec<ProcessInfo> {
        ProcessTree::new(self.pid, self.marker.clone()).descendants()
    }

    /// Returns the living processes with the marker, except this one and its child.
    ///
    /// Only on Linux; on other systems it finds nothing.
    pub fn leftovers(&self) -> Vec<ProcessInfo> {
        ProcessTree::new(self.pid, self.marker.clone()).marked_processes()
    }

    /// Ends the process by the steps of `ladder`, and kills the remaining processes.
    ///
    /// The shutdown continues if the future is dropped.
    pub async fn shutdown(self, ladder: ShutdownPolicy) -> ShutdownReport {
        let report = self.lifeline.end(ladder).await;
        // Only a bug ends the keeper without a report, and that is not a success.
        report.unwrap_or_else(|_| ShutdownReport {
            exit: None,
            ended_by: EndedBy::Nothing,
            killed: Vec::new(),
            left: self.marker.processes(),
            stderr_tail: self.shared.stderr().text(),
        })
    }
}
