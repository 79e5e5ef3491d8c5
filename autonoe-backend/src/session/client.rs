//! [`ProgramClient`], the client of one session, and the actor that owns the program.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl, SessionOutcome};
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec, StreamEvent};
use futures::{StreamExt, stream};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::turn::run_turn;
use super::{AfterQuery, CommandQueue, Program, ProgramCommand, Query};
use crate::SandboxConfig;

/// The client of one session. The program starts with the first query.
///
/// A task owns the program. It runs whether or not the stream is polled, and shuts the program down
/// when the client is disposed of or dropped. A control does not keep the program running.
pub struct ProgramClient<P: Program> {
    commands: mpsc::Sender<ProgramCommand>,
    /// The actor, until it is started.
    actor: Option<Actor<P>>,
    /// Whether the last query is over.
    last: CancellationToken,
}

impl<P: Program> ProgramClient<P> {
    /// Creates the client of a session of `spec`.
    pub fn new(options: Arc<P::Options>, spec: SessionSpec) -> Self {
        let (commands, queue) = mpsc::channel(8);
        let last = CancellationToken::new();
        last.cancel();
        Self {
            last,
            commands,
            actor: Some(Actor::new(options, spec, CommandQueue::new(queue))),
        }
    }
}

impl<P: Program> fmt::Debug for ProgramClient<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramClient")
            .field("program", &P::NAME)
            .field("is_started", &self.actor.is_none())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<P: Program> AgentClient for ProgramClient<P> {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        if let Some(actor) = self.actor.take() {
            tokio::spawn(actor.run());
        }
        let (events, batches) = mpsc::unbounded_channel();
        let (dropped, over) = (CancellationToken::new(), CancellationToken::new());
        let query = Query {
            prompt: prompt.text,
            events,
            dropped: dropped.clone(),
            _over: over.clone().drop_guard(),
        };
        let last = std::mem::replace(&mut self.last, over);
        let commands = self.commands.clone();
        let start = async move {
            // A caller that dropped the stream of a turn may send another query while that turn is
            // being stopped.
            last.cancelled().await;
            // If the actor has ended, the stream of batches ends without an `End` event.
            let _ = commands.send(ProgramCommand::Query(query)).await;
            Batches {
                batches,
                _guard: dropped.drop_guard(),
                is_over: false,
            }
        };
        stream::once(start)
            .flat_map(|batches| stream::unfold(batches, next))
            .flat_map(stream::iter)
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(ProgramControl {
            commands: self.commands.downgrade(),
            no_steering: P::NO_STEERING,
        })
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        if self.actor.is_none() {
            // An actor that has ended has shut everything down already.
            let _ = request(&self.commands, ProgramCommand::Dispose).await;
        }
        Ok(())
    }
}

/// Receives the events of a query. Dropping it stops the turn.
struct Batches {
    batches: mpsc::UnboundedReceiver<Vec<Item>>,
    _guard: DropGuard,
    is_over: bool,
}

type Item = Result<StreamEvent, AgentError>;

async fn next(mut state: Batches) -> Option<(Vec<Item>, Batches)> {
    if state.is_over {
        return None;
    }
    let batch = state.batches.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without an outcome";
        vec![Err(AgentError::new(AgentErrorKind::Crashed, reason))]
    });
    let is_end = |item: &Item| matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    state.is_over = batch.iter().any(is_end);
    Some((batch, state))
}

/// Controls a session while its stream is open.
///
/// It does not keep the session alive: a forgotten control must not keep a program running.
struct ProgramControl {
    commands: mpsc::WeakSender<ProgramCommand>,
    no_steering: Option<&'static str>,
}

#[async_trait]
impl SessionControl for ProgramControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // A finished session has nothing to stop.
        let Some(commands) = self.commands.upgrade() else {
            return Ok(());
        };
        request(&commands, ProgramCommand::Interrupt)
            .await
            .unwrap_or(Ok(()))
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        if let Some(reason) = self.no_steering {
            return Err(AgentError::new(AgentErrorKind::Unsupported, reason));
        }
        let over = || AgentError::new(AgentErrorKind::Other, "the session is over");
        let commands = self.commands.upgrade().ok_or_else(over)?;
        let text = text.to_owned();
        let steered = request(&commands, |reply| ProgramCommand::Steer(text, reply)).await;
        steered.unwrap_or_else(|| Err(over()))
    }
}

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
    Ended,
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
    Dropped,
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
                StartOutcome::Dropped => {
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
        let after = {
            let mut events = Vec::new();
            let turn = live.start_turn(&self.options, &self.spec, &query.prompt, &mut events);
            query.send(events);
            match turn {
                Ok(turn) => run_turn(turn, query, &mut self.commands).await,
                Err(error) => {
                    query.end(Err(error));
                    AfterQuery::Unusable
                }
            }
        };
        match after {
            AfterQuery::Ready => None,
            AfterQuery::Unusable => {
                self.end().await;
                None
            }
            AfterQuery::Disposed(done) => Some(done),
        }
    }

    /// Starts the program, and waits until it is ready or the query is dropped.
    async fn start(&mut self, query: &Query) -> StartOutcome {
        match self.launch_and_wait(query).await {
            StartOutcome::Failed(error) => {
                let sandbox = &P::program_options(&self.options).sandbox;
                StartOutcome::Failed(explain(sandbox, &self.spec, error).await)
            }
            outcome => outcome,
        }
    }

    /// The actor owns the program from its launch, so that disposing of the session waits for its
    /// end.
    async fn launch_and_wait(&mut self, query: &Query) -> StartOutcome {
        // A killed host could not remove its sessions.
        let program_options = P::program_options(&self.options);
        let (launched, ()) = tokio::join!(
            P::launch(&self.options, &self.spec),
            program_options.remove_abandoned_sessions(P::FOLDER),
        );
        match launched {
            Ok(live) => self.state = State::Live(Box::new(live)),
            Err(error) => {
                self.state = State::Ended;
                return StartOutcome::Failed(error);
            }
        }
        let State::Live(live) = &mut self.state else {
            return StartOutcome::Dropped;
        };
        let mut ready = pin!(live.ready(&self.options, &self.spec));
        loop {
            let command = tokio::select! {
                biased;
                () = query.dropped.cancelled() => return StartOutcome::Dropped,
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
                None => return StartOutcome::Dropped,
            }
        }
    }

    /// Ends the program, if there is one, and everything that it started.
    async fn end(&mut self) {
        if let State::Live(live) = std::mem::replace(&mut self.state, State::Ended) {
            live.end().await;
        }
    }
}

/// Returns the reason of a failed start: a sandbox that fails looks like a program that exits
/// without a message.
async fn explain(sandbox: &SandboxConfig, spec: &SessionSpec, error: AgentError) -> AgentError {
    match error.kind() {
        AgentErrorKind::Crashed | AgentErrorKind::NotAvailable | AgentErrorKind::Timeout => {
            sandbox.explain(spec, error).await
        }
        // The program has sent a message, so its sandbox works.
        _ => error,
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
