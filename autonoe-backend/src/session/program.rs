//! What a backend says of its program.

use autonoe_core::{AgentError, SessionSpec};
use tokio::sync::oneshot;

use super::{Commands, Query};

/// A program that lives, and all that belongs to the talk with it.
///
/// A [`ProgramClient`](super::ProgramClient) starts it with the first query and owns it from then
/// on. The methods are called one after the other: `launch`, `ready`, any number of times `turn`,
/// and at last `end`.
pub trait Program: Sized + Send + 'static {
    /// What can be chosen about it, the same for all sessions.
    type Options: Send + Sync + 'static;

    /// Names it in errors.
    const NAME: &str;

    /// Why it cannot be told anything in the middle of its turn, if it cannot.
    const NO_STEERING: Option<&str> = None;

    /// Starts it. It must be [ready](Self::ready) before it is asked anything.
    ///
    /// # Errors
    ///
    /// It could not be started. Nothing of it lives then.
    fn launch(
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<Self, AgentError>> + Send;

    /// Waits until it is ready for a prompt, and is what was asked for.
    ///
    /// This is dropped when nobody waits for the answer any more.
    ///
    /// # Errors
    ///
    /// It is not. It may still live then.
    fn ready(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<(), AgentError>> + Send;

    /// Works on `query` to its end, and heeds `commands` meanwhile.
    ///
    /// It [ends](Query::end) the query, unless it returns [`After::Disposed`] or nobody is left to
    /// hear it. It looks whether the query was [dropped](Query::dropped), and stops the turn then.
    fn turn(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
        query: Query,
        commands: &mut Commands,
    ) -> impl Future<Output = After> + Send;

    /// Ends it, and everything that it started. Nothing is allowed any more.
    fn end(self) -> impl Future<Output = ()> + Send;
}

/// What is to be done after a query.
#[derive(Debug)]
pub enum After {
    /// Nothing: the program waits for the next prompt.
    Ready,
    /// The program must be ended.
    Useless,
    /// Everything must be ended, and who asked for it wants to know when that is done.
    Disposed(oneshot::Sender<()>),
}
