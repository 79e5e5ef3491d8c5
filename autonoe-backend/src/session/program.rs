//! [`Program`], the interface between a session and the program of a backend.

use autonoe_core::{AgentError, SessionSpec};
use tokio::sync::oneshot;

use super::{CommandQueue, Query};

/// A running program, and the connection to it.
///
/// A [`ProgramClient`](super::ProgramClient) starts it with the first query and owns it from then
/// on. The methods are called in this order: `launch`, `ready`, any number of times `turn`, and
/// finally `end`.
pub trait Program: Sized + Send + 'static {
    /// Its options, which are the same for all sessions.
    type Options: Send + Sync + 'static;

    /// Its name in errors.
    const NAME: &str;

    /// The reason why it does not accept messages during a turn, if it does not.
    const NO_STEERING: Option<&str> = None;

    /// Starts it. It must become [ready](Self::ready) before the first turn.
    ///
    /// # Errors
    ///
    /// The program cannot be started. None of its processes is left.
    fn launch(
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<Self, AgentError>> + Send;

    /// Waits until it is ready for a prompt, and checks that it runs with the requested settings.
    ///
    /// The future is dropped together with the query.
    ///
    /// # Errors
    ///
    /// The program is not ready, or runs with other settings. Its processes may still run.
    fn ready(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<(), AgentError>> + Send;

    /// Runs `query` to its end, and handles `commands` meanwhile.
    ///
    /// It [ends](Query::end) the query, unless it returns `After::Disposed` or the query was
    /// [dropped](Query::dropped), which stops the turn.
    fn turn(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
        query: Query,
        commands: &mut CommandQueue,
    ) -> impl Future<Output = AfterQuery> + Send;

    /// Ends it, and everything that it started. From now on, calls are denied.
    fn end(self) -> impl Future<Output = ()> + Send;
}

/// The next step after a query.
#[derive(Debug)]
pub enum AfterQuery {
    /// Nothing: the program waits for the next prompt.
    Ready,
    /// The program must be ended.
    Unusable,
    /// Everything must be ended. The sender is notified when that is done.
    Disposed(oneshot::Sender<()>),
}
