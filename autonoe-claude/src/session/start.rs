//! Starts Claude Code, until it is ready for a prompt.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use autonoe_backend::{
    PendingRequests, Program, ProgramOptions, ready_within, shutdown_program, wait_for_exit,
};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentError, SessionSpec, StreamEvent};
use autonoe_process::{Exit, ShutdownPolicy, StartedProcess};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::answers::Answers;
use super::expectation::Expectation;
use super::mcp_failure::McpFailure;
use super::mcp_log::McpLog;
use super::transport::{Answer, EndOfInput, Transport};
use super::turn::ClaudeTurn;
use crate::events::{ActivityTracker, ModelCalls, Translator};
use crate::launch::{ClaudeOptions, FOLDER, LaunchPlan, PreparedLaunch, StagingFolders};
use crate::probe::{Mismatch, not_claude_error};
use crate::wire::{Line, Message, Request};

/// Extra time that the program waits for an answer of a hook, beyond our own limit.
const SLACK: Duration = Duration::from_secs(10);

/// Time limit for the program to exit on request, before the shutdown policy applies.
const EXIT_LIMIT: Duration = Duration::from_secs(3);

/// The prefix of the ids of our requests.
const REQUEST: &str = "autonoe_";

/// Poll interval for the state of MCP servers.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A running program, and the state of the connection to it.
pub(crate) struct Connection {
    pub(super) transport: Transport,
    answers: Answers,
    pending: PendingRequests<Answer>,
    pub(super) translator: Translator,
    staging: StagingFolders,
    /// Start time of the program.
    started: SystemTime,
    busy: ActivityTracker,
    model_calls: ModelCalls,
    denied: mpsc::UnboundedReceiver<String>,
    expectation: Expectation,
    has_result: bool,
    program: PathBuf,
    /// The file with the MCP servers, until the program has read it.
    server_file: Option<PathBuf>,
}

impl Program for Connection {
    type Options = ClaudeOptions;

    type Turn<'a> = ClaudeTurn<'a>;

    const NAME: &str = "Claude Code";

    const FOLDER: &str = FOLDER;

    fn program_options(options: &ClaudeOptions) -> &ProgramOptions {
        &options.program
    }

    async fn launch(options: &ClaudeOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        let PreparedLaunch {
            launch,
            settings,
            server_file,
        } = LaunchPlan::prepare(options, spec).await?;
        let expectation = Expectation::new(options, spec, settings);
        let (staging, started) = (StagingFolders::record(&spec.cwd), SystemTime::now());
        let StartedProcess {
            process,
            stdin,
            stdout,
        } = launch.start().await.map_err(|error| {
            not_claude_error(&options.program.path, &Mismatch::CannotStart(&error))
        })?;
        let transport = Transport::new(process, stdin, stdout);
        let (denied_tx, denied) = mpsc::unbounded_channel();
        let answers = Answers::new(
            spec.clone(),
            transport.writer(),
            denied_tx,
            options.program.answer_limit,
        );
        Ok(Self {
            transport,
            answers,
            pending: PendingRequests::default(),
            translator: Translator::new(),
            staging,
            started,
            busy: ActivityTracker::new(spec.events.clone()),
            model_calls: ModelCalls::new(spec.events.clone()),
            denied,
            expectation,
            has_result: false,
            program: options.program.path.clone(),
            server_file,
        })
    }

    async fn ready(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.program.start_limit;
        ready_within(Self::NAME, limit, self.initialize(options, spec)).await
    }

    fn start_turn<'a>(
        &'a mut self,
        options: &'a ClaudeOptions,
        _spec: &'a SessionSpec,
        prompt: &str,
        _events: &mut Vec<StreamEvent>,
    ) -> Result<ClaudeTurn<'a>, AgentError> {
        Ok(ClaudeTurn::start(self, options, prompt))
    }

    async fn end(self) {
        let Self {
            transport,
            answers,
            mut pending,
            staging,
            ..
        } = self;
        // From now on, nothing is allowed.
        drop(answers);
        let (id, _answer) = pending.add();
        transport.send(Request::EndSession.to_line(&request_id(id)));
        let _ = tokio::time::timeout(EXIT_LIMIT, transport.process.exited()).await;
        shutdown_program(
            Self::NAME,
            transport.into_process(),
            ShutdownPolicy::interrupt_first(),
        )
        .await;
        staging.remove();
    }
}

impl Connection {
    async fn initialize(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.program.answer_limit + SLACK;
        let has_tools = spec.tools.definitions().next().is_some();
        let own_server = has_tools.then(|| Toolbox::SERVER.to_owned());
        // Both are sent at once, so that the program answers them without a pause.
        let initialized = self.request(&Request::Initialize {
            hook_seconds: u32::try_from(limit.as_secs()).unwrap_or(u32::MAX),
            sdk_mcp_servers: own_server.into_iter().collect(),
        });
        let settings = self.request(&Request::GetSettings);
        self.wait_for_answer(initialized).await?;
        let settings = self.wait_for_answer(settings).await?;
        self.expectation.check_settings(settings.as_ref())?;
        self.wait_for_servers(options, spec).await?;
        self.remove_server_file()
    }

    /// Removes the file with the MCP servers: tools could read the credentials in it.
    fn remove_server_file(&mut self) -> Result<(), AgentError> {
        let Some(file) = self.server_file.take() else {
            return Ok(());
        };
        fs::remove_file(&file).map_err(|error| {
            let message = format!("the file {file:?} with MCP servers cannot be removed");
            AgentError::new(AgentErrorKind::Other, message).with_source(error)
        })
    }

    /// Waits until the program has connected to every server of the session.
    ///
    /// The program does not wait on its own: a turn that starts earlier has none of their tools.
    ///
    /// # Errors
    ///
    /// A required server failed.
    async fn wait_for_servers(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let mut servers = spec.mcp_servers.clone();
        while self.expectation.has_servers() {
            let status = self.request(&Request::McpStatus);
            let status = self.wait_for_answer(status).await?;
            if let Some(failure) = McpFailure::find(status.as_ref(), &servers) {
                let (environment, since) = (&options.program.environment, self.started);
                let log = McpLog::read(environment, &spec.cwd, failure.name, since).await;
                let (name, error) = (failure.name.to_owned(), failure.error(&log));
                if !spec.may_start_without(&name, &error) {
                    return Err(error);
                }
                servers.remove(&name);
                continue;
            }
            if !self.expectation.is_connecting(status.as_ref()) {
                break;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Sends a request, and returns the receiver of its answer.
    pub(super) fn request(&mut self, request: &Request) -> oneshot::Receiver<Answer> {
        let (id, answer) = self.pending.add();
        self.transport.send(request.to_line(&request_id(id)));
        answer
    }

    /// Waits for the answer to a request that was sent before the first prompt.
    async fn wait_for_answer(
        &mut self,
        mut answer: oneshot::Receiver<Answer>,
    ) -> Result<Option<Value>, AgentError> {
        loop {
            if let Ok(answer) = answer.try_recv() {
                return answer.map_err(|error| {
                    AgentError::new(
                        AgentErrorKind::Protocol,
                        format!("Claude Code refused a request: {error}"),
                    )
                });
            }
            if self.has_result {
                // The program exits on its own; its message is in the result.
                return Err(self.exit_error(EndOfInput::Ended).await);
            }
            match self.transport.recv().await {
                Ok(lines) => {
                    let mut events = Vec::new();
                    for line in &lines {
                        self.handle(line, &mut events)?;
                    }
                }
                Err(silence) => return Err(self.exit_error(silence).await),
            }
        }
    }

    /// Handles a line, and adds its events to `events`.
    ///
    /// # Errors
    ///
    /// The session does not have the requested settings.
    pub(super) fn handle(
        &mut self,
        line: &Line,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), AgentError> {
        let message = line.parse();
        match &message {
            Message::ControlRequest(request) => {
                self.answers.answer(request);
                self.transport.poll_soon();
            }
            Message::ControlCancel(cancel) => self.answers.withdraw(&cancel.request_id),
            Message::ControlResponse(response) => {
                let id = response.request_id.strip_prefix(REQUEST);
                if let Some(id) = id.and_then(|id| id.parse().ok()) {
                    let answer = response.answer.as_ref();
                    let answer = answer.map(|_| response.value());
                    self.pending.answer(id, answer.map_err(ToString::to_string));
                }
            }
            message => {
                if let Message::Init(init) = message {
                    self.expectation.check_init(init)?;
                    self.answers.trust();
                }
                self.answers.observe(message);
                self.has_result |= matches!(message, Message::Result(_));
                while let Ok(call) = self.denied.try_recv() {
                    self.translator.record_denial(&call);
                }
                self.translator.observe(message, events);
                self.busy.observe(message);
                self.model_calls.observe(message);
            }
        }
        Ok(())
    }

    /// Returns the error of a program whose output ended.
    async fn exit_error(&mut self, silence: EndOfInput) -> AgentError {
        if let EndOfInput::TooLong(error) = silence {
            return AgentError::new(AgentErrorKind::Protocol, error.to_string());
        }
        let not_claude = |mismatch| not_claude_error(&self.program, &mismatch);
        if let EndOfInput::NotTheProtocol = silence {
            let stderr = &self.transport.process.stderr_tail();
            return not_claude(Mismatch::NotTheProtocol { stderr });
        }
        let exit = wait_for_exit(&self.transport.process).await;
        let stderr = &self.transport.process.stderr_tail();
        // A failing program reports why; the real one does so before any other message.
        if let (false, Some(exit @ Exit::Code(0))) = (self.transport.has_received_line(), exit) {
            return not_claude(Mismatch::Ended { exit, stderr });
        }
        let finished = self.translator.finish(exit, stderr, Timestamp::now());
        match finished.end {
            Err(error) if !self.transport.has_received_line() => {
                let message = format!("{error}; it was run as {:?}", self.program);
                AgentError::new(error.kind(), message)
            }
            Err(error) => error,
            Ok(_) => AgentError::new(
                AgentErrorKind::Crashed,
                "Claude Code exited before the session started",
            ),
        }
    }
}

fn request_id(number: i64) -> String {
    format!("{REQUEST}{number}")
}
