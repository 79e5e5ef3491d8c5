//! A connection that can be cut at an exact place.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Asks for a connection to be cut as soon as all that was written has left.
#[derive(Clone, Debug, Default)]
pub(super) struct Scissors(Arc<AtomicBool>);

impl Scissors {
    /// Cuts the connection at its next flush.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A connection to a client that [`Scissors`] can cut.
///
/// A body that fails would cut it as well, but together with what hyper still holds in
/// its buffer. A flush comes only when that buffer is empty.
#[derive(Debug)]
pub(super) struct CuttableStream {
    stream: TcpStream,
    scissors: Scissors,
}

impl CuttableStream {
    pub(super) fn new(stream: TcpStream, scissors: Scissors) -> Self {
        Self { stream, scissors }
    }
}

impl AsyncRead for CuttableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for CuttableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.scissors.0.load(Ordering::Acquire) {
            return Poll::Ready(Err(io::Error::other("cut by the script")));
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What goes wrong in the middle of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamFault {
    /// The connection is closed.
    Cut,
    /// Nothing more is said until the client leaves.
    Hang,
    /// The answer ends as HTTP wants it, as if nothing were missing.
    End,
    /// An event comes whose data is no JSON; then the stream goes on.
    Malformed,
    /// An `error` event of this type comes, such as `overloaded_error`, and the stream ends.
    Error {
        /// What the vendor calls the type of the error: its `type`, in the Responses API its
        /// `code`, with Gemini its `status`.
        kind: String,
        /// What it says.
        message: String,
    },
    /// The answer itself is said to have failed, and the stream ends: `response.failed` in the
    /// Responses API. Elsewhere it is an [`Error`](Self::Error) of this type.
    Failed {
        /// The code of the failure, such as `rate_limit_exceeded`.
        code: String,
        /// What it says.
        message: String,
    },
}

/// Where in a stream something goes wrong. Blocks are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// After so many events; 0 is before the first.
    AfterEvents(usize),
    /// In the middle of a block: it was begun, and not finished.
    InBlock(usize),
    /// Right after a block was finished.
    AfterBlock(usize),
}
