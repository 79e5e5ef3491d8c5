//! A child process.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::Pid;

use crate::family::Family;
use crate::keeper::{Lifeline, Shared};
use crate::{EndedBy, Exit, Ladder, Marker, ProcessInfo, ShutDown, Signal};

/// A child process, made by [`Launch::start`](crate::Launch::start).
///
/// End it with [`shut_down`](Self::shut_down). When it is dropped instead, also in a
/// panic or after the runtime is gone, a thread of its own does the same with the ladder
/// of the launch; see [`wait_for_shut_downs`](crate::wait_for_shut_downs).
///
/// Until then the system keeps the number of the child for it, also when it has ended:
/// no signal reaches another process that got its number.
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

    /// Returns the number of the process, which is also that of its group and session.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Returns what the process and all that it starts is known by.
    pub fn marker(&self) -> &Marker {
        &self.marker
    }

    /// Returns how the process ended, or `None` if it lives.
    pub fn try_exit(&self) -> Option<Exit> {
        *self.shared.exit.borrow()
    }

    /// Waits until the process has ended.
    ///
    /// By then all that it wrote to its standard error was read. Its tools may still live.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut exit = self.shared.exit.subscribe();
        async move {
            let ended = exit.wait_for(Option::is_some).await;
            ended.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
    }

    /// Returns the end of what the process wrote to its standard error so far.
    ///
    /// The whole of it is read all the time; the last of it is kept, 64 KiB unless
    /// [`Launch::stderr_limit`](crate::Launch::stderr_limit) says otherwise.
    pub fn stderr_tail(&self) -> String {
        self.shared.stderr().text()
    }

    /// Sends `signal` to the process, and to nothing that it has started.
    ///
    /// # Errors
    ///
    /// It has ended, or has changed to another user.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.try_exit().is_some() {
            return Err(Errno::SRCH.into());
        }
        let family = Family::of(self.pid, self.marker.clone());
        Ok(family.signal(self.shared.addressee, signal.to_system())?)
    }

    /// Finds what the process has started and what that has started, as far as it lives.
    ///
    /// As long as the process lives, that is everything, also what made a session of its
    /// own or has lost its parent. Only on Linux; elsewhere it finds nothing.
    pub fn descendants(&self) -> Vec<ProcessInfo> {
        Family::of(self.pid, self.marker.clone()).descendants()
    }

    /// Finds the processes with the marker, except this one and its child.
    ///
    /// Only on Linux; elsewhere it finds nothing.
    pub fn leftovers(&self) -> Vec<ProcessInfo> {
        Family::of(self.pid, self.marker.clone()).marked_now()
    }

    /// Ends the process by the steps of `ladder`, and kills what is left of it.
    ///
    /// That goes on when the future is dropped.
    pub async fn shut_down(self, ladder: Ladder) -> ShutDown {
        let told = self.lifeline.end(ladder).await;
        // Only a defect ends the keeper without an answer, and that is not a success.
        told.unwrap_or_else(|_| ShutDown {
            exit: None,
            ended_by: EndedBy::Nothing,
            killed: Vec::new(),
            left: self.marker.processes(),
            stderr_tail: self.shared.stderr().text(),
        })
    }
}
