//! [`Actor`], the task that owns the program of a session.

use std::pin::pin;
use std::sync::Arc;

use autonoe_core::{AgentError, AgentErrorKind, SessionOutcome, SessionSpec, StreamEvent};
use tokio::sync::{mpsc, oneshot};

use super::{After, Command, Commands, Program, Query};

/// Owns the program of a session, and ends it.
///
/// It runs until it is disposed of, or until all senders of commands are dropped.
pub(super) struct Actor<P: Program> {
    options: Arc<P::Options>,
    spec: SessionSpec,
    commands: Commands,
    state: State<P>,
}

enum State<P> {
    NotStarted,
    Live(Box<P>),
    Gone,
}

/// How a start ended.
enum Begun {
    /// The program waits for a prompt.
    Ready,
    /// It does not start.
    Failed(AgentError),
    /// Its turn was stopped before it began.
    Interrupted,
    /// The query was dropped.
    Unwanted,
    /// The session is disposed of. The sender is informed when the program has ended.
    Disposed(oneshot::Sender<()>),
}

impl<P: Program> Actor<P> {
    pub(super) fn new(options: Arc<P::Options>, spec: SessionSpec, commands: Commands) -> Self {
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
                Command::Query(query) => {
                    if let Some(done) = self.query(query).await {
                        disposed = Some(done);
                        break;
                    }
                }
                // There is no turn to stop.
                Command::Interrupt(reply) => {
                    let _ = reply.send(Ok(()));
                }
                Command::Steer(_, reply) => refuse_steering(reply),
                Command::Dispose(done) => {
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

    /// Works on a query. Returns the sender of a command that disposes of the session, if one comes.
    async fn query(&mut self, query: Query) -> Option<oneshot::Sender<()>> {
        if matches!(self.state, State::NotStarted) {
            match self.start(&query).await {
                Begun::Ready => {}
                Begun::Failed(error) => {
                    query.end(Err(error));
                    self.end().await;
                    return None;
                }
                Begun::Interrupted => {
                    self.end().await;
                    query.end(Ok(StreamEvent::end(SessionOutcome::Interrupted, None)));
                    return None;
                }
                Begun::Unwanted => {
                    self.end().await;
                    return None;
                }
                Begun::Disposed(done) => return Some(done),
            }
        }
        let State::Live(live) = &mut self.state else {
            let reason = format!("{} is not there any more; start a new session", P::NAME);
            query.end(Err(AgentError::new(AgentErrorKind::Crashed, reason)));
            return None;
        };
        let turn = live.turn(&self.options, &self.spec, query, &mut self.commands);
        match turn.await {
            After::Ready => None,
            After::Useless => {
                self.end().await;
                None
            }
            After::Disposed(done) => Some(done),
        }
    }

    /// Starts the program, and waits until it is ready or the query is dropped.
    ///
    /// The actor owns the program from its start, so that disposing of the session waits for its end.
    async fn start(&mut self, query: &Query) -> Begun {
        match P::launch(&self.options, &self.spec).await {
            Ok(live) => self.state = State::Live(Box::new(live)),
            Err(error) => {
                self.state = State::Gone;
                return Begun::Failed(error);
            }
        }
        let State::Live(live) = &mut self.state else {
            return Begun::Unwanted;
        };
        let mut ready = pin!(live.ready(&self.options, &self.spec));
        loop {
            let command = tokio::select! {
                biased;
                () = query.dropped.cancelled() => return Begun::Unwanted,
                command = self.commands.recv_new() => command,
                ready = &mut ready => {
                    return ready.map_or_else(Begun::Failed, |()| Begun::Ready);
                }
            };
            match command {
                Some(Command::Interrupt(reply)) => {
                    let _ = reply.send(Ok(()));
                    return Begun::Interrupted;
                }
                // Delivered when the turn has begun.
                Some(steer @ Command::Steer(..)) => self.commands.keep(steer),
                Some(Command::Query(other)) => other.refuse(),
                Some(Command::Dispose(done)) => return Begun::Disposed(done),
                None => return Begun::Unwanted,
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
    let reason = "no turn is under way";
    let _ = reply.send(Err(AgentError::new(AgentErrorKind::Other, reason)));
}

/// Asks the actor something and waits for the answer.
pub(super) async fn ask<T>(
    commands: &mpsc::Sender<Command>,
    make: impl FnOnce(oneshot::Sender<T>) -> Command,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    commands.send(make(reply)).await.ok()?;
    answer.await.ok()
}
