//! [`AcpTurn`], one turn of an agent from its prompt to its end.

use std::borrow::Cow;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, PromptRequest, TextContent,
};
use autonoe_backend::{
    DeniedCall, Program, ProgramOptions, ProgramTurn, TurnEnd, TurnStep, shutdown_program,
};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentError, SessionSpec, StreamEvent};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::answers::Answers;
use super::connection::{Incoming, PendingAnswer};
use super::start::{RunningAgent, shutdown_policy, within_start_limit};
use crate::events::Translator;
use crate::launch::{AcpOptions, FOLDER, launch};
use crate::outcome::{Ending, decide};
use crate::wire::{Permission, Update, is_about};

/// Time limit for an agent that is shut down to end its tools by itself.
const TOOL_END_LIMIT: Duration = Duration::from_secs(2);

/// Time limit for reading the messages that an agent sent before it closed its output.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// A running turn.
pub(crate) struct AcpTurn<'a> {
    agent: &'a mut RunningAgent,
    options: &'a AcpOptions,
    spec: &'a SessionSpec,
    session: AgentSessionId,
    answers: Answers,
    /// The answer to the prompt.
    answer: PendingAnswer,
    /// The deadline of the last message, once the output of the agent is closed.
    closed: Option<Instant>,
    /// Whether the channel of messages is closed.
    is_silent: bool,
    is_stopped: bool,
}

/// An input of a turn.
pub(crate) enum Input {
    Sent(Option<Incoming>),
    Denied(DeniedCall),
    Answered(Result<Value, Error>),
}

/// The reason why a turn is over.
pub(crate) enum TurnEnding {
    Answered(Result<Value, Error>),
    /// The agent closed its output.
    Closed,
    /// The agent did not stop after an interrupt.
    NotStopped,
    Silent,
}

impl<'a> AcpTurn<'a> {
    /// Sends `prompt` to `session`.
    pub(super) fn start(
        agent: &'a mut RunningAgent,
        options: &'a AcpOptions,
        spec: &'a SessionSpec,
        session: AgentSessionId,
        prompt: &str,
    ) -> Self {
        discard_history(agent);
        agent.translator.start_turn();
        let text = ContentBlock::Text(TextContent::new(escape_command(prompt)));
        let prompt = PromptRequest::new(session.as_str().to_owned(), vec![text]);
        let answer = agent.connection.request("session/prompt", prompt);
        Self {
            agent,
            options,
            spec,
            session,
            answers: Answers::new(spec.gate.clone(), options.program.answer_limit),
            answer,
            closed: None,
            is_silent: false,
            is_stopped: false,
        }
    }

    fn handle_incoming(&mut self, incoming: Incoming, events: &mut Vec<StreamEvent>) {
        let session = self.session.as_str();
        match incoming {
            Incoming::Update(params) if is_about(&params, session) => {
                tracing::trace!(%params, "update from the agent");
                let update = Update::parse(&params);
                events.extend(self.agent.translator.observe(update));
            }
            Incoming::Update(_) => tracing::debug!("ignored an update of another session"),
            Incoming::Permission(params, responder) => {
                let request = Permission::parse(&params);
                let call_update = request.call.as_ref();
                let Some(call_update) = call_update.filter(|_| is_about(&params, session)) else {
                    Answers::refuse(&request, *responder);
                    return;
                };
                let (described, new_events) =
                    self.agent.translator.permission_requested(call_update);
                events.extend(new_events);
                let described = described.with_directory(&self.spec.cwd);
                let (name, input) = (described.name, described.input);
                let call = self
                    .spec
                    .tool_call(&call_update.id, name, input)
                    .with_kind(described.kind);
                self.answers.answer(request, call, *responder);
            }
            // Handled by the caller.
            Incoming::Closed => {}
        }
    }

    /// Adds the last events, and returns the result of the turn.
    fn conclude(
        &mut self,
        ending: &Ending,
        answer: Option<&Value>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<StreamEvent, AgentError> {
        while let Some(denied) = self.answers.try_denied() {
            events.extend(
                self.agent
                    .translator
                    .call_denied(&denied.call, &denied.reason),
            );
        }
        events.extend(self.agent.translator.end_turn());
        if let Some(tokens) = answer.and_then(|answer| self.agent.usage_tracker.turn_usage(answer))
        {
            events.push(StreamEvent::usage(tokens, None));
        }
        let decided = decide(ending, self.is_stopped);
        decided.map(|outcome| StreamEvent::end(outcome, None))
    }
}

impl ProgramTurn for AcpTurn<'_> {
    type Input = Input;
    type Ending = TurnEnding;

    async fn recv(&mut self) -> Input {
        tokio::select! {
            biased;
            denied = self.answers.denied() => Input::Denied(denied),
            // Messages from before the answer are handled before it.
            incoming = self.agent.connection.recv(), if !self.is_silent => Input::Sent(incoming),
            answer = &mut self.answer => Input::Answered(answer),
        }
    }

    fn handle(&mut self, input: Input, events: &mut Vec<StreamEvent>) -> TurnStep<TurnEnding> {
        match input {
            Input::Sent(None) => self.is_silent = true,
            // The answer to the prompt fails after all earlier messages.
            Input::Sent(Some(Incoming::Closed)) => {
                self.closed = Some(Instant::now() + DRAIN_LIMIT);
            }
            Input::Sent(Some(incoming)) => self.handle_incoming(incoming, events),
            Input::Denied(DeniedCall { call, reason }) => {
                events.extend(self.agent.translator.call_denied(&call, &reason));
            }
            Input::Answered(answer) => return TurnStep::End(TurnEnding::Answered(answer)),
        }
        TurnStep::Continue
    }

    fn deadline(&mut self, last_input: Instant) -> Instant {
        let silent = last_input + self.options.program.silence_limit;
        self.closed.map_or(silent, |closed| closed.min(silent))
    }

    fn on_deadline(&mut self, is_interrupted: bool) -> TurnEnding {
        match (self.closed, is_interrupted) {
            (Some(_), _) => TurnEnding::Closed,
            (None, true) => TurnEnding::NotStopped,
            (None, false) => TurnEnding::Silent,
        }
    }

    /// Requests the agent to end its turn, and cancels its open permission requests.
    fn interrupt(&mut self) {
        self.is_stopped = true;
        let cancel = CancelNotification::new(self.session.as_str().to_owned());
        self.agent.connection.notify("session/cancel", cancel);
        self.answers.stop();
    }

    fn steer(&mut self, _text: String, _reply: oneshot::Sender<Result<(), AgentError>>) {
        // The client refuses it: the protocol has no message for it.
    }

    async fn finish(&mut self, ending: TurnEnding, events: &mut Vec<StreamEvent>) -> TurnEnd {
        let (ending, answer) = match ending {
            TurnEnding::Answered(Ok(answer)) => {
                let ending = Ending::Stopped {
                    reason: answer["stopReason"].as_str().unwrap_or_default().to_owned(),
                    ends_without_text: self.agent.translator.ends_without_text(&answer),
                };
                (ending, Some(answer))
            }
            TurnEnding::Answered(Err(error)) => (self.agent.ending(error).await, None),
            TurnEnding::Closed => (self.agent.exited_ending().await, None),
            TurnEnding::NotStopped => {
                let description = "the agent did not end its turn".to_owned();
                (Ending::Exited { description }, None)
            }
            TurnEnding::Silent => {
                let limit = self.options.program.silence_limit;
                let doing = if self.agent.translator.has_running_call() {
                    "while one of its tools was running"
                } else {
                    "while its model was working"
                };
                let message = format!("the agent sent nothing for {limit:?} {doing}");
                events.extend(self.agent.translator.end_turn());
                let error = AgentError::new(AgentErrorKind::Timeout, message);
                return TurnEnd::unusable(Err(error));
            }
        };
        TurnEnd {
            is_usable: !matches!(ending, Ending::Exited { .. }),
            result: self.conclude(&ending, answer.as_ref(), events),
        }
    }

    async fn abandon(mut self) {
        self.interrupt();
        let _ = timeout(TOOL_END_LIMIT, self.answer).await;
    }
}

/// Discards updates from before the prompt, which are history, and refuses permission requests.
fn discard_history(agent: &mut RunningAgent) {
    while let Some(incoming) = agent.connection.try_recv() {
        match incoming {
            Incoming::Permission(request, responder) => {
                Answers::refuse(&Permission::parse(&request), *responder);
            }
            Incoming::Update(_) => {}
            Incoming::Closed => break,
        }
    }
}

/// Returns `prompt` in a form that no agent takes for one of its own commands, such as `/logout`.
fn escape_command(prompt: &str) -> Cow<'_, str> {
    if prompt.trim_start().starts_with(['/', '$']) {
        Cow::Owned(format!("Task:\n{prompt}"))
    } else {
        Cow::Borrowed(prompt)
    }
}

impl Program for RunningAgent {
    type Options = AcpOptions;

    type Turn<'a> = AcpTurn<'a>;

    const NAME: &str = "the agent";

    const NO_STEERING: Option<&str> =
        Some("the Agent Client Protocol cannot send messages to an agent during its turn");

    const FOLDER: &str = FOLDER;

    fn program_options(options: &AcpOptions) -> &ProgramOptions {
        &options.program
    }

    async fn launch(options: &AcpOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        let servers = spec.mcp_servers.keys().cloned().collect();
        let translator = Translator::new(options.preset.dialect(), servers);
        Self::start(options, launch(options, spec).await?, translator).await
    }

    async fn ready(&mut self, options: &AcpOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        within_start_limit(options, async {
            let answer = self.initialize(options).await?;
            self.authenticate(options, spec).await?;
            self.begin(options, spec, &answer).await
        })
        .await
    }

    fn start_turn<'a>(
        &'a mut self,
        options: &'a AcpOptions,
        spec: &'a SessionSpec,
        prompt: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<AcpTurn<'a>, AgentError> {
        let Some(session) = self.session.clone() else {
            let message = "the agent has no session";
            return Err(AgentError::new(AgentErrorKind::Protocol, message));
        };
        events.push(StreamEvent::started(session.clone(), self.model.clone()));
        Ok(AcpTurn::start(self, options, spec, session, prompt))
    }

    async fn end(self) {
        // Without answers, nothing is allowed any more.
        drop(self.connection);
        shutdown_program(Self::NAME, self.process, shutdown_policy()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_never_a_command_of_the_agent() {
        for (prompt, sent) in [
            ("Say hello.", "Say hello."),
            ("a / b", "a / b"),
            ("/logout", "Task:\n/logout"),
            (" \n$ ls", "Task:\n \n$ ls"),
        ] {
            assert_eq!(escape_command(prompt), sent);
        }
    }
}
