//! Connection that can be cut at an exact byte.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Requests to cut a connection as soon as all written data is sent.
#[derive(Clone, Debug, Default)]
pub(super) struct CutHandle(Arc<AtomicBool>);

impl CutHandle {
    /// Cuts the connection at its next flush.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A connection to a client that [`CutHandle`] can cut.
///
/// A failing body would cut it as well, but would lose the data that hyper still holds in its
/// buffer. A flush happens only when that buffer is empty.
#[derive(Debug)]
pub(super) struct CuttableStream {
    stream: TcpStream,
    cut_handle: CutHandle,
}

impl CuttableStream {
    pub(super) fn new(stream: TcpStream, cut_handle: CutHandle) -> Self {
        Self { stream, cut_handle }
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
        if self.cut_handle.0.load(Ordering::Acquire) {
            return Poll::Ready(Err(io::Error::other("cut by the script")));
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A fault in the middle of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamFault {
    /// The connection is closed.
    Cut,
    /// Nothing more is sent until the client leaves.
    Hang,
    /// The response ends as HTTP requires, as if nothing were missing.
    End,
    /// An event with data that is not JSON is sent, then the stream continues.
    Malformed,
    /// An `error` event of this type is sent, such as `overloaded_error`, and the stream ends.
    Error {
        /// The vendor's type of the error: its `type`, in the Responses API its `code`, with Gemini
        /// its `status`.
        kind: String,
        /// The error message.
        message: String,
    },
    /// The response itself is reported as failed, and the stream ends: `response.failed` in the
    /// Responses API. With other APIs it is an [`Error`](Self::Error) of this type.
    Failed {
        /// The code of the failure, such as `rate_limit_exceeded`.
        code: String,
        /// The error message.
        message: String,
    },
}

/// The position of a fault in a stream. Blocks are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultPosition {
    /// After this many events; 0 is before the first.
    AfterEvents(usize),
    /// In the middle of a block: after its start and before its end.
    InBlock(usize),
    /// Right after the end of a block.
    AfterBlock(usize),
}
