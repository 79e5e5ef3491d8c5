//! [`Watch`] waits for the exit of a child, for its handle to be dropped, and for its standard
//! error.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use tokio::sync::watch;

use crate::shutdown_policy::{Deadline, SignalTarget};
use crate::stdio::{StderrTail, StdinSlot};
use crate::{Exit, exit};

/// Bytes per read.
const CHUNK_LEN: usize = 16 * 1024;

/// More than the maximum capacity of a pipe, unless root has raised it. After the exit of a child,
/// other processes may write to the pipe for ever.
const REST_LIMIT: usize = 1024 * 1024;

/// The bytes that are kept of the end of the standard error: 64 KiB.
const STDERR_LIMIT: usize = 64 * 1024;

/// An event of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchEvent {
    /// The child has exited, and its standard error was read to the end.
    Exit(Exit),
    /// The handle of the child was dropped.
    HandleDropped,
    /// The deadline has passed.
    Deadline,
}

/// The event sources, each until it has fired.
#[derive(Debug)]
pub(super) struct Watch {
    stderr: Option<ChildStderr>,
    exit: Option<PipeReader>,
    has_exited: bool,
    lifeline: Option<PipeReader>,
}

impl Watch {
    pub(super) fn new(stderr: Option<ChildStderr>, exit: PipeReader, lifeline: PipeReader) -> Self {
        // A pipe that would block the thread is closed instead.
        let stderr = stderr.filter(|pipe| ioctl_fionbio(pipe, true).is_ok());
        Self {
            stderr,
            exit: Some(exit),
            has_exited: false,
            lifeline: Some(lifeline),
        }
    }

    /// Closes the pipe with the exit of the child, which ends its supervisor.
    pub(super) fn close_exit(&mut self) {
        self.exit = None;
    }

    /// Waits for the next event, and reads the child's standard error meanwhile.
    ///
    /// Each event is reported once.
    pub(super) fn wait_until(&mut self, deadline: Deadline, shared: &Shared) -> WatchEvent {
        loop {
            let left = deadline.left();
            let ready = self.wait(left);
            if ready.stderr {
                self.read(CHUNK_LEN, shared);
            }
            if ready.exit {
                self.has_exited = true;
                self.read(REST_LIMIT, shared);
                let exit = self.exit.as_ref().map_or(Exit::Unknown, exit::recv);
                return WatchEvent::Exit(exit);
            }
            if ready.lifeline {
                self.lifeline = None;
                return WatchEvent::HandleDropped;
            }
            if left == Some(Duration::ZERO) {
                return WatchEvent::Deadline;
            }
        }
    }

    /// Reads at most `limit` bytes of the standard error that are in the pipe.
    pub(super) fn read(&mut self, limit: usize, shared: &Shared) {
        let mut chunk = [0; CHUNK_LEN];
        let mut read = 0;
        while read < limit {
            let Some(pipe) = &mut self.stderr else { return };
            match pipe.read(&mut chunk) {
                Ok(0) => self.stderr = None,
                Ok(count) => {
                    shared.stderr().push(&chunk[..count]);
                    read += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "the standard error of a child process could not be read"
                    );
                    self.stderr = None;
                }
            }
        }
    }

    /// Reads the rest of the standard error.
    pub(super) fn read_rest(&mut self, shared: &Shared) {
        self.read(REST_LIMIT, shared);
    }

    fn wait(&self, left: Option<Duration>) -> Ready {
        let watched: [Option<BorrowedFd<'_>>; 3] = [
            self.stderr.as_ref().map(AsFd::as_fd),
            self.exit
                .as_ref()
                .filter(|_| !self.has_exited)
                .map(AsFd::as_fd),
            self.lifeline.as_ref().map(AsFd::as_fd),
        ];
        let waits_for = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut polled: Vec<_> = watched.into_iter().flatten().map(waits_for).collect();
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ready::default(),
            Err(error) => {
                // The system may be out of memory for a moment.
                tracing::warn!(%error, "a child process could not be watched");
                std::thread::sleep(Duration::from_millis(100));
                return Ready::default();
            }
        }
        // The list has only the sources that are still watched.
        let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
        let [stderr, exit, lifeline] =
            watched.map(|fd| fd.is_some() && events.next().unwrap_or_default());
        Ready {
            stderr,
            exit,
            lifeline,
        }
    }
}

#[derive(Default)]
struct Ready {
    stderr: bool,
    exit: bool,
    lifeline: bool,
}

/// State that is shared by a keeper and the handle of its child.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The exit of the child; set after its standard error was read to the end.
    pub(crate) exit: watch::Sender<Option<Exit>>,
    pub(crate) stdin: Arc<StdinSlot>,
    /// The receiver of the signals that are meant for the program.
    pub(crate) signal_target: SignalTarget,
    stderr: Mutex<StderrTail>,
}

impl Shared {
    pub(crate) fn new(signal_target: SignalTarget) -> Arc<Self> {
        Arc::new(Self {
            exit: watch::Sender::new(None),
            stdin: Arc::default(),
            signal_target,
            stderr: Mutex::new(StderrTail::new(STDERR_LIMIT)),
        })
    }

    pub(crate) fn stderr(&self) -> MutexGuard<'_, StderrTail> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    use super::*;
    use crate::shutdown_policy::SignalTarget;

    struct Ends {
        stderr: io::PipeWriter,
        exit: io::PipeWriter,
        lifeline: io::PipeWriter,
    }

    fn watch() -> (Watch, Ends, Arc<Shared>) {
        let [stderr, exit, lifeline] = [(); 3].map(|()| io::pipe().expect("a pipe"));
        let stderr_pipe = ChildStderr::from(OwnedFd::from(stderr.0));
        let watch = Watch::new(Some(stderr_pipe), exit.0, lifeline.0);
        let ends = Ends {
            stderr: stderr.1,
            exit: exit.1,
            lifeline: lifeline.1,
        };
        (watch, ends, Shared::new(SignalTarget::Child))
    }

    #[test]
    fn stderr_is_read_to_the_end_before_the_exit_is_reported() {
        let (mut watch, mut ends, shared) = watch();
        let text = "x".repeat(3 * CHUNK_LEN);
        ends.stderr.write_all(text.as_bytes()).expect("room");
        exit::report(ends.exit.as_fd(), Exit::Code(3));

        let seen = watch.wait_until(Deadline::NEVER, &shared);

        assert_eq!(seen, WatchEvent::Exit(Exit::Code(3)));

        assert_eq!(shared.stderr().text(), text);
    }

    #[test]
    fn each_event_is_reported_once_and_the_exit_first() {
        let (mut watch, ends, shared) = watch();
        drop(ends);

        let seen = [(); 3].map(|()| watch.wait_until(Deadline::after(Duration::ZERO), &shared));

        let exit = WatchEvent::Exit(Exit::Unknown);
        assert_eq!(
            seen,
            [exit, WatchEvent::HandleDropped, WatchEvent::Deadline]
        );
    }

    #[test]
    fn a_deadline_passes_while_the_child_writes_to_stderr_without_pause() {
        let (mut watch, mut ends, shared) = watch();
        let complaining = std::thread::spawn(move || {
            while ends.stderr.write_all(&[b'x'; CHUNK_LEN]).is_ok() {}
            (ends.exit, ends.lifeline)
        });

        let seen = watch.wait_until(Deadline::after(Duration::from_millis(20)), &shared);

        assert_eq!(seen, WatchEvent::Deadline);
        drop(watch);
        complaining.join().expect("no panic");
    }
}
