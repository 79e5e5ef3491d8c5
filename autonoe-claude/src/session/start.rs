//! From nothing to a program that waits for a prompt.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use autonoe_backend::sweep;
use autonoe_core::{AgentError, AgentErrorKind, SessionSpec, StreamEvent, Toolbox};
use autonoe_process::Started;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;

use super::answers::Answers;
use super::expectation::Expectation;
use super::mcp_failure::McpFailure;
use super::mcp_log::McpLog;
use super::talk::Pending;
use super::talk::{Silence, Talk};
use crate::events::{Busy, ModelCalls, Translator};
use crate::launch::{ClaudeOptions, FOLDER, LaunchPlan, PreparedLaunch, StagingFolders};
use crate::outcome::Exit;
use crate::probe::{Manner, stranger};
use crate::wire::{HookMatcher, Initialize, Line, Message, Request};

/// How much longer than we the program waits for an answer of a hook.
const SLACK: Duration = Duration::from_secs(10);

/// How long a program that closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// How often the program is asked whether its servers are there.
const GLANCE: Duration = Duration::from_millis(100);

/// A program that lives, and all that belongs to the talk with it.
pub(crate) struct Live {
    pub(super) talk: Talk,
    pub(super) answers: Answers,
    pub(super) pending: Pending,
    pub(super) translator: Translator,
    pub(super) staging: StagingFolders,
    /// When the program was started.
    started: SystemTime,
    busy: Busy,
    model_calls: ModelCalls,
    denied: mpsc::UnboundedReceiver<String>,
    expectation: Expectation,
    has_result: bool,
    program: PathBuf,
    /// The file with the MCP servers, until the program has read it.
    server_file: Option<PathBuf>,
}

impl Live {
    /// Starts the program. It must be [ready](Self::ready) before it is asked anything.
    ///
    /// # Errors
    ///
    /// It could not be started. Nothing of it lives then.
    pub(super) async fn launch(
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<Self, AgentError> {
        // A killed host could not do it.
        sweep(&options.temporary, FOLDER).await;
        let PreparedLaunch {
            launch,
            settings,
            server_file,
        } = LaunchPlan::prepare(options, spec).await?;
        let expectation = Expectation::new(options, spec, settings);
        let (staging, started) = (StagingFolders::record(&spec.cwd), SystemTime::now());
        let Started {
            process,
            stdin,
            stdout,
        } = launch
            .start()
            .await
            .map_err(|error| stranger(&options.program, &Manner::Unstartable(&error)))?;
        let talk = Talk::new(process, stdin, stdout);
        let (tell_denied, denied) = mpsc::unbounded_channel();
        let answers = Answers::new(
            spec.clone(),
            talk.writer(),
            tell_denied,
            options.answer_limit,
        );
        Ok(Self {
            talk,
            answers,
            pending: Pending::default(),
            translator: Translator::new(),
            staging,
            started,
            busy: Busy::new(spec.events.clone()),
            model_calls: ModelCalls::new(spec.events.clone()),
            denied,
            expectation,
            has_result: false,
            program: options.program.clone(),
            server_file,
        })
    }

    /// Waits until the program is ready for a prompt, and is what was asked for.
    ///
    /// # Errors
    ///
    /// It is not. It may still live then.
    pub(super) async fn ready(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.start_limit;
        let ready = tokio::time::timeout(limit, self.initialize(options, spec)).await;
        ready.unwrap_or_else(|_elapsed| {
            Err(AgentError::new(
                AgentErrorKind::Timeout,
                format!("Claude Code was not ready after {limit:?}"),
            ))
        })
    }

    async fn initialize(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.answer_limit + SLACK;
        let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX);
        let has_tools = spec.tools.definitions().next().is_some();
        let initialize = Initialize {
            hooks: BTreeMap::from([(
                "PreToolUse".to_owned(),
                vec![HookMatcher::every_call("gate", seconds)],
            )]),
            sdk_mcp_servers: has_tools
                .then(|| Toolbox::SERVER.to_owned())
                .into_iter()
                .collect(),
            append_system_prompt: None,
        };
        self.ask(Request::Initialize(initialize)).await?;
        let settings = self.ask(Request::GetSettings).await?;
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
            AgentError::new(AgentErrorKind::Other, message).because(error)
        })
    }

    /// Waits until the program has connected to every server of the session.
    ///
    /// It does not wait by itself: a turn that begins earlier has none of their tools.
    ///
    /// # Errors
    ///
    /// A server failed that the session needs.
    async fn wait_for_servers(
        &mut self,
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let mut servers = spec.mcp_servers.clone();
        while self.expectation.has_servers() {
            let status = self.ask(Request::McpStatus).await?;
            if let Some(failure) = McpFailure::find(status.as_ref(), &servers) {
                let (environment, since) = (&options.environment, self.started);
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
            tokio::time::sleep(GLANCE).await;
        }
        Ok(())
    }

    /// Asks the program something before the first prompt, and waits for the answer.
    async fn ask(&mut self, request: Request) -> Result<Option<Value>, AgentError> {
        let (id, mut answer) = self.pending.ask();
        self.talk.send(request.to_line(&id));
        loop {
            match self.talk.next().await {
                Ok(lines) => {
                    let mut events = Vec::new();
                    for line in &lines {
                        self.take(line, &mut events)?;
                    }
                }
                Err(silence) => return Err(self.broke_off(silence).await),
            }
            if let Ok(answer) = answer.try_recv() {
                return answer.map_err(|error| {
                    AgentError::new(
                        AgentErrorKind::Protocol,
                        format!("Claude Code refused a request: {error}"),
                    )
                });
            }
            if self.has_result {
                // It ends by itself; what it said is in the result.
                return Err(self.broke_off(Silence::Ended).await);
            }
        }
    }

    /// Takes note of a line, and adds what it means to `events`.
    ///
    /// # Errors
    ///
    /// The session is not what was asked for.
    pub(super) fn take(
        &mut self,
        line: &Line,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), AgentError> {
        let message = line.read();
        match &message {
            Message::ControlRequest(request) => {
                self.answers.answer(request);
                self.talk.stay_awake();
            }
            Message::ControlCancel(cancel) => self.answers.withdraw(&cancel.request_id),
            Message::ControlResponse(response) => self.pending.answered(response),
            message => {
                if let Message::Init(init) = message {
                    self.expectation.check_init(init)?;
                    self.answers.trust();
                }
                self.answers.notice(message);
                self.has_result |= matches!(message, Message::Result(_));
                while let Ok(call) = self.denied.try_recv() {
                    self.translator.denied(&call);
                }
                self.translator.observe(message, events);
                self.busy.observe(message);
                self.model_calls.observe(message);
            }
        }
        Ok(())
    }

    /// Returns why the program is not there any more.
    async fn broke_off(&mut self, silence: Silence) -> AgentError {
        if let Silence::TooLong(error) = silence {
            return AgentError::new(AgentErrorKind::Protocol, error.to_string());
        }
        let stranger = |manner| stranger(&self.program, &manner);
        if let Silence::Nonsense = silence {
            let stderr = &self.talk.process.stderr_tail();
            return stranger(Manner::Nonsense { stderr });
        }
        let exit = self.exit().await;
        let stderr = &self.talk.process.stderr_tail();
        // One that fails says why; the real one does so before it says anything else.
        if let (false, Some(exit @ Exit::Code(0))) = (self.talk.has_heard(), exit) {
            return stranger(Manner::Ended { exit, stderr });
        }
        let finished = self.translator.finish(exit, stderr, Timestamp::now());
        match finished.end {
            Err(error) if !self.talk.has_heard() => {
                let message = format!("{error}; it was run as {:?}", self.program);
                AgentError::new(error.kind(), message)
            }
            Err(error) => error,
            Ok(_) => AgentError::new(AgentErrorKind::Crashed, "Claude Code ended before it began"),
        }
    }

    /// Returns how the program ended, if it does so soon.
    pub(super) async fn exit(&self) -> Option<Exit> {
        let exited = tokio::time::timeout(LAST_BREATH, self.talk.process.exited()).await;
        exited.ok().map(Exit::from)
    }
}
