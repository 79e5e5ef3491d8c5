//! [`Decoder`]: incremental decoder of a streamed answer.

use crate::contract::{ModelError, ModelEvent, ModelReply};

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// Name; empty if there is none.
    pub(crate) name: String,
    /// Data, with joined lines.
    pub(crate) data: String,
}

/// Decodes one answer.
pub(crate) trait Decoder: Send {
    /// Processes the next event, and appends the resulting events to `news`.
    ///
    /// # Errors
    ///
    /// The provider reported an error or sent an invalid event. The error includes the usage so
    /// far. No events are accepted after that.
    fn push(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError>;

    /// Returns whether the answer is complete.
    fn is_complete(&self) -> bool;

    /// Returns the answer, after the last event.
    ///
    /// # Errors
    ///
    /// The answer is incomplete. The error includes the usage so far.
    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError>;
}
