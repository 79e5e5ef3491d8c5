//! [`Stdin`] and [`Stdout`], the caller's ends of a child's pipes.

use std::io::{self, ErrorKind, IoSlice};
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
/// The shutdown ladder closes the input even while this exists. A pending or later write then fails
/// with [`ErrorKind::BrokenPipe`], as it does when the child has closed its input.
#[derive(Debug)]
pub struct Stdin {
    slot: Arc<StdinSlot>,
}

/// Holds the pipe to a child's input, so that both a writer and the ladder can close it.
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

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.slot
            .poll(cx, |pipe, cx| pipe.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
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
