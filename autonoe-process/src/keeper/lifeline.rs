//! What a keeper sees go down when nobody holds its child any more.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::oneshot;

use crate::exit::Ending;
use crate::{Ladder, ShutDown};

/// How a child is to be ended, and who wants to know.
#[derive(Debug)]
pub(crate) struct Order {
    /// `None` is the ladder of the launch.
    pub(crate) ladder: Option<Ladder>,
    pub(crate) reply: Option<oneshot::Sender<ShutDown>>,
    /// Counts the child among those that are being ended.
    pub(crate) ending: Ending,
}

impl Order {
    /// Makes the order that holds when nobody gives one.
    pub(super) fn silent() -> Self {
        Self {
            ladder: None,
            reply: None,
            ending: Ending::begin(),
        }
    }
}

/// The end that the holder of a child has. When it is dropped, the child is ended.
#[derive(Debug)]
pub(crate) struct Lifeline {
    /// `None` when the order was given.
    orders: Option<Sender<Order>>,
    /// Nothing is ever written; closing it wakes the keeper, in whatever it waits for.
    _pipe: PipeWriter,
}

/// The end that the keeper has.
#[derive(Debug)]
pub(crate) struct HangUp {
    pub(super) orders: Receiver<Order>,
    /// Closed at the other end after the order was given.
    pub(super) pipe: PipeReader,
}

impl Lifeline {
    pub(crate) fn new() -> io::Result<(Self, HangUp)> {
        let (orders, received) = channel();
        let (pipe, writer) = io::pipe()?;
        let hang_up = HangUp {
            orders: received,
            pipe,
        };
        let lifeline = Self {
            orders: Some(orders),
            _pipe: writer,
        };
        Ok((lifeline, hang_up))
    }

    /// Has the child ended by `ladder`, and returns where it is told.
    pub(crate) fn end(mut self, ladder: Ladder) -> oneshot::Receiver<ShutDown> {
        let (reply, told) = oneshot::channel();
        self.give(Order {
            ladder: Some(ladder),
            reply: Some(reply),
            ending: Ending::begin(),
        });
        told
    }

    fn give(&mut self, order: Order) {
        if let Some(orders) = self.orders.take() {
            // A keeper that is gone drops the order, and with it the reply.
            let _ = orders.send(order);
        }
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        if self.orders.is_some() {
            self.give(Order::silent());
        }
    }
}
