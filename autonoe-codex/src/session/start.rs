//! From nothing to a program that waits for a prompt.

use std::collections::BTreeSet;
use std::time::Duration;

use autonoe_backend::sweep;
use autonoe_core::{AgentError, AgentErrorKind, ProjectMemory, SessionSpec, StreamEvent};
use autonoe_process::Started;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::answers::{Answers, Refused};
use super::expectation::begun;
use super::talk::{Answer, Pending};
use super::talk::{Silence, Talk};
use crate::events::Translator;
use crate::launch::{CodexOptions, FOLDER, LaunchPlan, furnish, thread_settings};
use crate::probe::unstartable;
use crate::wire::{Addressed, Effort, Message, Notice, Outgoing};

/// How long a program that closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// The memory file of a project that Codex agents get.
///
/// Codex reads it only in a project that it trusts, together with settings that an agent can
/// write. So the text is sent with the conversation.
const MEMORY_FILE: &str = "AGENTS.md";

/// A program that lives, and all that belongs to the talk with it.
pub(crate) struct Live {
    /// Receives failures of optional MCP servers.
    spec: SessionSpec,
    pub(super) talk: Talk,
    pub(super) pending: Pending,
    pub(super) conversation: Option<Conversation>,
    /// Answers, once there is a conversation that can ask anything.
    pub(super) answers: Option<Answers>,
    /// What the program did although nobody had allowed it.
    unasked: Option<String>,
    /// What it warned of before there was a conversation.
    early: Vec<Notice>,
    /// Optional MCP servers that have neither started nor failed.
    starting_servers: BTreeSet<String>,
    refused: mpsc::UnboundedReceiver<Refused>,
    tell_refused: mpsc::UnboundedSender<Refused>,
}

/// A conversation that began as it was asked to.
pub(super) struct Conversation {
    pub(super) thread: String,
    pub(super) effort: Option<Effort>,
    pub(super) translator: Translator,
}

impl Live {
    /// Starts the program. It must be [ready](Self::ready) before it gets a prompt.
    ///
    /// # Errors
    ///
    /// The program cannot be started. No process of it is left then.
    pub(super) async fn launch(
        options: &CodexOptions,
        spec: &SessionSpec,
    ) -> Result<Self, AgentError> {
        // Removes the folders of killed hosts.
        sweep(&options.temporary, FOLDER).await;
        let place = furnish(options, &spec.cwd, spec.conversations.as_deref())?;
        let launch = LaunchPlan::launch(options, spec, place).await?;
        let Started {
            process,
            stdin,
            stdout,
        } = launch
            .start()
            .await
            .map_err(|error| unstartable(&options.program, error))?;
        Ok(Self::new(spec, Talk::new(process, stdin, stdout)))
    }

    fn new(spec: &SessionSpec, talk: Talk) -> Self {
        let (tell_refused, refused) = mpsc::unbounded_channel();
        Self {
            spec: spec.clone(),
            talk,
            pending: Pending::default(),
            conversation: None,
            answers: None,
            unasked: None,
            early: Vec::new(),
            starting_servers: optional_servers(spec),
            refused,
            tell_refused,
        }
    }

    /// Waits until the program is ready for a prompt, and is what was asked for.
    ///
    /// # Errors
    ///
    /// It is not. It may still live then.
    pub(super) async fn ready(
        &mut self,
        options: &CodexOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.start_limit;
        let ready = tokio::time::timeout(limit, self.initialize(options, spec)).await;
        ready.unwrap_or_else(|_elapsed| {
            Err(AgentError::new(
                AgentErrorKind::Timeout,
                format!("Codex was not ready after {limit:?}"),
            ))
        })?;
        self.wait_for_servers(limit).await
    }

    async fn initialize(
        &mut self,
        options: &CodexOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        self.ask(Outgoing::initialize).await?;
        self.talk.send(Outgoing::initialized());
        let mut settings = thread_settings(options, spec)?;
        let memory = ProjectMemory::read(spec, MEMORY_FILE);
        settings.add_instructions(memory.section);
        self.early.extend(memory.warning.map(Notice::Warning));
        let answer = match &spec.resume {
            None => self.ask(|id| Outgoing::start_thread(id, &settings)).await,
            Some(thread) => {
                self.ask(|id| Outgoing::resume_thread(id, thread.as_str(), &settings))
                    .await
            }
        };
        let begun = begun(&answer.map_err(|error| with_a_way_out(error, spec))?)?;
        self.answers = Some(Answers::new(
            spec.clone(),
            begun.thread.clone(),
            self.talk.writer(),
            self.tell_refused.clone(),
            options.answer_limit,
        ));
        let mut translator = Translator::new(spec.clone(), &begun.thread, begun.model);
        for notice in self.early.drain(..) {
            translator.observe(&notice, &mut Vec::new());
        }
        self.conversation = Some(Conversation {
            translator,
            thread: begun.thread,
            effort: settings.effort,
        });
        Ok(())
    }

    /// Waits until each optional server has started or failed. The program starts them in the
    /// background, and the agent has only the tools of those that are there for its first prompt.
    ///
    /// The program reports servers that do not start. Without a report within `limit`, the session
    /// starts without the server.
    async fn wait_for_servers(&mut self, limit: Duration) -> Result<(), AgentError> {
        let deadline = Instant::now() + limit;
        while !self.starting_servers.is_empty() {
            match tokio::time::timeout_at(deadline, self.talk.next()).await {
                Ok(Ok(message)) => self.take(message, &mut Vec::new()),
                Ok(Err(silence)) => return Err(self.broke_off(&silence).await),
                Err(_elapsed) => {
                    let error = AgentError::new(AgentErrorKind::Timeout, "it does not start");
                    for name in std::mem::take(&mut self.starting_servers) {
                        self.spec.may_start_without(&name, &error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks the program something before the first prompt, and waits for the answer.
    pub(super) async fn ask(
        &mut self,
        make: impl FnOnce(i64) -> Outgoing,
    ) -> Result<Value, AgentError> {
        let mut answer = self.request(make);
        loop {
            match self.talk.next().await {
                Ok(message) => self.take(message, &mut Vec::new()),
                Err(silence) => return Err(self.broke_off(&silence).await),
            }
            if let Ok(answer) = answer.try_recv() {
                return answer.map_err(|error| {
                    AgentError::new(
                        AgentErrorKind::Configuration,
                        format!("Codex does not begin a session: {}", error.message),
                    )
                });
            }
        }
    }

    /// Sends a request, and returns where its answer comes.
    pub(super) fn request(
        &mut self,
        make: impl FnOnce(i64) -> Outgoing,
    ) -> oneshot::Receiver<Answer> {
        let (id, answer) = self.pending.ask();
        self.talk.send(make(id));
        answer
    }

    /// Takes note of a message, and adds what it means to `events`.
    pub(super) fn take(&mut self, message: Addressed, events: &mut Vec<StreamEvent>) {
        let ours = self.conversation.as_ref().map(|it| it.thread.as_str());
        let is_foreign = message.thread.is_some() && message.thread.as_deref() != ours;
        match message.message {
            Message::Notice(notice @ Notice::Warning(_)) if ours.is_none() => {
                self.early.push(notice);
            }
            // A server may fail before the answer that names the conversation.
            Message::Notice(Notice::ServerReady { name }) if ours.is_none() || !is_foreign => {
                self.starting_servers.remove(&name);
            }
            Message::Notice(Notice::ServerFailed { name, error })
                if ours.is_none() || !is_foreign =>
            {
                self.starting_servers.remove(&name);
                let error = AgentError::new(AgentErrorKind::Configuration, error);
                self.spec.may_start_without(&name, &error);
            }
            Message::Notice(_) if is_foreign => {
                tracing::debug!("a notice of another conversation");
            }
            Message::Question { id, question } if is_foreign => {
                self.talk.send(Outgoing::refusal(&id, question.method()));
            }
            Message::Answer { id, result } => {
                if let Some(answers) = &self.answers {
                    answers.answered(&id);
                }
                self.pending.answered(&id, result);
            }
            Message::Question { id, question } => match &mut self.answers {
                Some(answers) => answers.answer(id, question),
                None => self.talk.send(Outgoing::refusal(&id, question.method())),
            },
            Message::Notice(notice) => {
                if let Some(answers) = &mut self.answers
                    && let Some(unasked) = answers.notice(&notice)
                {
                    self.unasked.get_or_insert(unasked);
                }
                if let Some(Conversation { translator, .. }) = &mut self.conversation {
                    while let Ok(Refused { call, reason }) = self.refused.try_recv() {
                        translator.refused(call, reason);
                    }
                    translator.observe(&notice, events);
                }
            }
            Message::Other(_) => tracing::debug!("a message that is neither told nor asked"),
        }
    }

    /// Says that the program did something that nobody had allowed, if it did.
    pub(super) fn violation(&self) -> Option<AgentError> {
        let what = self.unasked.as_deref()?;
        let message = format!("Codex did {what} without having asked, so it is not used any more");
        Some(AgentError::new(AgentErrorKind::Protocol, message))
    }

    /// Returns why the program is not there any more.
    async fn broke_off(&self, silence: &Silence) -> AgentError {
        match silence {
            Silence::TooLong | Silence::Unreadable => unreadable(silence),
            Silence::Ended => AgentError::new(
                AgentErrorKind::Crashed,
                format!("Codex ended before it began: {}", self.last_words().await),
            ),
        }
    }

    /// Waits a moment for the program to end, and returns what is known of its end.
    pub(super) async fn last_words(&self) -> String {
        let exited = tokio::time::timeout(LAST_BREATH, self.talk.process.exited()).await;
        let stderr = self.talk.process.stderr_tail();
        match exited {
            Ok(exit) => format!("{exit:?} {}", stderr.trim()),
            Err(_elapsed) => stderr.trim().to_owned(),
        }
    }
}

/// Returns the names of the optional MCP servers of a session.
fn optional_servers(spec: &SessionSpec) -> BTreeSet<String> {
    let names = spec.mcp_servers.keys();
    names
        .filter(|name| spec.optional_servers.contains(name))
        .cloned()
        .collect()
}

/// Says what can be done about a session that did not begin, if it has servers: one that does not
/// start is why, most often.
fn with_a_way_out(error: AgentError, spec: &SessionSpec) -> AgentError {
    match error.kind() {
        AgentErrorKind::Configuration if !spec.mcp_servers.is_empty() => error.with_remedy(
            "mend the MCP server that it names, or leave it out; \"mcpServers\": {} in \
             .autonoe/agent.json leaves out all, the browser that is built in too",
        ),
        _ => error,
    }
}

/// Says that a line cannot be read.
pub(super) fn unreadable(silence: &Silence) -> AgentError {
    let message = match silence {
        Silence::TooLong => "Codex wrote a line that is too long to be read",
        _ => "Codex wrote a line that cannot be read",
    };
    AgentError::new(AgentErrorKind::Protocol, message)
}
