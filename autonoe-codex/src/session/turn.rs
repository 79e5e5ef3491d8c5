//! One query: from its prompt to its end.

use std::time::Duration;

use autonoe_backend::{After, Command, Commands, Query};
use autonoe_core::{AgentError, AgentErrorKind, SessionSpec};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::start::{Conversation, Live, unreadable};
use super::talk::Answer;
use super::talk::Silence;
use super::words::{Speaker, Words};
use crate::launch::CodexOptions;
use crate::outcome::HostAction;
use crate::wire::{Addressed, Outgoing, RequestId, Session};

/// How long a turn that was interrupted may take to end.
const END_OF_TURN: Duration = Duration::from_secs(10);

/// How long the program may take to end the commands that still run.
const CLEANING: Duration = Duration::from_secs(30);

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
    words: Words,
}

/// What happened.
enum Happened {
    Said(Box<Addressed>),
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
            words: Words::default(),
        })
    }

    /// Works on `query` to its end.
    pub(super) async fn run(mut self, query: Query, commands: &mut Commands) -> After {
        let mut effort = None;
        if let Some(conversation) = &mut self.live.conversation {
            conversation.translator.prompted();
            effort = conversation.effort;
        }
        if let Some(answers) = &mut self.live.answers {
            answers.begin_turn();
        }
        let thread = self.thread.clone();
        let prompt = |id| Outgoing::start_turn(id, &thread, &query.prompt, effort);
        self.begun = Some(self.live.request(prompt));
        loop {
            match self.next(&query, commands).await {
                Happened::Said(message) => {
                    self.heard = Instant::now();
                    let mut events = Vec::new();
                    self.live.take(*message, &mut events);
                    let has_news = !events.is_empty();
                    query.tell(events);
                    if let Some(error) = self.refusal().or_else(|| self.live.violation()) {
                        query.end(Err(error));
                        return After::Useless;
                    }
                    self.limit_turns();
                    self.speak();
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
                Happened::Fell(silence @ (Silence::TooLong | Silence::Unreadable)) => {
                    query.end(Err(unreadable(&silence)));
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
    ///
    /// What its last call wanted is done then. The program may have begun to ask once more, and
    /// breaks that off.
    fn limit_turns(&mut self) {
        let (Some(most), Some(conversation)) = (self.max_turns, &self.live.conversation) else {
            return;
        };
        let translator = &conversation.translator;
        if translator.pace().is_beyond(most) && !translator.is_over() {
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
                self.words.wait(text, reply);
                self.speak();
            }
            Command::Query(other) => other.refuse(),
            // It is seen before.
            Command::Dispose(_) => {}
        }
    }

    /// Tells the program the words that wait, once the turn has a name.
    fn speak(&mut self) {
        self.words.settle();
        let Some(session) = self.session() else {
            return;
        };
        for (text, speaker) in self.words.take_waiting() {
            self.tell(&session, &text, speaker);
        }
    }

    fn tell(&mut self, session: &Session, text: &str, speaker: Speaker) {
        let told = |id| Outgoing::steer(&RequestId::Number(id), session, text);
        let answer = self.live.request(told);
        self.words.told(answer, speaker);
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
        match self.live.violation() {
            Some(error) => {
                query.end(Err(error));
                return After::Useless;
            }
            None => self.end(query, None),
        }
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
