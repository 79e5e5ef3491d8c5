//! An answer that is read as it comes.

use crate::contract::{ModelError, ModelEvent, ModelReply};

/// One event of a stream: its name, if it has one, and its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// The name; empty if it has none.
    pub(crate) name: String,
    /// The data, lines joined.
    pub(crate) data: String,
}

/// Reads one answer.
pub(crate) trait Decoder: Send {
    /// Takes the next event and adds what it tells to `news`.
    ///
    /// # Errors
    ///
    /// The provider says that it failed, or says what makes no sense. What was used so far is in
    /// the error. Nothing is taken after that.
    fn take(&mut self, event: &ServerEvent, news: &mut Vec<ModelEvent>) -> Result<(), ModelError>;

    /// Tells whether the provider has said that the answer is whole.
    fn is_whole(&self) -> bool;

    /// Returns the answer, after the last event.
    ///
    /// # Errors
    ///
    /// The answer is incomplete. What was used so far is in the error.
    fn finish(self: Box<Self>) -> Result<ModelReply, ModelError>;
}
