//! The two ends that a caller holds of a child's pipes.

use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// Writes to the standard input of a child.
///
/// `AsyncWriteExt::shutdown` closes the input; dropping this does not. An agent that asks
/// before it acts may take the end of its input for consent, so it must not see that only
/// because a task was dropped or has panicked.
///
/// The shutdown ladder closes the input, whoever holds this. A write that waits or comes
/// later then fails with [`ErrorKind::BrokenPipe`], as it does when the child does not
/// read any more.
#[derive(Debug)]
pub struct Stdin {
    slot: Arc<StdinSlot>,
}

/// Where the pipe to a child's input is, so that a writer and the ladder can both close it.
#[derive(Debug, Default)]
pub(crate) struct StdinSlot {
    state: Mutex<SlotState>,
}

#[derive(Debug, Default)]
struct SlotState {
    pipe: Option<pipe::Sender>,
    /// Who waits for room in the pipe. A pipe that is closed would not wake it.
    waiting: Option<Waker>,
}

impl StdinSlot {
    /// Puts the pipe in, and returns the writer.
    pub(crate) fn open(self: Arc<Self>, descriptor: OwnedFd) -> io::Result<Stdin> {
        let pipe = pipe::Sender::from_owned_fd(descriptor)?;
        self.state().pipe = Some(pipe);
        Ok(Stdin { slot: self })
    }

    /// Closes the pipe. It may be closed already.
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
        // Nothing is buffered here: what was written is in the pipe.
        self.slot.close();
        Poll::Ready(Ok(()))
    }
}

/// Reads the standard output of a child.
///
/// It ends when the last process that has it is gone, which need not be the child.
#[derive(Debug)]
pub struct Stdout {
    pipe: pipe::Receiver,
}

/// How much the pipe holds, where the system grants it: four times the usual. A child that has
/// much to say need not wait each time until its reader has had its turn.
#[cfg(target_os = "linux")]
const ROOM: usize = 256 * 1024;

impl Stdout {
    pub(crate) fn open(descriptor: OwnedFd) -> io::Result<Self> {
        // Users have only so much of it altogether; then it stays as it is.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&descriptor, ROOM);
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
