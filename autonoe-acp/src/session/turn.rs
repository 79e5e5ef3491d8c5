//! One query: from its prompt to its end.

use std::borrow::Cow;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, PromptRequest, TextContent,
};
use autonoe_backend::{After, Command, Commands, Query};
use autonoe_core::{AgentError, AgentErrorKind, AgentSessionId, SessionSpec, StreamEvent};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

use super::answers::{Answers, Refused};
use super::connection::{Answered, Incoming};
use super::start::Live;
use crate::launch::AcpOptions;
use crate::outcome::{Ending, decide};
use crate::wire::{Permission, Update, is_about};

/// How long a turn that was stopped may take to end.
const END_OF_TURN: Duration = Duration::from_secs(10);

/// How long an agent that is to be ended may take to end its tools by itself.
const END_OF_TOOLS: Duration = Duration::from_secs(2);

/// How long it may take to hear all that an agent said before it closed its output.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A query under way.
pub(super) struct Turn<'l> {
    live: &'l mut Live,
    options: &'l AcpOptions,
    spec: &'l SessionSpec,
    answers: Answers,
    /// When something was heard of the agent last.
    heard: Instant,
    /// When the turn must have ended, once it was stopped.
    ends_by: Option<Instant>,
    /// When the last word must have come, once the output of the agent is closed.
    closed: Option<Instant>,
    /// Nothing can come any more.
    is_silent: bool,
    is_dropped: bool,
}

/// What happened.
enum Happened {
    Sent(Option<Incoming>),
    Refused(Refused),
    Answered(Result<Value, Error>),
    Told(Option<Command>),
    Dropped,
    /// A time is over.
    Late,
}

impl<'l> Turn<'l> {
    pub(super) fn new(live: &'l mut Live, options: &'l AcpOptions, spec: &'l SessionSpec) -> Self {
        Self {
            live,
            options,
            spec,
            answers: Answers::new(spec.gate.clone(), options.answer_limit),
            heard: Instant::now(),
            ends_by: None,
            closed: None,
            is_silent: false,
            is_dropped: false,
        }
    }

    /// Works on `query` to its end.
    pub(super) async fn run(mut self, query: Query, commands: &mut Commands) -> After {
        let Some(session) = self.live.session.clone() else {
            let message = "the session has no name";
            query.end(Err(AgentError::new(AgentErrorKind::Protocol, message)));
            return After::Useless;
        };
        self.forget_what_came_before();
        self.live.translator.prompted();
        query.tell([StreamEvent::started(
            session.clone(),
            self.live.model.clone(),
        )]);
        let text = ContentBlock::Text(TextContent::new(no_command(&query.prompt)));
        let prompt = PromptRequest::new(session.as_str().to_owned(), vec![text]);
        let mut answer = self.live.connection.ask("session/prompt", prompt);
        self.heard = Instant::now();
        loop {
            match self.next(&query, commands, &mut answer).await {
                Happened::Sent(None) => self.is_silent = true,
                // The answer to the prompt fails after all that was sent before.
                Happened::Sent(Some(Incoming::Closed)) => {
                    self.closed = Some(Instant::now() + LAST_WORDS);
                }
                Happened::Sent(Some(incoming)) => {
                    self.heard = Instant::now();
                    self.take(incoming, &session, &query);
                }
                Happened::Refused(refused) => self.tell_refused(&refused, &query),
                Happened::Answered(Ok(answer)) => {
                    let ending = Ending::Stopped {
                        reason: answer["stopReason"].as_str().unwrap_or_default().to_owned(),
                        is_wordless: self.live.translator.is_wordless(&answer),
                    };
                    self.finish(query, &ending, Some(&answer));
                    return After::Ready;
                }
                Happened::Answered(Err(error)) => {
                    let ending = self.live.ending(error).await;
                    self.finish(query, &ending, None);
                    return match ending {
                        Ending::Gone { .. } => After::Useless,
                        _ => After::Ready,
                    };
                }
                Happened::Dropped => {
                    self.is_dropped = true;
                    self.stop(&session);
                }
                Happened::Told(Some(Command::Interrupt(reply))) => {
                    self.stop(&session);
                    let _ = reply.send(Ok(()));
                }
                Happened::Told(Some(Command::Query(other))) => other.refuse(),
                // It is not handed on: the agent cannot be told anything now.
                Happened::Told(Some(Command::Steer(..))) => {}
                Happened::Told(Some(Command::Dispose(done))) => {
                    self.stop(&session);
                    let _ = timeout(END_OF_TOOLS, answer).await;
                    return After::Disposed(done);
                }
                Happened::Told(None) => {
                    self.stop(&session);
                    let _ = timeout(END_OF_TOOLS, answer).await;
                    return After::Useless;
                }
                Happened::Late if self.closed.is_some() => {
                    let gone = self.live.gone().await;
                    self.finish(query, &gone, None);
                    return After::Useless;
                }
                Happened::Late => {
                    self.late(query);
                    return After::Useless;
                }
            }
        }
    }

    async fn next(
        &mut self,
        query: &Query,
        commands: &mut Commands,
        answer: &mut Answered,
    ) -> Happened {
        let silent = self.heard + self.options.silence_limit;
        let limits = [self.ends_by, self.closed].into_iter().flatten();
        let late = limits.fold(silent, Instant::min);
        tokio::select! {
            biased;
            () = query.dropped.cancelled(), if !self.is_dropped => Happened::Dropped,
            command = commands.recv() => Happened::Told(command),
            refused = self.answers.refused() => Happened::Refused(refused),
            // What was sent before the answer comes before it.
            incoming = self.live.connection.next(), if !self.is_silent => Happened::Sent(incoming),
            answered = answer => Happened::Answered(answered),
            () = sleep_until(late) => Happened::Late,
        }
    }

    /// What was told before the prompt is not about it: it is history.
    fn forget_what_came_before(&mut self) {
        while let Some(incoming) = self.live.connection.try_next() {
            match incoming {
                Incoming::Permission(asked, responder) => {
                    Answers::refuse(&Permission::read(&asked), *responder);
                }
                Incoming::Update(_) => {}
                Incoming::Closed => break,
            }
        }
    }

    fn take(&mut self, incoming: Incoming, session: &AgentSessionId, query: &Query) {
        match incoming {
            Incoming::Update(params) if is_about(&params, session.as_str()) => {
                tracing::trace!(%params, "an agent tells");
                let update = Update::read(&params);
                query.tell(self.live.translator.observe(update));
            }
            Incoming::Update(_) => tracing::debug!("an agent tells of a session that is not ours"),
            Incoming::Permission(params, responder) => {
                let asked = Permission::read(&params);
                let news = asked.call.as_ref();
                let Some(news) = news.filter(|_| is_about(&params, session.as_str())) else {
                    Answers::refuse(&asked, *responder);
                    return;
                };
                let (described, events) = self.live.translator.asked(news);
                query.tell(events);
                let described = described.seen_from(&self.spec.cwd);
                let (name, input) = (described.name, described.input);
                let call = self.spec.tool_call(&news.id, name, input);
                let call = call.with_kind(described.kind);
                self.answers.answer(asked, call, *responder);
            }
            // It is seen before.
            Incoming::Closed => {}
        }
    }

    fn tell_refused(&mut self, refused: &Refused, query: &Query) {
        let Refused { call, reason } = refused;
        query.tell(self.live.translator.denied(call, reason));
    }

    /// Asks the agent to end its turn, once. What it waits for is cancelled.
    fn stop(&mut self, session: &AgentSessionId) {
        if self.ends_by.is_none() {
            self.ends_by = Some(Instant::now() + END_OF_TURN);
            let cancel = CancelNotification::new(session.as_str().to_owned());
            self.live.connection.notify("session/cancel", cancel);
            self.answers.stop();
        }
    }

    fn late(&mut self, query: Query) {
        if self.ends_by.is_some() {
            let how = "the agent did not end its turn".to_owned();
            self.finish(query, &Ending::Gone { how }, None);
            return;
        }
        let limit = self.options.silence_limit;
        let doing = match self.live.translator.is_calling() {
            true => "while a tool of it ran",
            false => "while its model worked",
        };
        let message = format!("the agent said nothing for {limit:?} {doing}");
        query.tell(self.live.translator.over());
        query.end(Err(AgentError::new(AgentErrorKind::Timeout, message)));
    }

    fn finish(&mut self, query: Query, ending: &Ending, answer: Option<&Value>) {
        while let Some(refused) = self.answers.try_refused() {
            self.tell_refused(&refused, &query);
        }
        query.tell(self.live.translator.over());
        if let Some(tokens) = answer.and_then(|answer| self.live.spending.of_turn(answer)) {
            query.tell([StreamEvent::usage(tokens, None)]);
        }
        let decided = decide(ending, self.ends_by.is_some());
        query.end(decided.map(|outcome| StreamEvent::end(outcome, None)));
    }
}

/// Returns `prompt` in words that no agent takes for one of its own commands, such as `/logout`.
fn no_command(prompt: &str) -> Cow<'_, str> {
    match prompt.trim_start().starts_with(['/', '$']) {
        true => Cow::Owned(format!("Task:\n{prompt}")),
        false => Cow::Borrowed(prompt),
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
            assert_eq!(no_command(prompt), sent);
        }
    }
}
