//! Who owns the program of a session.

use std::sync::Arc;

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use tokio::sync::{mpsc, oneshot};

use super::{After, Command, Commands, Program, Query};

/// Who owns the program of a session.
///
/// It ends when it is told to, or when nobody is left who could tell it anything;
/// the program ends with it.
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
                Command::Steer(_, reply) => {
                    let _ = reply.send(Err(AgentError::new(
                        AgentErrorKind::Other,
                        "no turn is under way",
                    )));
                }
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

    /// Works on a query; returns who wants everything to end, if somebody does.
    async fn query(&mut self, query: Query) -> Option<oneshot::Sender<()>> {
        if matches!(self.state, State::NotStarted) {
            match self.start(&query).await {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    query.end(Err(error));
                    self.end().await;
                    return None;
                }
                None => {
                    self.end().await;
                    return None;
                }
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

    /// Starts the program; `None` if nobody waits for it any more.
    ///
    /// It is this actor's from its first moment on, so that it is gone when the end was waited for.
    async fn start(&mut self, query: &Query) -> Option<Result<(), AgentError>> {
        let live = match P::launch(&self.options, &self.spec).await {
            Ok(live) => Box::new(live),
            Err(error) => {
                self.state = State::Gone;
                return Some(Err(error));
            }
        };
        self.state = State::Live(live);
        let State::Live(live) = &mut self.state else {
            return None;
        };
        tokio::select! {
            biased;
            () = query.dropped.cancelled() => None,
            ready = live.ready(&self.options, &self.spec) => Some(ready),
        }
    }

    /// Ends the program, if there is one, and everything that it started.
    async fn end(&mut self) {
        if let State::Live(live) = std::mem::replace(&mut self.state, State::Gone) {
            live.end().await;
        }
    }
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
