//! [`CodexTurn`], one turn of Codex from its prompt to its end.

use std::time::Duration;

use autonoe_backend::{ProgramTurn, TurnEnd, TurnStep};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentError, SessionSpec, StreamEvent};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::start::{Connection, Conversation, read_error};
use super::transport::{Answer, EndOfInput};
use crate::launch::CodexOptions;
use crate::outcome::HostAction;
use crate::wire::{Outgoing, RequestId, ThreadMessage, TurnRef};

/// Time limit for the program to end the commands that still run.
const CLEANUP_LIMIT: Duration = Duration::from_secs(30);

/// A running turn.
pub(crate) struct CodexTurn<'a> {
    connection: &'a mut Connection,
    options: &'a CodexOptions,
    max_turns: Option<u32>,
    thread: String,
    /// Whether an interrupt must still be sent to the program.
    is_interrupt_pending: bool,
    /// The answer to the prompt.
    prompt_answer: Option<oneshot::Receiver<Answer>>,
    /// Steering messages that wait for the turn to start.
    waiting: Vec<(String, SteeringReply)>,
    /// Closed at the end of the turn, which refuses steering messages without an answer.
    end: watch::Sender<()>,
}

/// The reason why a turn is over.
pub(crate) enum Ending {
    /// The program reported the end of the turn.
    Over,
    /// The program has ended.
    Exited,
    /// The program did not stop after an interrupt; its shutdown stops the turn.
    Stopped,
    /// The session cannot continue.
    Failed(AgentError),
}

impl<'a> CodexTurn<'a> {
    /// Sends `prompt`; `None` if there is no conversation.
    pub(super) fn start(
        connection: &'a mut Connection,
        options: &'a CodexOptions,
        spec: &SessionSpec,
        prompt: &str,
    ) -> Option<Self> {
        let conversation = connection.conversation.as_mut()?;
        conversation.translator.start_turn();
        conversation.answers.begin_turn();
        let (thread, effort) = (conversation.thread.clone(), conversation.effort);
        let prompt_answer =
            connection.request(|id| Outgoing::start_turn(id, &thread, prompt, effort));
        Some(Self {
            connection,
            options,
            max_turns: spec.max_turns,
            thread,
            is_interrupt_pending: false,
            prompt_answer: Some(prompt_answer),
            waiting: Vec::new(),
            end: watch::Sender::default(),
        })
    }

    /// Returns the error if the program refused the prompt.
    fn refusal(&mut self) -> Option<AgentError> {
        let answer = self.prompt_answer.as_mut()?.try_recv().ok()?;
        self.prompt_answer = None;
        let error = answer.err()?;
        Some(AgentError::new(
            AgentErrorKind::Protocol,
            format!("Codex did not accept the prompt: {error}"),
        ))
    }

    /// Returns whether the turn has reached its limit of model calls and would continue.
    ///
    /// The tool calls of the last model call are finished then. The program may have started
    /// another model call, which the interrupt cancels.
    fn is_beyond_limit(&self) -> bool {
        let (Some(most), Some(conversation)) = (self.max_turns, &self.connection.conversation)
        else {
            return false;
        };
        conversation.translator.model_call_counter().exceeds(most)
    }

    fn stop(&mut self, action: HostAction) {
        if let Some(Conversation { translator, .. }) = &mut self.connection.conversation {
            translator.record_stop(action);
        }
    }

    /// Sends waiting steering messages and a pending interrupt, once the turn has an id.
    fn flush(&mut self) {
        let Some(session) = self.session() else {
            return;
        };
        for (text, reply) in std::mem::take(&mut self.waiting) {
            let steer = |id| Outgoing::steer(&RequestId::Number(id), &session, &text);
            let answer = self.connection.request(steer);
            tokio::spawn(report_steering(answer, self.end.subscribe(), reply));
        }
        if std::mem::take(&mut self.is_interrupt_pending) {
            let _answer = self
                .connection
                .request(|id| Outgoing::interrupt(id, &session));
        }
    }

    fn session(&self) -> Option<TurnRef> {
        let turn = self.connection.conversation.as_ref()?.translator.turn()?;
        Some(TurnRef {
            thread: self.thread.clone(),
            turn: turn.to_owned(),
        })
    }

    /// Ends the commands that a finished turn left running. Returns whether the program did so.
    async fn clean(&mut self, events: &mut Vec<StreamEvent>) -> bool {
        if let Some(Conversation { answers, .. }) = &mut self.connection.conversation {
            answers.end_turn();
        }
        let thread = &self.thread;
        let mut cleaned = self
            .connection
            .request(|id| Outgoing::clean_terminals(id, thread));
        let cleaning = async {
            while cleaned.try_recv().is_err() {
                let message = self.connection.transport.recv().await?;
                self.connection.handle(message, events);
            }
            Ok::<(), EndOfInput>(())
        };
        matches!(
            tokio::time::timeout(CLEANUP_LIMIT, cleaning).await,
            Ok(Ok(()))
        )
    }
}

impl ProgramTurn for CodexTurn<'_> {
    type Input = Result<ThreadMessage, EndOfInput>;
    type Ending = Ending;

    async fn recv(&mut self) -> Self::Input {
        self.connection.transport.recv().await
    }

    fn handle(&mut self, input: Self::Input, events: &mut Vec<StreamEvent>) -> TurnStep<Ending> {
        match input {
            Ok(message) => self.connection.handle(message, events),
            Err(EndOfInput::Ended) => return TurnStep::End(Ending::Exited),
            Err(silence) => return TurnStep::End(Ending::Failed(read_error(&silence))),
        }
        if let Some(error) = self
            .refusal()
            .or_else(|| self.connection.ungated_call_error())
        {
            return TurnStep::End(Ending::Failed(error));
        }
        self.flush();
        let conversation = self.connection.conversation.as_ref();
        if conversation.is_none_or(|conversation| conversation.translator.is_over()) {
            return TurnStep::End(Ending::Over);
        }
        if self.is_beyond_limit() {
            self.stop(HostAction::MaxTurns);
            return TurnStep::Interrupt;
        }
        TurnStep::Continue
    }

    fn deadline(&mut self, last_input: Instant) -> Instant {
        last_input + self.options.program.silence_limit
    }

    fn on_deadline(&mut self, is_interrupted: bool) -> Ending {
        if is_interrupted {
            return Ending::Stopped;
        }
        let limit = self.options.program.silence_limit;
        let message = format!("Codex sent nothing for {limit:?}");
        Ending::Failed(AgentError::new(AgentErrorKind::Timeout, message))
    }

    fn interrupt(&mut self) {
        self.stop(HostAction::Interrupted);
        if let Some(Conversation { answers, .. }) = &mut self.connection.conversation {
            answers.end_turn();
        }
        self.is_interrupt_pending = true;
        self.flush();
    }

    fn steer(&mut self, text: String, reply: SteeringReply) {
        self.waiting.push((text, reply));
        self.flush();
    }

    async fn finish(&mut self, ending: Ending, events: &mut Vec<StreamEvent>) -> TurnEnd {
        for (_, reply) in self.waiting.drain(..) {
            refuse_steering(reply);
        }
        let (exit_description, is_usable) = match ending {
            Ending::Failed(error) => return TurnEnd::unusable(Err(error)),
            Ending::Exited => (Some(self.connection.exit_description().await), false),
            Ending::Stopped => (None, false),
            Ending::Over => {
                // If the program does not end its commands, they end with its shutdown.
                let is_cleaned = self.clean(events).await;
                if let Some(error) = self.connection.ungated_call_error() {
                    return TurnEnd::unusable(Err(error));
                }
                (None, is_cleaned)
            }
        };
        let Some(Conversation { translator, .. }) = &mut self.connection.conversation else {
            let error = AgentError::new(AgentErrorKind::Protocol, "there is no conversation");
            return TurnEnd::unusable(Err(error));
        };
        let (last, result) = translator.finish(exit_description);
        events.extend(last);
        TurnEnd { result, is_usable }
    }
}

/// Receives the result of a steering message.
type SteeringReply = oneshot::Sender<Result<(), AgentError>>;

/// Reports whether the program accepts a steering message before the end of the turn.
async fn report_steering(
    answer: oneshot::Receiver<Answer>,
    mut end: watch::Receiver<()>,
    reply: SteeringReply,
) {
    let answer = tokio::select! {
        biased;
        answer = answer => answer.ok(),
        _ = end.changed() => None,
    };
    let Some(answer) = answer else {
        return refuse_steering(reply);
    };
    // The caller may have stopped waiting.
    let _ = reply.send(answer.map(drop).map_err(|error| {
        let reason = format!("Codex did not accept the message: {error}");
        AgentError::new(AgentErrorKind::Other, reason)
    }));
}

fn refuse_steering(reply: SteeringReply) {
    let reason = "the turn ended before the message was accepted";
    let _ = reply.send(Err(AgentError::new(AgentErrorKind::Other, reason)));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn a_steering_message_is_delivered_when_the_program_accepts_it() {
        for (answer, is_accepted) in [
            (Some(Ok(Value::Null)), true),
            (Some(Err(String::new())), false),
            (None, false),
        ] {
            let (program, received) = oneshot::channel();
            let (reply, result) = oneshot::channel();
            if let Some(answer) = answer.clone() {
                program.send(answer).expect("it is waited for");
            } else {
                drop(program);
            }
            let turn = watch::Sender::default();

            report_steering(received, turn.subscribe(), reply).await;

            let result = result.await.expect("it is settled");
            assert_eq!(result.is_ok(), is_accepted, "{answer:?}");
        }
    }

    #[tokio::test]
    async fn a_steering_message_without_an_answer_is_refused_at_the_end_of_the_turn() {
        let (_program, received) = oneshot::channel();
        let (reply, result) = oneshot::channel();
        let turn = watch::Sender::default();
        let reported = tokio::spawn(report_steering(received, turn.subscribe(), reply));

        drop(turn);

        reported.await.expect("it ends");
        let error = result.await.expect("it is settled").expect_err("no answer");
        assert!(error.to_string().contains("the turn ended"), "{error}");
    }
}
