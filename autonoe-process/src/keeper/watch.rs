//! Waiting for the end of a child, for its holder to let go, and for what it complains about.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use tokio::sync::watch;

use crate::ladder::Deadline;
use crate::signal::Addressee;
use crate::stderr_tail::StderrTail;
use crate::stdio::StdinSlot;
use crate::{Exit, exit};

/// As much as is read at once.
const PIECE: usize = 16 * 1024;

/// More than a pipe holds at most, unless root has said otherwise. After the end of a
/// child, others may go on to write to the pipe for ever.
const REST: usize = 1024 * 1024;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The child has exited, and its standard error was read to the end.
    Exit(Exit),
    /// Nobody holds the child any more.
    HangUp,
    /// The deadline has come.
    Deadline,
}

/// What is waited for; each until it has happened.
#[derive(Debug)]
pub(super) struct Watch {
    stderr: Option<ChildStderr>,
    exit: Option<PipeReader>,
    has_exited: bool,
    hang_up: Option<PipeReader>,
}

impl Watch {
    pub(super) fn new(stderr: Option<ChildStderr>, exit: PipeReader, hang_up: PipeReader) -> Self {
        // A pipe that would block the thread is better closed.
        let stderr = stderr.filter(|pipe| ioctl_fionbio(pipe, true).is_ok());
        Self {
            stderr,
            exit: Some(exit),
            has_exited: false,
            hang_up: Some(hang_up),
        }
    }

    /// Closes the pipe with the exit of the child, which ends its supervisor.
    pub(super) fn close_exit(&mut self) {
        self.exit = None;
    }

    /// Waits for the next thing to happen, and reads the child's standard error meanwhile.
    ///
    /// Each is seen once.
    pub(super) fn until(&mut self, deadline: Deadline, shared: &Shared) -> Seen {
        loop {
            let left = deadline.left();
            let ready = self.wait(left);
            if ready.stderr {
                self.read(PIECE, shared);
            }
            if ready.exit {
                self.has_exited = true;
                self.read(REST, shared);
                let exit = self.exit.as_ref().map_or(Exit::Unknown, exit::recv);
                return Seen::Exit(exit);
            }
            if ready.hang_up {
                self.hang_up = None;
                return Seen::HangUp;
            }
            if left == Some(Duration::ZERO) {
                return Seen::Deadline;
            }
        }
    }

    /// Reads what the pipe of the standard error holds, at most `limit` bytes.
    pub(super) fn read(&mut self, limit: usize, shared: &Shared) {
        let mut piece = [0; PIECE];
        let mut read = 0;
        while read < limit {
            let Some(pipe) = &mut self.stderr else { return };
            match pipe.read(&mut piece) {
                Ok(0) => self.stderr = None,
                Ok(count) => {
                    shared.stderr().push(&piece[..count]);
                    read += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    tracing::warn!(%error, "the standard error of a child cannot be read");
                    self.stderr = None;
                }
            }
        }
    }

    /// Reads what is left of the standard error.
    pub(super) fn read_rest(&mut self, shared: &Shared) {
        self.read(REST, shared);
    }

    fn wait(&self, left: Option<Duration>) -> Ready {
        let watched: [Option<BorrowedFd<'_>>; 3] = [
            self.stderr.as_ref().map(AsFd::as_fd),
            self.exit
                .as_ref()
                .filter(|_| !self.has_exited)
                .map(AsFd::as_fd),
            self.hang_up.as_ref().map(AsFd::as_fd),
        ];
        let waits_for = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut polled: Vec<_> = watched.into_iter().flatten().map(waits_for).collect();
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ready::default(),
            Err(error) => {
                // Out of memory, perhaps: not for long, one hopes.
                tracing::warn!(%error, "a child cannot be watched");
                std::thread::sleep(Duration::from_millis(100));
                return Ready::default();
            }
        }
        // What is not watched any more is not in the list.
        let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
        let [stderr, exit, hang_up] =
            watched.map(|fd| fd.is_some() && events.next().unwrap_or_default());
        Ready {
            stderr,
            exit,
            hang_up,
        }
    }
}

#[derive(Default)]
struct Ready {
    stderr: bool,
    exit: bool,
    hang_up: bool,
}

/// What a keeper and the handle of its child share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// How the child ended; set when all that it wrote to its standard error was read.
    pub(crate) exit: watch::Sender<Option<Exit>>,
    pub(crate) stdin: Arc<StdinSlot>,
    /// Who gets the signals that are meant for the program.
    pub(crate) addressee: Addressee,
    stderr: Mutex<StderrTail>,
}

impl Shared {
    pub(crate) fn new(stderr_limit: usize, addressee: Addressee) -> Arc<Self> {
        Arc::new(Self {
            exit: watch::Sender::new(None),
            stdin: Arc::default(),
            addressee,
            stderr: Mutex::new(StderrTail::new(stderr_limit)),
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
    use crate::signal::Addressee;

    struct Ends {
        stderr: io::PipeWriter,
        exit: io::PipeWriter,
        hang_up: io::PipeWriter,
    }

    fn watch() -> (Watch, Ends, Arc<Shared>) {
        let [stderr, exit, hang_up] = [(); 3].map(|()| io::pipe().expect("a pipe"));
        let complaints = ChildStderr::from(OwnedFd::from(stderr.0));
        let watch = Watch::new(Some(complaints), exit.0, hang_up.0);
        let ends = Ends {
            stderr: stderr.1,
            exit: exit.1,
            hang_up: hang_up.1,
        };
        (watch, ends, Shared::new(usize::MAX, Addressee::Child))
    }

    #[test]
    fn all_that_a_child_complained_about_is_read_before_its_end_is_seen() {
        let (mut watch, mut ends, shared) = watch();
        let words = "x".repeat(3 * PIECE);
        ends.stderr.write_all(words.as_bytes()).expect("room");
        exit::report(ends.exit.as_fd(), Exit::Code(3));

        let seen = watch.until(Deadline::NEVER, &shared);

        assert_eq!(seen, Seen::Exit(Exit::Code(3)));

        assert_eq!(shared.stderr().text(), words);
    }

    #[test]
    fn each_is_seen_once_and_the_end_first() {
        let (mut watch, ends, shared) = watch();
        drop(ends);

        let seen = [(); 3].map(|()| watch.until(Deadline::after(Duration::ZERO), &shared));

        let exit = Seen::Exit(Exit::Unknown);
        assert_eq!(seen, [exit, Seen::HangUp, Seen::Deadline]);
    }

    #[test]
    fn a_deadline_comes_though_the_child_complains_without_pause() {
        let (mut watch, mut ends, shared) = watch();
        let complaining = std::thread::spawn(move || {
            while ends.stderr.write_all(&[b'x'; PIECE]).is_ok() {}
            (ends.exit, ends.hang_up)
        });

        let seen = watch.until(Deadline::after(Duration::from_millis(20)), &shared);

        assert_eq!(seen, Seen::Deadline);
        drop(watch);
        complaining.join().expect("no panic");
    }
}
