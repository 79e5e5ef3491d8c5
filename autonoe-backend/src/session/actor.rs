//! [`Actor`], the task that owns the program of a session.

use std::pin::pin;
use std::sync::Arc;

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentError, SessionSpec, StreamEvent};
use tokio::sync::{mpsc, oneshot};

use super::{AfterQuery, CommandQueue, Program, ProgramCommand, Query};

/// Owns the program of a session, and shuts it down.
///
/// It runs until the session is disposed of, or until all senders of commands are dropped.
pub(super) struct Actor<P: Program> {
    options: Arc<P::Options>,
    spec: SessionSpec,
    commands: CommandQueue,
    state: State<P>,
}

enum State<P> {
    NotStarted,
    Live(Box<P>),
    Gone,
}

/// Outcome of a start.
enum StartOutcome {
    /// The program waits for a prompt.
    Ready,
    /// The program did not start.
    Failed(AgentError),
    /// The turn was interrupted before it began.
    Interrupted,
    /// The query was dropped.
    Unwanted,
    /// The session is disposed of. The sender is notified when the program has ended.
    Disposed(oneshot::Sender<()>),
}

impl<P: Program> Actor<P> {
    pub(super) fn new(options: Arc<P::Options>, spec: SessionSpec, commands: CommandQueue) -> Self {
        Self {
            options,
            spec,
            commands,
            state: State::NotStarted,
        }
    }

    pub(super) async fn run(mut self) {
        let mut disposed = None;
        while let Some(command) = self.commands.recv().await {
            match command {
                ProgramCommand::Query(query) => {
                    if let Some(done) = self.query(query).await {
                        disposed = Some(done);
                        break;
                    }
                }
                // There is no turn to stop.
                ProgramCommand::Interrupt(reply) => {
                    let _ = reply.send(Ok(()));
                }
                ProgramCommand::Steer(_, reply) => refuse_steering(reply),
                ProgramCommand::Dispose(done) => {
                    disposed = Some(done);
                    break;
                }
            }
        }
        self.end().await;
        if let Some(done) = disposed {
            let _ = done.send(());
        }
    }

    /// Runs a query. If the session is disposed of meanwhile, returns the sender of that command.
    async fn query(&mut self, query: Query) -> Option<oneshot::Sender<()>> {
        if matches!(self.state, State::NotStarted) {
            match self.start(&query).await {
                StartOutcome::Ready => {}
                StartOutcome::Failed(error) => {
                    query.end(Err(error));
                    self.end().await;
                    return None;
                }
                StartOutcome::Interrupted => {
                    self.end().await;
                    query.end(Ok(StreamEvent::end(SessionOutcome::Interrupted, None)));
                    return None;
                }
                StartOutcome::Unwanted => {
                    self.end().await;
                    return None;
                }
                StartOutcome::Disposed(done) => return Some(done),
            }
        }
        let State::Live(live) = &mut self.state else {
            let reason = format!("{} has exited; start a new session", P::NAME);
            query.end(Err(AgentError::new(AgentErrorKind::Crashed, reason)));
            return None;
        };
        let turn = live.turn(&self.options, &self.spec, query, &mut self.commands);
        match turn.await {
            AfterQuery::Ready => None,
            AfterQuery::Unusable => {
                self.end().await;
                None
            }
            AfterQuery::Disposed(done) => Some(done),
        }
    }

    /// Starts the program, and waits until it is ready or the query is dropped.
    ///
    /// The actor owns the program from its start, so that disposing of the session waits for its end.
    async fn start(&mut self, query: &Query) -> StartOutcome {
        match P::launch(&self.options, &self.spec).await {
            Ok(live) => self.state = State::Live(Box::new(live)),
            Err(error) => {
                self.state = State::Gone;
                return StartOutcome::Failed(error);
            }
        }
        let State::Live(live) = &mut self.state else {
            return StartOutcome::Unwanted;
        };
        let mut ready = pin!(live.ready(&self.options, &self.spec));
        loop {
            let command = tokio::select! {
                biased;
                () = query.dropped.cancelled() => return StartOutcome::Unwanted,
                command = self.commands.recv_new() => command,
                ready = &mut ready => {
                    return ready.map_or_else(StartOutcome::Failed, |()| StartOutcome::Ready);
                }
            };
            match command {
                Some(ProgramCommand::Interrupt(reply)) => {
                    let _ = reply.send(Ok(()));
                    return StartOutcome::Interrupted;
                }
                // Delivered when the turn has begun.
                Some(steer @ ProgramCommand::Steer(..)) => self.commands.defer(steer),
                Some(ProgramCommand::Query(other)) => other.refuse(),
                Some(ProgramCommand::Dispose(done)) => return StartOutcome::Disposed(done),
                None => return StartOutcome::Unwanted,
            }
        }
    }

    /// Ends the program, if there is one, and everything that it started.
    async fn end(&mut self) {
        if let State::Live(live) = std::mem::replace(&mut self.state, State::Gone) {
            live.end().await;
        }
    }
}

fn refuse_steering(reply: oneshot::Sender<Result<(), AgentError>>) {
    let reason = "no turn is in progress";
    let _ = reply.send(Err(AgentError::new(AgentErrorKind::Other, reason)));
}

/// Sends a command to the actor, and waits for the reply.
pub(super) async fn request<T>(
    commands: &mpsc::Sender<ProgramCommand>,
    make: impl FnOnce(oneshot::Sender<T>) -> ProgramCommand,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    commands.send(make(reply)).await.ok()?;
    answer.await.ok()
}
