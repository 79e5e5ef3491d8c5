//! One query: from its prompt to its end.

use std::pin::Pin;
use std::time::Duration;

use autonoe_backend::{After, Command, Commands, Query};
use autonoe_core::{AgentError, AgentErrorKind, StreamEvent};
use jiff::Timestamp;
use tokio::time::{Instant, Sleep, sleep};

use super::start::Live;
use super::talk::Silence;
use crate::events::Standing;
use crate::launch::ClaudeOptions;
use crate::outcome::{ApiFailure, HostAction};
use crate::wire::{OutgoingLine, Request};

/// How long a turn that was interrupted may take to end.
const END_OF_TURN: Duration = Duration::from_secs(10);

/// How long a turn may take to begin that the program starts by itself.
const NEXT_TURN: Duration = Duration::from_secs(5);

/// A query under way.
pub(super) struct Turn<'l> {
    live: &'l mut Live,
    options: &'l ClaudeOptions,
    /// When something was heard of the program last.
    heard: Instant,
    /// Since when only commands in the background run.
    background_since: Option<Instant>,
    /// Wakes when it may have been silent for too long.
    watch: Pin<Box<Sleep>>,
    /// When the turn must have ended, once it was interrupted.
    ends_by: Option<Instant>,
    is_dropped: bool,
}

/// What happened.
enum Happened {
    Said(Vec<crate::wire::Line>),
    Fell(Silence),
    Told(Option<Command>),
    Dropped,
    /// A time is over.
    Late,
}

impl<'l> Turn<'l> {
    pub(super) fn new(live: &'l mut Live, options: &'l ClaudeOptions) -> Self {
        Self {
            live,
            options,
            heard: Instant::now(),
            background_since: None,
            watch: Box::pin(sleep(options.silence_limit)),
            ends_by: None,
            is_dropped: false,
        }
    }

    /// Works on `query` to its end.
    pub(super) async fn run(mut self, query: Query, commands: &mut Commands) -> After {
        self.live.translator.prompted();
        self.live.talk.send(OutgoingLine::prompt(&query.prompt));
        loop {
            match self.next(&query, commands).await {
                Happened::Said(lines) => {
                    self.heard = Instant::now();
                    let mut events = Vec::new();
                    let mut lines = lines.into_iter();
                    // How many lines came at once must not matter: what comes after the end is not
                    // about this query.
                    let mut taken = Ok(());
                    while let Some(line) = lines.next() {
                        taken = self.live.take(&line, &mut events);
                        if taken.is_err() || self.is_over() {
                            self.live.talk.put_back(lines);
                            break;
                        }
                    }
                    let has_news = !events.is_empty();
                    query.tell(events);
                    if let Err(error) = taken {
                        query.end(Err(error));
                        return After::Useless;
                    }
                    self.give_up_on_credentials();
                    if self.is_over() {
                        return self.finish(query, None);
                    }
                    if has_news {
                        // Who listens on the same thread gets its turn before more is read.
                        tokio::task::yield_now().await;
                    }
                }
                Happened::Fell(Silence::Ended | Silence::Nonsense) => {
                    let exit = self.live.exit().await;
                    self.finish(query, exit);
                    return After::Useless;
                }
                Happened::Fell(Silence::TooLong(error)) => {
                    let error = AgentError::new(AgentErrorKind::Protocol, error.to_string());
                    query.end(Err(error));
                    return After::Useless;
                }
                Happened::Dropped => {
                    self.is_dropped = true;
                    self.interrupt();
                }
                Happened::Told(Some(Command::Dispose(done))) => return After::Disposed(done),
                Happened::Told(Some(command)) => self.told(command),
                Happened::Told(None) => return After::Useless,
                Happened::Late => match self.late() {
                    Some(error) => {
                        query.end(Err(error));
                        return After::Useless;
                    }
                    None if self.live.translator.standing() == Standing::Settling => {
                        return self.finish(query, None);
                    }
                    None => {
                        query.tell(self.stopped_commands());
                        self.finish(query, None);
                        return After::Useless;
                    }
                },
            }
        }
    }

    fn is_over(&self) -> bool {
        self.live.translator.standing() == Standing::Over
    }

    async fn next(&mut self, query: &Query, commands: &mut Commands) -> Happened {
        loop {
            let is_background = self.only_commands_run();
            let since = self.background_since.unwrap_or_else(Instant::now);
            self.background_since = is_background.then_some(since);
            let late = self.deadline();
            // A watch that wakes too early looks again, so it is not wound with every line.
            if late < self.watch.deadline() || self.watch.is_elapsed() {
                self.watch.as_mut().reset(late);
            }
            tokio::select! {
                biased;
                () = query.dropped.cancelled(), if !self.is_dropped => return Happened::Dropped,
                command = commands.recv() => return Happened::Told(command),
                lines = self.live.talk.next() => return match lines {
                    Ok(lines) => Happened::Said(lines),
                    Err(silence) => Happened::Fell(silence),
                },
                () = self.watch.as_mut() => if self.watch.deadline() >= late {
                    return Happened::Late;
                },
            }
        }
    }

    /// Returns how long to wait for the next word.
    fn deadline(&self) -> Instant {
        let limit = match self.live.translator.standing() {
            Standing::Settling => NEXT_TURN,
            Standing::Waiting | Standing::Working | Standing::Over => self.options.silence_limit,
        };
        let settled = match self.background_since {
            Some(since) => since + self.options.background_grace,
            None => self.heard + limit,
        };
        self.ends_by.unwrap_or(settled).min(settled)
    }

    /// Returns whether the agent is done and only commands in the background run. A sub-agent in
    /// the background still works on the task.
    fn only_commands_run(&self) -> bool {
        let translator = &self.live.translator;
        translator.standing() == Standing::Waiting && !translator.turns().tasks().any_agent()
    }

    /// Reports the commands in the background that end with the session.
    fn stopped_commands(&self) -> Vec<StreamEvent> {
        let Some(since) = self.background_since else {
            return Vec::new();
        };
        let seconds = since.elapsed().as_secs();
        let tasks = self.live.translator.turns().tasks().iter();
        let report = |(id, task): (&str, &crate::events::Task)| {
            let what = task.description.as_deref().unwrap_or(id);
            StreamEvent::warning(format!(
                "stopped a background command {seconds} s after the agent's last turn: {what}"
            ))
        };
        tasks.map(report).collect()
    }

    /// Says what it means that nothing was heard for so long; `None` if the session just ends.
    fn late(&mut self) -> Option<AgentError> {
        match self.live.translator.standing() {
            _ if self.ends_by.is_some() => return None,
            Standing::Settling => return None,
            Standing::Waiting => {
                // The turn is over; what it left in the background ends with the program.
                self.live.translator.stopped(HostAction::Stopped);
                return None;
            }
            Standing::Working | Standing::Over => {}
        }
        let limit = self.options.silence_limit;
        Some(AgentError::new(
            AgentErrorKind::Timeout,
            format!("Claude Code said nothing for {limit:?}"),
        ))
    }

    fn told(&mut self, command: Command) {
        match command {
            Command::Interrupt(reply) => {
                self.interrupt();
                let _ = reply.send(Ok(()));
            }
            Command::Steer(text, reply) => {
                self.live.talk.send(OutgoingLine::prompt(&text));
                let _ = reply.send(Ok(()));
            }
            Command::Query(other) => other.refuse(),
            // It is seen before.
            Command::Dispose(_) => {}
        }
    }

    /// Stops a turn whose calls are refused for their credentials: the program would try for minutes.
    fn give_up_on_credentials(&mut self) {
        let retrying = self.live.translator.turns().retrying();
        let is_refused = retrying.is_some_and(|call| call.failure == ApiFailure::Authentication);
        if is_refused && self.ends_by.is_none() {
            self.stop(HostAction::GaveUp);
        }
    }

    fn interrupt(&mut self) {
        self.stop(HostAction::Stopped);
    }

    fn stop(&mut self, action: HostAction) {
        if self.ends_by.is_none() {
            self.ends_by = Some(Instant::now() + END_OF_TURN);
            self.live.translator.stopped(action);
            let (id, _answer) = self.live.pending.ask();
            self.live.talk.send(Request::Interrupt.to_line(&id));
        }
    }

    fn finish(&mut self, query: Query, exit: Option<crate::outcome::Exit>) -> After {
        let stderr = self.live.talk.process.stderr_tail();
        let finished = self.live.translator.finish(exit, &stderr, Timestamp::now());
        query.tell(finished.events);
        query.end(finished.end);
        After::Ready
    }
}
