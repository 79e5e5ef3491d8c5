//! One query: from its prompt to its end.

use std::time::Duration;

use autonoe_backend::{After, Command, Commands, Query};
use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::pending::Answer;
use super::start::{Conversation, Live, too_long};
use super::talk::Silence;
use crate::launch::CodexOptions;
use crate::outcome::HostAction;
use crate::wire::{Message, Outgoing, RequestId, Session};

/// How long a turn that was interrupted may take to end.
const END_OF_TURN: Duration = Duration::from_secs(10);

/// How long the program may take to end the commands that still run.
const CLEANING: Duration = Duration::from_secs(5);

/// A query under way.
pub(super) struct Turn<'l> {
    live: &'l mut Live,
    options: &'l CodexOptions,
    max_turns: Option<u32>,
    thread: String,
    /// When something was heard of the program last.
    heard: Instant,
    /// When the turn must have ended, once it was interrupted.
    ends_by: Option<Instant>,
    /// Whether the program was told to stop the turn.
    is_told_to_stop: bool,
    is_dropped: bool,
    /// What the program says about the prompt.
    begun: Option<oneshot::Receiver<Answer>>,
    steered: u64,
}

/// What happened.
enum Happened {
    Said(Box<Message>),
    Fell(Silence),
    Told(Option<Command>),
    Dropped,
    /// A time is over.
    Late,
}

impl<'l> Turn<'l> {
    /// Makes a turn; `None` if there is no conversation.
    pub(super) fn new(
        live: &'l mut Live,
        options: &'l CodexOptions,
        spec: &SessionSpec,
    ) -> Option<Self> {
        let thread = live.conversation.as_ref()?.thread.clone();
        Some(Self {
            live,
            options,
            max_turns: spec.max_turns,
            thread,
            heard: Instant::now(),
            ends_by: None,
            is_told_to_stop: false,
            is_dropped: false,
            begun: None,
            steered: 0,
        })
    }

    /// Works on `query` to its end.
    pub(super) async fn run(mut self, query: Query, commands: &mut Commands) -> After {
        if let Some(Conversation { translator, .. }) = &mut self.live.conversation {
            translator.prompted();
        }
        let thread = self.thread.clone();
        let prompt = |id| Outgoing::start_turn(id, &thread, &query.prompt);
        self.begun = Some(self.live.request(prompt));
        loop {
            match self.next(&query, commands).await {
                Happened::Said(message) => {
                    self.heard = Instant::now();
                    let mut events = Vec::new();
                    self.live.take(*message, &mut events);
                    let has_news = !events.is_empty();
                    query.tell(events);
                    if let Some(error) = self.refusal() {
                        query.end(Err(error));
                        return After::Useless;
                    }
                    self.limit_turns();
                    self.stop_if_told();
                    if self.is_over() {
                        return self.finish(query).await;
                    }
                    if has_news {
                        // Who listens on the same thread gets its turn before more is read.
                        tokio::task::yield_now().await;
                    }
                }
                Happened::Fell(Silence::Ended) => {
                    let gone = self.live.last_words().await;
                    self.end(query, Some(gone));
                    return After::Useless;
                }
                Happened::Fell(Silence::TooLong) => {
                    query.end(Err(too_long()));
                    return After::Useless;
                }
                Happened::Dropped => {
                    self.is_dropped = true;
                    self.interrupt(HostAction::Interrupted);
                }
                Happened::Told(Some(Command::Dispose(done))) => return After::Disposed(done),
                Happened::Told(Some(command)) => self.told(command),
                Happened::Told(None) => return After::Useless,
                Happened::Late => {
                    match self.ends_by {
                        // It was told to stop and did not; its end stops it.
                        Some(_) => self.end(query, None),
                        None => query.end(Err(self.silent())),
                    }
                    return After::Useless;
                }
            }
        }
    }

    async fn next(&mut self, query: &Query, commands: &mut Commands) -> Happened {
        let settled = self.heard + self.options.silence_limit;
        let late = self.ends_by.unwrap_or(settled).min(settled);
        tokio::select! {
            biased;
            () = query.dropped.cancelled(), if !self.is_dropped => Happened::Dropped,
            command = commands.recv() => Happened::Told(command),
            message = self.live.talk.next() => match message {
                Ok(message) => Happened::Said(Box::new(message)),
                Err(silence) => Happened::Fell(silence),
            },
            () = sleep_until(late) => Happened::Late,
        }
    }

    /// Returns why the program did not take the prompt, if it did not.
    fn refusal(&mut self) -> Option<AgentError> {
        let answer = self.begun.as_mut()?.try_recv().ok()?;
        self.begun = None;
        let error = answer.err()?;
        Some(AgentError::new(
            AgentErrorKind::Protocol,
            format!("Codex does not take the prompt: {}", error.message),
        ))
    }

    fn is_over(&self) -> bool {
        let conversation = self.live.conversation.as_ref();
        conversation.is_none_or(|conversation| conversation.translator.is_over())
    }

    fn silent(&self) -> AgentError {
        let limit = self.options.silence_limit;
        AgentError::new(
            AgentErrorKind::Timeout,
            format!("Codex said nothing for {limit:?}"),
        )
    }

    /// Stops a turn that has called the model as often as it may and wants to go on.
    fn limit_turns(&mut self) {
        let (Some(most), Some(conversation)) = (self.max_turns, &self.live.conversation) else {
            return;
        };
        let translator = &conversation.translator;
        if translator.calls_of_model() > most && !translator.is_over() {
            self.interrupt(HostAction::MaxTurns);
        }
    }

    fn told(&mut self, command: Command) {
        match command {
            Command::Interrupt(reply) => {
                self.interrupt(HostAction::Interrupted);
                let _ = reply.send(Ok(()));
            }
            Command::Steer(text, reply) => {
                let _ = reply.send(self.steer(&text));
            }
            Command::Query(other) => other.refuse(),
            // It is seen before.
            Command::Dispose(_) => {}
        }
    }

    fn steer(&mut self, text: &str) -> Result<(), AgentError> {
        let session = self
            .session()
            .ok_or_else(|| AgentError::new(AgentErrorKind::Other, "the turn has not begun yet"))?;
        self.steered += 1;
        let id = RequestId::Text(format!("steer-{}", self.steered));
        self.live.talk.send(Outgoing::steer(&id, &session, text));
        Ok(())
    }

    fn interrupt(&mut self, action: HostAction) {
        if self.ends_by.is_none() {
            self.ends_by = Some(Instant::now() + END_OF_TURN);
            if let Some(Conversation { translator, .. }) = &mut self.live.conversation {
                translator.stopped(action);
            }
            if let Some(answers) = &mut self.live.answers {
                answers.end_turn();
            }
        }
        self.stop_if_told();
    }

    /// Tells the program to stop the turn, as soon as it has a name.
    fn stop_if_told(&mut self) {
        if self.ends_by.is_none() || self.is_told_to_stop {
            return;
        }
        if let Some(session) = self.session() {
            self.is_told_to_stop = true;
            let _answer = self.live.request(|id| Outgoing::interrupt(id, &session));
        }
    }

    fn session(&self) -> Option<Session> {
        let turn = self.live.conversation.as_ref()?.translator.turn()?;
        Some(Session {
            thread: self.thread.clone(),
            turn: turn.to_owned(),
        })
    }

    /// Ends a turn that the program has ended, and the commands that it left running.
    async fn finish(mut self, query: Query) -> After {
        if let Some(answers) = &mut self.live.answers {
            answers.end_turn();
        }
        let thread = self.thread.clone();
        let mut cleaned = self
            .live
            .request(|id| Outgoing::clean_terminals(id, &thread));
        let mut events = Vec::new();
        let cleaning = async {
            while cleaned.try_recv().is_err() {
                let message = self.live.talk.next().await?;
                self.live.take(message, &mut events);
            }
            Ok::<(), Silence>(())
        };
        let cleaned = tokio::time::timeout(CLEANING, cleaning).await;
        query.tell(events);
        self.end(query, None);
        match cleaned {
            Ok(Ok(())) => After::Ready,
            // Whatever it left running ends with it.
            Ok(Err(_)) | Err(_) => After::Useless,
        }
    }

    fn end(&mut self, query: Query, gone: Option<String>) {
        let Some(Conversation { translator, .. }) = &mut self.live.conversation else {
            return;
        };
        let (events, end) = translator.finish(gone);
        query.tell(events);
        query.end(end);
    }
}
