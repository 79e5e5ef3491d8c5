//! Starts an agent, until it is ready for a prompt.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest,
};
use autonoe_backend::{ready_within, wait_for_exit};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::{Launch, Process, ShutdownAction, ShutdownPolicy, Signal, StartedProcess};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::answers::Answers;
use super::connection::{Connection, Incoming, PendingAnswer};
use crate::events::{Translator, UsageTracker};
use crate::launch::{AcpOptions, BY_API_KEY, answered_claims, api_key};
use crate::outcome::{Ending, decide};
use crate::wire::{Permission, mcp_servers};

/// A running agent, and the state of the connection to it.
pub(crate) struct RunningAgent {
    pub(super) process: Process,
    pub(super) connection: Connection,
    pub(super) translator: Translator,
    pub(super) usage_tracker: UsageTracker,
    pub(super) session: Option<AgentSessionId>,
    pub(super) model: Option<String>,
}

impl RunningAgent {
    /// Starts an agent with `launch`.
    ///
    /// # Errors
    ///
    /// The program cannot be started. None of its processes is left.
    pub(crate) async fn start(
        options: &AcpOptions,
        launch: Launch,
        translator: Translator,
    ) -> Result<Self, AgentError> {
        let StartedProcess {
            process,
            stdin,
            stdout,
        } = launch.start().await.map_err(|error| {
            let message = format!(
                "the program of the agent {} cannot be started",
                options.name
            );
            AgentError::new(AgentErrorKind::NotAvailable, message).with_source(error)
        })?;
        let Some(connection) = Connection::open(stdin, stdout).await else {
            let message = "the connection to the agent could not be opened";
            return Err(AgentError::new(AgentErrorKind::Crashed, message));
        };
        Ok(Self {
            process,
            connection,
            translator,
            usage_tracker: UsageTracker::new(),
            session: None,
            model: None,
        })
    }

    /// Sends `initialize`, and returns the answer.
    ///
    /// # Errors
    ///
    /// The agent does not answer, or uses another version of the protocol.
    pub(crate) async fn initialize(&mut self, options: &AcpOptions) -> Result<Value, AgentError> {
        // The client offers no file system and no terminal: an agent that has them works around its
        // own permission requests.
        let us = Implementation::new("autonoe", env!("CARGO_PKG_VERSION"));
        let request = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let answer = self.connection.request("initialize", request);
        let answer = self.answer(answer).await?;
        if answer["protocolVersion"] != 1 {
            let version = &answer["protocolVersion"];
            let message = format!(
                "the agent {} uses version {version} of the protocol; only version 1 is supported",
                options.name
            );
            return Err(AgentError::new(AgentErrorKind::Protocol, message));
        }
        Ok(answer)
    }

    /// Sends the API key to the agent, if its environment does not have it.
    pub(super) async fn authenticate(
        &mut self,
        options: &AcpOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let Some(key) = api_key(options, spec) else {
            return Ok(());
        };
        let request = json!({"methodId": BY_API_KEY, "_meta": {"api-key": key}});
        let answer = self.connection.request("authenticate", request);
        self.answer(answer).await.map(drop)
    }

    pub(super) async fn begin(
        &mut self,
        options: &AcpOptions,
        spec: &SessionSpec,
        initialized: &Value,
    ) -> Result<(), AgentError> {
        let servers = mcp_servers(&spec.mcp_servers, initialized).map_err(|error| {
            AgentError::new(AgentErrorKind::Unsupported, error.to_string())
                .with_remedy("configure the server with a command: every agent can start one")
        })?;
        let answer = match &spec.resume {
            None => {
                let new = NewSessionRequest::new(&spec.cwd).mcp_servers(servers);
                self.connection.request("session/new", new)
            }
            Some(earlier) => {
                spec.refuse_unclaimed(&answered_claims(options, initialized))?;
                let load = LoadSessionRequest::new(earlier.as_str().to_owned(), &spec.cwd);
                self.connection
                    .request("session/load", load.mcp_servers(servers))
            }
        };
        let answered = self.answer(answer).await?;
        let id = match (&spec.resume, answered["sessionId"].as_str()) {
            (Some(earlier), _) => earlier.clone(),
            (None, Some(id)) => AgentSessionId::new(id),
            (None, None) => {
                let message = "the agent started a session without an ID";
                return Err(AgentError::new(AgentErrorKind::Protocol, message));
            }
        };
        if spec.resume.is_some() {
            self.discard_history(options.history_limit).await;
            self.usage_tracker = UsageTracker::UnknownStart;
        }
        let model = answered["models"]["currentModelId"].as_str();
        self.model = model.map(str::to_owned).or_else(|| spec.model.clone());
        self.session = Some(id);
        Ok(())
    }

    /// Discards the updates of a loaded conversation and refuses its permission requests, until the
    /// agent is silent for `limit`.
    async fn discard_history(&mut self, limit: Duration) {
        while let Ok(Some(incoming)) = timeout(limit, self.connection.recv()).await {
            match incoming {
                Incoming::Update(_) => {}
                Incoming::Permission(request, responder) => {
                    Answers::refuse(&Permission::parse(&request), *responder);
                }
                Incoming::Closed => return,
            }
        }
    }

    /// Waits for the answer to a request that is sent before the first prompt.
    async fn answer(&mut self, answer: PendingAnswer) -> Result<Value, AgentError> {
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(match decide(&self.ending(error).await, false) {
                Err(error) => error,
                Ok(outcome) => {
                    let message = format!("the agent could not start: it {outcome}");
                    AgentError::new(AgentErrorKind::Overloaded, message)
                }
            }),
        }
    }

    /// Converts an error answer to the end of a turn.
    pub(super) async fn ending(&self, error: Error) -> Ending {
        let is_disconnected = agent_client_protocol::is_incoming_transport_closed(&error)
            || agent_client_protocol::is_connection_terminated(&error);
        if is_disconnected {
            return self.exited_ending().await;
        }
        Ending::Refused {
            code: error.code.into(),
            message: error.message,
            data: error.data.unwrap_or_default(),
        }
    }

    /// Returns the end of an agent that closed its output.
    pub(super) async fn exited_ending(&self) -> Ending {
        let description = match self.connection.read_error() {
            Some(error) => format!("the output of the agent cannot be read: {error}"),
            None => match wait_for_exit(&self.process).await {
                Some(exit) => format!("the agent {exit}"),
                None => "the agent closed its output and is still running".to_owned(),
            },
        };
        let stderr = self.process.stderr_tail();
        if let Some(last) = stderr.lines().rev().find(|line| !line.trim().is_empty()) {
            let last: String = last.chars().take(300).collect();
            let description = format!("{description}; the last line of its standard error: {last}");
            return Ending::Exited { description };
        }
        Ending::Exited { description }
    }
}

/// Returns the shutdown policy of an agent. Closing its input ends most agents, but not always.
pub(super) fn shutdown_policy() -> ShutdownPolicy {
    ShutdownPolicy::kill_at_once()
        .then(ShutdownAction::CloseStdin, Duration::from_secs(3))
        .then(
            ShutdownAction::Signal(Signal::Interrupt),
            Duration::from_secs(2),
        )
        .then(
            ShutdownAction::Signal(Signal::Terminate),
            Duration::from_secs(2),
        )
}

/// Waits for `ready` within the start limit.
pub(crate) async fn within_start_limit<T>(
    options: &AcpOptions,
    ready: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let name = format!("the agent {}", options.name);
    ready_within(&name, options.program.start_limit, ready).await
}
