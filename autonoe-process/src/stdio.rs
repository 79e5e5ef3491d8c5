//! [`Stdin`] and [`Stdout`], the caller's ends of a child's pipes, and the tail of its standard error.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// Writes to the standard input of a child.
///
/// `AsyncWriteExt::shutdown` closes the input; dropping this does not. An agent that requests
/// approval before it acts may take the end of its input for consent, so a dropped or panicked task
/// must not close it.
///
/// The shutdown policy closes the input even while this exists. A pending or later write then fails
/// with [`ErrorKind::BrokenPipe`], as it does when the child has closed its input.
#[derive(Debug)]
pub struct Stdin {
    slot: Arc<StdinSlot>,
}

/// Holds the pipe to a child's input, so that both a writer and the policy can close it.
#[derive(Debug, Default)]
pub(crate) struct StdinSlot {
    state: Mutex<SlotState>,
}

#[derive(Debug, Default)]
struct SlotState {
    pipe: Option<pipe::Sender>,
    /// The task that waits for room in the pipe. A closed pipe would not wake it.
    waiting: Option<Waker>,
}

impl StdinSlot {
    /// Stores the pipe, and returns the writer.
    pub(crate) fn open(self: Arc<Self>, descriptor: OwnedFd) -> io::Result<Stdin> {
        let pipe = pipe::Sender::from_owned_fd(descriptor)?;
        self.state().pipe = Some(pipe);
        Ok(Stdin { slot: self })
    }

    /// Closes the pipe, if it is still open.
    pub(crate) fn close(&self) {
        let SlotState { pipe, waiting } = std::mem::take(&mut *self.state());
        drop(pipe);
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut pipe::Sender>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut state = self.state();
        let Some(pipe) = &mut state.pipe else {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        };
        let result = act(Pin::new(pipe), cx);
        state.waiting = result.is_pending().then(|| cx.waker().clone());
        result
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.slot.poll(cx, |pipe, cx| pipe.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.slot.poll(cx, |pipe, cx| pipe.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing is buffered here: written bytes are in the pipe.
        self.slot.close();
        Poll::Ready(Ok(()))
    }
}

/// Reads the standard output of a child.
///
/// It ends when the last process that holds the pipe has ended, which need not be the child.
#[derive(Debug)]
pub struct Stdout {
    pipe: pipe::Receiver,
}

/// Capacity of the pipe in bytes, where the system grants it: four times the default. A child with
/// much output then need not wait for its reader each time.
#[cfg(target_os = "linux")]
const PIPE_CAPACITY: usize = 256 * 1024;

impl Stdout {
    pub(crate) fn open(descriptor: OwnedFd) -> io::Result<Self> {
        // The system limits the total per user. Beyond that limit, the default capacity remains.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&descriptor, PIPE_CAPACITY);
        let pipe = pipe::Receiver::from_owned_fd(descriptor)?;
        Ok(Self { pipe })
    }
}

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_read(cx, buffer)
    }
}

/// Keeps the last bytes that were written to it, and discards the rest.
#[derive(Debug)]
pub(crate) struct StderrTail {
    bytes: VecDeque<u8>,
    limit: usize,
    is_cut: bool,
}

impl StderrTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            limit,
            is_cut: false,
        }
    }

    pub(crate) fn push(&mut self, new: &[u8]) {
        let added = &new[new.len().saturating_sub(self.limit)..];
        let room = self.limit - added.len();
        let surplus = self.bytes.len().saturating_sub(room);
        self.is_cut |= surplus > 0 || added.len() < new.len();
        self.bytes.drain(..surplus);
        self.bytes.extend(added);
    }

    /// Returns the text. Invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        let (first, second) = self.bytes.as_slices();
        let bytes = [first, second].concat();
        // A character that was cut at the limit is left out.
        let cut = |byte: &&u8| self.is_cut && **byte & 0b1100_0000 == 0b1000_0000;
        let skipped = bytes.iter().take(3).take_while(cut).count();
        String::from_utf8_lossy(&bytes[skipped..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_that_was_cut_is_left_out() {
        let mut tail = StderrTail::new(4);

        tail.push("aéü.".as_bytes());
        assert_eq!(tail.text(), "ü.");
    }

    #[test]
    fn invalid_utf8_becomes_replacement_characters() {
        let mut tail = StderrTail::new(4);

        tail.push(b"\x80.");
        assert_eq!(tail.text(), "\u{fffd}.");
    }

    proptest! {
        #[test]
        fn the_tail_is_the_end_of_all_that_was_written(
            pieces in prop::collection::vec("[a-z]{0,20}", 0..20),
            limit in 0_usize..50,
        ) {
            let mut tail = StderrTail::new(limit);
            for piece in &pieces {
                tail.push(piece.as_bytes());
            }

            let all = pieces.concat();
            prop_assert_eq!(tail.text(), &all[all.len().saturating_sub(limit)..]);
        }
    }
}
