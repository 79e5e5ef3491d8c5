//! [`ClaudeTurn`], one turn of Claude Code from its prompt to its end.

use std::time::Duration;

use autonoe_backend::{ProgramTurn, TurnEnd, TurnStep, wait_for_exit};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentError, StreamEvent};
use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::start::Connection;
use super::transport::EndOfInput;
use crate::events::SessionPhase;
use crate::launch::ClaudeOptions;
use crate::outcome::{ApiFailure, HostAction};
use crate::wire::{Line, OutgoingLine, Request};

/// Time limit for the start of a turn that the program starts on its own.
const NEXT_TURN_LIMIT: Duration = Duration::from_secs(5);

/// A running turn.
pub(crate) struct ClaudeTurn<'a> {
    connection: &'a mut Connection,
    options: &'a ClaudeOptions,
    /// Since when only background commands run.
    background_since: Option<Instant>,
    /// Whether the model refuses the credentials, which the program would retry for minutes.
    has_login_failed: bool,
}

/// The reason why a turn is over.
pub(crate) enum Ending {
    /// The program reported the end, or starts no turn of its own.
    Over,
    /// The program has ended.
    Exited,
    /// The host stops the turn together with the program.
    Stopped,
    /// The session cannot continue.
    Failed(AgentError),
}

impl<'a> ClaudeTurn<'a> {
    /// Sends `prompt`.
    pub(super) fn start(
        connection: &'a mut Connection,
        options: &'a ClaudeOptions,
        prompt: &str,
    ) -> Self {
        connection.translator.start_query();
        connection.transport.send(OutgoingLine::prompt(prompt));
        Self {
            connection,
            options,
            background_since: None,
            has_login_failed: false,
        }
    }

    fn is_over(&self) -> bool {
        self.connection.translator.phase() == SessionPhase::Over
    }

    /// Returns whether the agent is done and only background commands run. A sub-agent in the
    /// background still works on the task.
    fn only_commands_run(&self) -> bool {
        let translator = &self.connection.translator;
        translator.phase() == SessionPhase::Waiting && !translator.turns().tasks().any_agent()
    }

    /// Reports the background commands that end with the session.
    fn stopped_commands(&self) -> Vec<StreamEvent> {
        let Some(since) = self.background_since else {
            return Vec::new();
        };
        let seconds = since.elapsed().as_secs();
        let tasks = self.connection.translator.turns().tasks().iter();
        let report = |(id, task): (&str, &crate::events::Task)| {
            let description = task.description.as_deref().unwrap_or(id);
            StreamEvent::warning(format!(
                "stopped a background command {seconds} s after the agent's last turn: {description}"
            ))
        };
        tasks.map(report).collect()
    }
}

impl ProgramTurn for ClaudeTurn<'_> {
    type Input = Result<Vec<Line>, EndOfInput>;
    type Ending = Ending;

    async fn recv(&mut self) -> Self::Input {
        self.connection.transport.recv().await
    }

    fn handle(&mut self, input: Self::Input, events: &mut Vec<StreamEvent>) -> TurnStep<Ending> {
        let lines = match input {
            Ok(lines) => lines,
            Err(EndOfInput::Ended | EndOfInput::NotTheProtocol) => {
                return TurnStep::End(Ending::Exited);
            }
            Err(EndOfInput::TooLong(error)) => {
                let error = AgentError::new(AgentErrorKind::Protocol, error.to_string());
                return TurnStep::End(Ending::Failed(error));
            }
        };
        let mut lines = lines.into_iter();
        // The number of lines per read must not matter: lines after the end are not about this
        // turn.
        while let Some(line) = lines.next() {
            let handled = self.connection.handle(&line, events);
            if handled.is_err() || self.is_over() {
                self.connection.transport.put_back(lines);
                let ending = handled.map_or_else(Ending::Failed, |()| Ending::Over);
                return TurnStep::End(ending);
            }
        }
        let retrying = self.connection.translator.turns().retrying();
        self.has_login_failed =
            retrying.is_some_and(|call| call.failure == ApiFailure::Authentication);
        if self.has_login_failed {
            TurnStep::Interrupt
        } else {
            TurnStep::Continue
        }
    }

    fn deadline(&mut self, last_input: Instant) -> Instant {
        let is_background = self.only_commands_run();
        let since = self.background_since.unwrap_or_else(Instant::now);
        self.background_since = is_background.then_some(since);
        match self.background_since {
            Some(since) => since + self.options.background_grace,
            None if self.connection.translator.phase() == SessionPhase::Settling => {
                last_input + NEXT_TURN_LIMIT
            }
            None => last_input + self.options.program.silence_limit,
        }
    }

    fn on_deadline(&mut self, is_interrupted: bool) -> Ending {
        match self.connection.translator.phase() {
            SessionPhase::Settling => Ending::Over,
            _ if is_interrupted => Ending::Stopped,
            SessionPhase::Waiting => {
                // The turn is over; background commands end with the program.
                self.connection.translator.record_stop(HostAction::Stopped);
                Ending::Stopped
            }
            SessionPhase::Working | SessionPhase::Over => {
                let limit = self.options.program.silence_limit;
                let message = format!("Claude Code sent nothing for {limit:?}");
                Ending::Failed(AgentError::new(AgentErrorKind::Timeout, message))
            }
        }
    }

    fn interrupt(&mut self) {
        self.connection
            .translator
            .record_stop(if self.has_login_failed {
                HostAction::GaveUp
            } else {
                HostAction::Stopped
            });
        self.connection.request(&Request::Interrupt);
    }

    fn steer(&mut self, text: String, reply: oneshot::Sender<Result<(), AgentError>>) {
        self.connection.transport.send(OutgoingLine::prompt(&text));
        let _ = reply.send(Ok(()));
    }

    async fn finish(&mut self, ending: Ending, events: &mut Vec<StreamEvent>) -> TurnEnd {
        let is_usable = matches!(ending, Ending::Over);
        let exit = match ending {
            Ending::Failed(error) => return TurnEnd::unusable(Err(error)),
            Ending::Over => None,
            Ending::Exited => wait_for_exit(&self.connection.transport.process).await,
            Ending::Stopped => {
                events.extend(self.stopped_commands());
                None
            }
        };
        let stderr = self.connection.transport.process.stderr_tail();
        let finished = self
            .connection
            .translator
            .finish(exit, &stderr, Timestamp::now());
        events.extend(finished.events);
        TurnEnd {
            result: finished.end,
            is_usable,
        }
    }
}
