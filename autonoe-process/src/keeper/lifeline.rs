//! [`Lifeline`], the connection that ends a child when its handle is dropped.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::oneshot;

use crate::exit::PendingShutdown;
use crate::{ShutdownPolicy, ShutdownReport};

/// The request to end a child.
#[derive(Debug)]
pub(crate) struct ShutdownRequest {
    /// `None` for the ladder of the launch.
    pub(crate) ladder: Option<ShutdownPolicy>,
    pub(crate) reply: Option<oneshot::Sender<ShutdownReport>>,
    /// Counts the child among the pending shutdowns.
    pub(crate) pending: PendingShutdown,
}

impl ShutdownRequest {
    /// Creates the request that is used when the handle is dropped without one.
    pub(super) fn on_drop() -> Self {
        Self {
            ladder: None,
            reply: None,
            pending: PendingShutdown::start(),
        }
    }
}

/// The end of the connection that the handle of a child holds. Dropping it ends the child.
#[derive(Debug)]
pub(crate) struct Lifeline {
    /// `None` after the request was sent.
    requests: Option<Sender<ShutdownRequest>>,
    /// Nothing is ever written to it. Closing it wakes the keeper from any wait.
    _pipe: PipeWriter,
}

/// The end of the connection that the keeper holds.
#[derive(Debug)]
pub(crate) struct LifelineReceiver {
    pub(super) orders: Receiver<ShutdownRequest>,
    /// Closed at the other end after the request was sent.
    pub(super) pipe: PipeReader,
}

impl Lifeline {
    pub(crate) fn new() -> io::Result<(Self, LifelineReceiver)> {
        let (orders, received) = channel();
        let (pipe, writer) = io::pipe()?;
        let hang_up = LifelineReceiver {
            orders: received,
            pipe,
        };
        let lifeline = Self {
            requests: Some(orders),
            _pipe: writer,
        };
        Ok((lifeline, hang_up))
    }

    /// Ends the child by `ladder`, and returns the receiver of the report.
    pub(crate) fn end(mut self, ladder: ShutdownPolicy) -> oneshot::Receiver<ShutdownReport> {
        let (reply, report) = oneshot::channel();
        self.send(ShutdownRequest {
            ladder: Some(ladder),
            reply: Some(reply),
            pending: PendingShutdown::start(),
        });
        report
    }

    fn send(&mut self, order: ShutdownRequest) {
        if let Some(orders) = self.requests.take() {
            // A keeper that has ended drops the request and its reply channel.
            let _ = orders.send(order);
        }
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        if self.requests.is_some() {
            self.send(ShutdownRequest::on_drop());
        }
    }
}
