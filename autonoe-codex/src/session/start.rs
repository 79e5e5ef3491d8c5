//! Starts Codex, until it is ready for a prompt.

use std::collections::BTreeSet;
use std::time::Duration;

use autonoe_backend::{
    DeniedCall, PendingRequests, Program, ProgramOptions, ready_within, shutdown_program,
    wait_for_exit,
};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::run::ProjectMemory;
use autonoe_core::{AgentError, SessionSpec, StreamEvent};
use autonoe_process::{ShutdownPolicy, StartedProcess};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::answers::Answers;
use super::thread_check::check_thread;
use super::transport::{Answer, EndOfInput, Transport};
use super::turn::CodexTurn;
use crate::Effort;
use crate::events::Translator;
use crate::launch::{CodexOptions, FOLDER, LaunchPlan, create_session_directory, thread_settings};
use crate::probe::launch_error;
use crate::wire::{Message, Notification, Outgoing, RequestId, ThreadMessage};

/// The memory file of a project for Codex agents.
///
/// Codex reads it only in a trusted project, together with settings that an agent can write. So its
/// text is sent with the conversation.
const MEMORY_FILE: &str = "AGENTS.md";

/// A running program, and the state of the connection to it.
pub(crate) struct Connection {
    /// Receives failures of optional MCP servers.
    spec: SessionSpec,
    pub(super) transport: Transport,
    pending: PendingRequests<Answer>,
    pub(super) conversation: Option<Conversation>,
    /// A call that ran without permission.
    ungated_call: Option<String>,
    /// Warnings from before the start of the conversation.
    early: Vec<Notification>,
    /// Optional MCP servers that have neither started nor failed.
    starting_servers: BTreeSet<String>,
    refused: mpsc::UnboundedReceiver<DeniedCall>,
    refused_tx: mpsc::UnboundedSender<DeniedCall>,
}

/// A conversation that started with the required settings.
pub(super) struct Conversation {
    pub(super) thread: String,
    pub(super) effort: Option<Effort>,
    is_ephemeral: bool,
    pub(super) translator: Translator,
    pub(super) answers: Answers,
}

impl Program for Connection {
    type Options = CodexOptions;

    type Turn<'a> = CodexTurn<'a>;

    const NAME: &str = "Codex";

    const FOLDER: &str = FOLDER;

    fn program_options(options: &CodexOptions) -> &ProgramOptions {
        &options.program
    }

    async fn launch(options: &CodexOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        let session_dir =
            create_session_directory(options, &spec.cwd, spec.conversations.as_deref())?;
        let launch = LaunchPlan::launch(options, spec, session_dir).await?;
        let StartedProcess {
            process,
            stdin,
            stdout,
        } = launch
            .start()
            .await
            .map_err(|error| launch_error(&options.program.path, error))?;
        let (refused_tx, refused) = mpsc::unbounded_channel();
        Ok(Self {
            spec: spec.clone(),
            transport: Transport::new(process, stdin, stdout),
            pending: PendingRequests::default(),
            conversation: None,
            ungated_call: None,
            early: Vec::new(),
            starting_servers: optional_servers(spec),
            refused,
            refused_tx,
        })
    }

    async fn ready(
        &mut self,
        options: &CodexOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.program.start_limit;
        ready_within(Self::NAME, limit, self.initialize(options, spec)).await?;
        self.wait_for_servers(limit).await
    }

    fn start_turn<'a>(
        &'a mut self,
        options: &'a CodexOptions,
        spec: &'a SessionSpec,
        prompt: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<CodexTurn<'a>, AgentError> {
        if let Some(conversation) = &mut self.conversation
            && conversation.is_ephemeral
        {
            // A kept conversation is reported when its first turn starts: it cannot be resumed
            // before.
            events.push(conversation.translator.report_start());
        }
        CodexTurn::start(self, options, spec, prompt).ok_or_else(|| {
            let reason = "the conversation has not started";
            AgentError::new(AgentErrorKind::Protocol, reason)
        })
    }

    async fn end(self) {
        let Self {
            transport,
            conversation,
            ..
        } = self;
        // Without its answers, nothing is allowed any more.
        drop(conversation);
        // The program ends its commands when its input is closed, even during a turn.
        shutdown_program(
            Self::NAME,
            transport.into_process(),
            ShutdownPolicy::default(),
        )
        .await;
    }
}

impl Connection {
    async fn initialize(
        &mut self,
        options: &CodexOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let mut settings = thread_settings(options, spec)?;
        let memory = ProjectMemory::read(spec, MEMORY_FILE);
        settings.add_instructions(memory.section);
        self.early.extend(memory.warning.map(Notification::Warning));
        // The program handles messages in order, so all of them are sent at once.
        let initialized = self.request(Outgoing::initialize);
        self.transport.send(&Outgoing::initialized());
        let thread = self.request(|id| match &spec.resume {
            None => Outgoing::start_thread(id, &settings),
            Some(thread) => Outgoing::resume_thread(id, thread.as_str(), &settings),
        });
        self.wait_for_answer(initialized).await?;
        let answer = self.wait_for_answer(thread).await;
        let started = check_thread(&answer.map_err(|error| with_server_remedy(error, spec))?)?;
        let answers = Answers::new(
            spec.clone(),
            started.thread.clone(),
            self.transport.writer(),
            self.refused_tx.clone(),
            options.program.answer_limit,
        );
        let mut translator = Translator::new(spec.clone(), &started.thread, started.model);
        for notification in self.early.drain(..) {
            translator.observe(&notification, &mut Vec::new());
        }
        self.conversation = Some(Conversation {
            translator,
            answers,
            thread: started.thread,
            effort: settings.effort,
            is_ephemeral: settings.is_ephemeral,
        });
        Ok(())
    }

    /// Waits until each optional server has started or failed. The program starts them in the
    /// background, and the agent has only the tools of servers that run before its first prompt.
    ///
    /// The program reports servers that do not start. Without a report within `limit`, the session
    /// starts without the server.
    async fn wait_for_servers(&mut self, limit: Duration) -> Result<(), AgentError> {
        let deadline = Instant::now() + limit;
        while !self.starting_servers.is_empty() {
            match tokio::time::timeout_at(deadline, self.transport.recv()).await {
                Ok(Ok(message)) => self.handle(message, &mut Vec::new()),
                Ok(Err(silence)) => return Err(self.exit_error(&silence).await),
                Err(_elapsed) => {
                    let error =
                        AgentError::new(AgentErrorKind::Timeout, "it did not start in time");
                    for name in std::mem::take(&mut self.starting_servers) {
                        self.spec.may_start_without(&name, &error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits for the answer to a request that was sent before the first prompt.
    async fn wait_for_answer(
        &mut self,
        mut answer: oneshot::Receiver<Answer>,
    ) -> Result<Value, AgentError> {
        loop {
            if let Ok(answer) = answer.try_recv() {
                return answer.map_err(|error| {
                    AgentError::new(
                        AgentErrorKind::Configuration,
                        format!("Codex did not start a session: {error}"),
                    )
                });
            }
            match self.transport.recv().await {
                Ok(message) => self.handle(message, &mut Vec::new()),
                Err(silence) => return Err(self.exit_error(&silence).await),
            }
        }
    }

    /// Sends a request, and returns the receiver of its answer.
    pub(super) fn request(
        &mut self,
        make: impl FnOnce(i64) -> Outgoing,
    ) -> oneshot::Receiver<Answer> {
        let (id, answer) = self.pending.add();
        self.transport.send(&make(id));
        answer
    }

    /// Handles a message, and adds its events to `events`.
    pub(super) fn handle(&mut self, message: ThreadMessage, events: &mut Vec<StreamEvent>) {
        let own_thread = self.conversation.as_ref().map(|it| it.thread.as_str());
        let is_foreign = message.thread.is_some() && message.thread.as_deref() != own_thread;
        match message.message {
            Message::Notification(notification @ Notification::Warning(_))
                if own_thread.is_none() =>
            {
                self.early.push(notification);
            }
            // A server may fail before the answer that names the conversation.
            Message::Notification(Notification::ServerReady { name })
                if own_thread.is_none() || !is_foreign =>
            {
                self.starting_servers.remove(&name);
            }
            Message::Notification(Notification::ServerFailed { name, error })
                if own_thread.is_none() || !is_foreign =>
            {
                self.starting_servers.remove(&name);
                let error = AgentError::new(AgentErrorKind::Configuration, error);
                self.spec.may_start_without(&name, &error);
            }
            Message::Notification(_) if is_foreign => {
                tracing::debug!("ignored a notification of another conversation");
            }
            Message::Request { id, question } if is_foreign => {
                self.transport
                    .send(&Outgoing::refusal(&id, question.method()));
            }
            Message::Answer { id, result } => {
                if let Some(Conversation { answers, .. }) = &self.conversation {
                    answers.answered(&id);
                }
                if let RequestId::Number(id) = id {
                    self.pending.answer(id, result);
                }
            }
            Message::Request { id, question } => match &mut self.conversation {
                Some(Conversation { answers, .. }) => answers.answer(id, question),
                None => self
                    .transport
                    .send(&Outgoing::refusal(&id, question.method())),
            },
            Message::Notification(notification) => {
                if let Some(conversation) = &mut self.conversation {
                    let Conversation {
                        translator,
                        answers,
                        ..
                    } = conversation;
                    if let Some(ungated_call) = answers.observe(&notification) {
                        self.ungated_call.get_or_insert(ungated_call);
                    }
                    while let Ok(DeniedCall { call, reason }) = self.refused.try_recv() {
                        translator.record_refusal(call, reason);
                    }
                    translator.observe(&notification, events);
                }
            }
            Message::Other(_) => {
                tracing::debug!("ignored a message that is no request, response or notification");
            }
        }
    }

    /// Returns an error if a call ran without permission.
    pub(super) fn ungated_call_error(&self) -> Option<AgentError> {
        let call = self.ungated_call.as_deref()?;
        let message =
            format!("Codex ran {call} without approval of the gate, so its session was stopped");
        Some(AgentError::new(AgentErrorKind::Protocol, message))
    }

    /// Returns the error of a program whose output ended.
    async fn exit_error(&self, silence: &EndOfInput) -> AgentError {
        match silence {
            EndOfInput::TooLong | EndOfInput::Unreadable => read_error(silence),
            EndOfInput::Ended => AgentError::new(
                AgentErrorKind::Crashed,
                format!(
                    "Codex exited before the session started: {}",
                    self.exit_description().await
                ),
            ),
        }
    }

    /// Waits up to 5 seconds for the program to exit, and returns its exit and its standard error.
    pub(super) async fn exit_description(&self) -> String {
        let exit = wait_for_exit(&self.transport.process).await;
        let stderr = self.transport.process.stderr_tail();
        match exit {
            Some(exit) => format!("{exit:?} {}", stderr.trim()),
            None => stderr.trim().to_owned(),
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

/// Adds a remedy to the error of a session that did not start, if it has servers: most often, one
/// of them fails to start.
fn with_server_remedy(error: AgentError, spec: &SessionSpec) -> AgentError {
    match error.kind() {
        AgentErrorKind::Configuration if !spec.mcp_servers.is_empty() => error.with_remedy(
            "repair the MCP server that the message names, or leave it out; \"mcpServers\": {} \
             in .autonoe/agent.json leaves out all servers, including the built-in browser",
        ),
        _ => error,
    }
}

/// Returns the error of an unreadable line.
pub(super) fn read_error(silence: &EndOfInput) -> AgentError {
    let message = match silence {
        EndOfInput::TooLong => "Codex wrote a line that is too long",
        _ => "Codex wrote a line that cannot be read",
    };
    AgentError::new(AgentErrorKind::Protocol, message)
}
