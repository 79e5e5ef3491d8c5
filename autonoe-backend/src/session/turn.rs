//! [`ProgramTurn`], one turn of a program, and the loop that drives it.

use std::time::Duration;

use autonoe_core::{AgentError, StreamEvent};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::{AfterQuery, CommandQueue, ProgramCommand, Query};

/// Time limit for the end of an interrupted turn.
const INTERRUPT_LIMIT: Duration = Duration::from_secs(10);

/// One turn of a program, from its prompt to its end. The [`ProgramClient`](super::ProgramClient)
/// drives it.
pub trait ProgramTurn: Send {
    /// A message of the program, or the end of its output.
    type Input: Send;

    /// The reason why the turn is over.
    type Ending: Send;

    /// Waits for the next input. Dropping the future loses nothing.
    fn recv(&mut self) -> impl Future<Output = Self::Input> + Send;

    /// Handles an input, and adds its events to `events`.
    fn handle(
        &mut self,
        input: Self::Input,
        events: &mut Vec<StreamEvent>,
    ) -> TurnStep<Self::Ending>;

    /// Returns the time at which to stop waiting for input, if the last one arrived at
    /// `last_input`.
    fn deadline(&mut self, last_input: Instant) -> Instant;

    /// Returns the ending of a turn that passed its [deadline](Self::deadline), or that did not end
    /// in time after it `is_interrupted`.
    fn on_deadline(&mut self, is_interrupted: bool) -> Self::Ending;

    /// Requests the program to stop the turn. It is called at most once.
    fn interrupt(&mut self);

    /// Sends `text` to the agent, and the result to `reply`.
    fn steer(&mut self, text: String, reply: oneshot::Sender<Result<(), AgentError>>);

    /// Ends the turn, and adds its last events to `events`.
    fn finish(
        &mut self,
        ending: Self::Ending,
        events: &mut Vec<StreamEvent>,
    ) -> impl Future<Output = TurnEnd> + Send;

    /// Prepares the program for a shutdown during the turn.
    fn abandon(self) -> impl Future<Output = ()> + Send
    where
        Self: Sized,
    {
        async {}
    }
}

/// The consequence of an input.
#[derive(Debug)]
pub enum TurnStep<E> {
    /// The turn continues.
    Continue,
    /// The host stops the turn.
    Interrupt,
    /// The turn is over.
    End(E),
}

/// The end of a turn.
#[derive(Debug)]
pub struct TurnEnd {
    /// The last item of the stream.
    pub result: Result<StreamEvent, AgentError>,
    /// Whether the program accepts another prompt.
    pub is_usable: bool,
}

impl TurnEnd {
    /// Creates the end of a turn after which the program must be shut down.
    pub fn unusable(result: Result<StreamEvent, AgentError>) -> Self {
        Self {
            result,
            is_usable: false,
        }
    }
}

/// Runs `turn` to its end, and handles `commands` meanwhile.
///
/// The turn is interrupted when the query is dropped.
pub(super) async fn run_turn<T: ProgramTurn>(
    mut turn: T,
    query: Query,
    commands: &mut CommandQueue,
) -> AfterQuery {
    let mut last_input = Instant::now();
    let mut must_end: Option<Instant> = None;
    let mut is_dropped = false;
    let mut timer = Box::pin(sleep_until(turn.deadline(last_input)));
    let ending = loop {
        let deadline = turn.deadline(last_input);
        let deadline = must_end.map_or(deadline, |end| end.min(deadline));
        // A timer that fires too early is reset, so most inputs do not touch it.
        if deadline < timer.deadline() || timer.is_elapsed() {
            timer.as_mut().reset(deadline);
        }
        let mut stop = false;
        tokio::select! {
            biased;
            () = query.dropped.cancelled(), if !is_dropped => {
                is_dropped = true;
                stop = true;
            }
            command = commands.recv() => match command {
                Some(ProgramCommand::Interrupt(reply)) => {
                    stop = true;
                    let _ = reply.send(Ok(()));
                }
                Some(ProgramCommand::Steer(text, reply)) => turn.steer(text, reply),
                Some(ProgramCommand::Query(other)) => other.refuse(),
                Some(ProgramCommand::Dispose(done)) => {
                    turn.abandon().await;
                    return AfterQuery::Disposed(done);
                }
                None => {
                    turn.abandon().await;
                    return AfterQuery::Unusable;
                }
            },
            input = turn.recv() => {
                last_input = Instant::now();
                let mut events = Vec::new();
                let step = turn.handle(input, &mut events);
                let has_news = !events.is_empty();
                query.send(events);
                match step {
                    // A reader on the same thread receives the events before more input is read.
                    TurnStep::Continue if has_news => tokio::task::yield_now().await,
                    TurnStep::Continue => {}
                    TurnStep::Interrupt => stop = true,
                    TurnStep::End(ending) => break ending,
                }
            }
            () = timer.as_mut() => {
                if timer.deadline() >= deadline {
                    break turn.on_deadline(must_end.is_some());
                }
            }
        }
        if stop && must_end.is_none() {
            must_end = Some(Instant::now() + INTERRUPT_LIMIT);
            turn.interrupt();
        }
    };
    let mut events = Vec::new();
    let end = turn.finish(ending, &mut events).await;
    query.send(events);
    query.end(end.result);
    if end.is_usable {
        AfterQuery::Ready
    } else {
        AfterQuery::Unusable
    }
}
