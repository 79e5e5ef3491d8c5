//! [`Program`], a backend's program as a session needs it.

use autonoe_core::{AgentError, SessionSpec};
use tokio::sync::oneshot;

use super::{Commands, Query};

/// A running program, and the connection to it.
///
/// A [`ProgramClient`](super::ProgramClient) starts it with the first query and owns it from then
/// on. The methods are called one after the other: `launch`, `ready`, any number of times `turn`,
/// and at last `end`.
pub trait Program: Sized + Send + 'static {
    /// Its options, which are the same for all sessions.
    type Options: Send + Sync + 'static;

    /// Names it in errors.
    const NAME: &str;

    /// Why it does not accept messages during a turn, if it does not.
    const NO_STEERING: Option<&str> = None;

    /// Starts it. It must be [ready](Self::ready) before the first turn.
    ///
    /// # Errors
    ///
    /// It cannot be started. No process of it is left then.
    fn launch(
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<Self, AgentError>> + Send;

    /// Waits until it is ready for a prompt, and checks that it runs with the requested settings.
    ///
    /// The future is dropped when the query is.
    ///
    /// # Errors
    ///
    /// It is not ready, or runs with other settings. Its processes may still run then.
    fn ready(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<(), AgentError>> + Send;

    /// Runs `query` to its end, and handles `commands` meanwhile.
    ///
    /// It [ends](Query::end) the query, unless it returns [`After::Disposed`] or the query was
    /// [dropped](Query::dropped), which stops the turn.
    fn turn(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
        query: Query,
        commands: &mut Commands,
    ) -> impl Future<Output = After> + Send;

    /// Ends it, and everything that it started. Calls are denied from now on.
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
