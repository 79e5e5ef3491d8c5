//! Start of an agent, until it is ready for a prompt.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest,
};
use autonoe_backend::sweep;
use autonoe_core::{AgentError, AgentErrorKind, AgentSessionId, SessionSpec};
use autonoe_process::{Action, Ladder, Launch, Process, Signal, Started};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::answers::Answers;
use super::connection::{Answered, Connection, Incoming};
use crate::events::{Spending, Translator};
use crate::launch::{AcpOptions, BY_API_KEY, FOLDER, answered_claims, api_key, launch};
use crate::outcome::{Ending, decide};
use crate::wire::{Permission, mcp_servers};

/// How long a program that closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// An agent that lives, and all that belongs to the talk with it.
pub(crate) struct Live {
    pub(super) process: Process,
    pub(super) connection: Connection,
    pub(super) translator: Translator,
    pub(super) spending: Spending,
    pub(super) session: Option<AgentSessionId>,
    pub(super) model: Option<String>,
}

impl Live {
    /// Starts the agent of a session. It must be [ready](Self::ready) before it is asked anything.
    ///
    /// # Errors
    ///
    /// It could not be started. Nothing of it lives then.
    pub(super) async fn launch(
        options: &AcpOptions,
        spec: &SessionSpec,
    ) -> Result<Self, AgentError> {
        // A killed host could not do it.
        sweep(&options.temporary, FOLDER).await;
        let servers = options.servers(&spec.mcp_servers).into_keys().collect();
        let translator = Translator::new(options.preset.dialect(), servers);
        Self::start(options, launch(options, spec).await?, translator).await
    }

    /// Starts an agent by `launch`.
    ///
    /// # Errors
    ///
    /// It could not be started. Nothing of it lives then.
    pub(crate) async fn start(
        options: &AcpOptions,
        launch: Launch,
        translator: Translator,
    ) -> Result<Self, AgentError> {
        let Started {
            process,
            stdin,
            stdout,
        } = launch.start().await.map_err(|error| {
            let message = format!(
                "the program of the agent {} cannot be started",
                options.name
            );
            AgentError::new(AgentErrorKind::NotAvailable, message).because(error)
        })?;
        let Some(connection) = Connection::open(stdin, stdout).await else {
            let message = "nobody can talk to the agent";
            return Err(AgentError::new(AgentErrorKind::Crashed, message));
        };
        Ok(Self {
            process,
            connection,
            translator,
            spending: Spending::new(),
            session: None,
            model: None,
        })
    }

    /// Waits until the agent is ready for a prompt.
    ///
    /// # Errors
    ///
    /// It is not. It may still live then.
    pub(super) async fn ready(
        &mut self,
        options: &AcpOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let limit = options.start_limit;
        let ready = timeout(limit, async {
            let answer = self.initialize(options).await?;
            self.authenticate(options, spec).await?;
            self.begin(options, spec, &answer).await
        });
        ready.await.unwrap_or_else(|_elapsed| Err(late(options)))
    }

    /// Sends `initialize`, and returns the answer.
    ///
    /// # Errors
    ///
    /// The agent does not answer, or uses another version of the protocol.
    pub(crate) async fn initialize(&mut self, options: &AcpOptions) -> Result<Value, AgentError> {
        // No file system and no terminal are offered: an agent that has them works past its own
        // questions.
        let us = Implementation::new("autonoe", env!("CARGO_PKG_VERSION"));
        let request = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let answer = self.connection.ask("initialize", request);
        let answer = self.answer(answer).await?;
        if answer["protocolVersion"] != 1 {
            let version = &answer["protocolVersion"];
            let message = format!(
                "the agent {} speaks version {version} of the protocol, and not version 1",
                options.name
            );
            return Err(AgentError::new(AgentErrorKind::Protocol, message));
        }
        Ok(answer)
    }

    /// Sends the API key to the agent, if its environment does not have it.
    async fn authenticate(
        &mut self,
        options: &AcpOptions,
        spec: &SessionSpec,
    ) -> Result<(), AgentError> {
        let Some(key) = api_key(options, spec) else {
            return Ok(());
        };
        let request = json!({"methodId": BY_API_KEY, "_meta": {"api-key": key}});
        let answer = self.connection.ask("authenticate", request);
        self.answer(answer).await.map(drop)
    }

    async fn begin(
        &mut self,
        options: &AcpOptions,
        spec: &SessionSpec,
        told: &Value,
    ) -> Result<(), AgentError> {
        let servers = mcp_servers(&options.servers(&spec.mcp_servers), told).map_err(|error| {
            AgentError::new(AgentErrorKind::Unsupported, error.to_string())
                .with_remedy("name the server by a command: every agent can start one")
        })?;
        let answer = match &spec.resume {
            None => {
                let new = NewSessionRequest::new(&spec.cwd).mcp_servers(servers);
                self.connection.ask("session/new", new)
            }
            Some(earlier) => {
                spec.refuse_unclaimed(&answered_claims(options, told))?;
                let load = LoadSessionRequest::new(earlier.as_str().to_owned(), &spec.cwd);
                self.connection
                    .ask("session/load", load.mcp_servers(servers))
            }
        };
        let begun = self.answer(answer).await?;
        let id = match (&spec.resume, begun["sessionId"].as_str()) {
            (Some(earlier), _) => earlier.clone(),
            (None, Some(id)) => AgentSessionId::new(id),
            (None, None) => {
                let message = "the agent began a session without a name";
                return Err(AgentError::new(AgentErrorKind::Protocol, message));
            }
        };
        if spec.resume.is_some() {
            self.hear_history(options.history_limit).await;
            self.spending = Spending::SinceLongAgo;
        }
        let model = begun["models"]["currentModelId"].as_str();
        let asked_for = || spec.model.as_ref().or(options.model.as_ref()).cloned();
        self.model = model.map(str::to_owned).or_else(asked_for);
        self.session = Some(id);
        Ok(())
    }

    /// Discards the updates of a loaded conversation and refuses its permission requests, until the
    /// agent is silent for `limit`.
    async fn hear_history(&mut self, limit: Duration) {
        while let Ok(Some(incoming)) = timeout(limit, self.connection.next()).await {
            match incoming {
                Incoming::Update(_) => {}
                Incoming::Permission(asked, responder) => {
                    Answers::refuse(&Permission::read(&asked), *responder);
                }
                Incoming::Closed => return,
            }
        }
    }

    /// Waits for the answer to something that is asked before the first prompt.
    async fn answer(&mut self, answer: Answered) -> Result<Value, AgentError> {
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(match decide(&self.ending(error).await, false) {
                Err(error) => error,
                Ok(outcome) => {
                    let message = format!("the agent could not begin: it {outcome}");
                    AgentError::new(AgentErrorKind::Overloaded, message)
                }
            }),
        }
    }

    /// Says what an error means that a request was answered with.
    pub(super) async fn ending(&self, error: Error) -> Ending {
        let is_gone = agent_client_protocol::is_incoming_transport_closed(&error)
            || agent_client_protocol::is_connection_terminated(&error);
        if is_gone {
            return self.gone().await;
        }
        Ending::Refused {
            code: error.code.into(),
            message: error.message,
            data: error.data.unwrap_or_default(),
        }
    }

    /// Ends the agent, and everything that it started.
    pub(crate) async fn end(self) {
        // Nothing is answered any more, so nothing is allowed.
        drop(self.connection);
        let report = self.process.shut_down(goodbye()).await;
        if !report.is_complete() {
            tracing::error!(?report, "something of an agent is left");
        }
    }

    /// Returns how an agent ended that closed its output.
    pub(super) async fn gone(&self) -> Ending {
        let limit = match self.connection.why_broken() {
            Some(_) => Duration::ZERO,
            None => LAST_BREATH,
        };
        let exited = timeout(limit, self.process.exited()).await;
        let mut how = match (self.connection.why_broken(), exited) {
            (Some(why), _) => format!("the agent cannot be understood: {why}"),
            (None, Ok(exit)) => format!("the agent {exit}"),
            (None, Err(_elapsed)) => "the agent closed its output and is still running".to_owned(),
        };
        let stderr = self.process.stderr_tail();
        if let Some(last) = stderr.lines().rev().find(|line| !line.trim().is_empty()) {
            let last: String = last.chars().take(300).collect();
            how = format!("{how}; it said last: {last}");
        }
        Ending::Gone { how }
    }
}

/// How an agent is ended. The end of its input is enough for most, and not always for any.
fn goodbye() -> Ladder {
    Ladder::kill_at_once()
        .then(Action::CloseStdin, Duration::from_secs(3))
        .then(Action::Signal(Signal::Interrupt), Duration::from_secs(2))
        .then(Action::Signal(Signal::Terminate), Duration::from_secs(2))
}

/// Says that an agent did not get ready in time.
pub(crate) fn late(options: &AcpOptions) -> AgentError {
    let (name, limit) = (&options.name, options.start_limit);
    let message = format!("the agent {name} was not ready after {limit:?}");
    AgentError::new(AgentErrorKind::Timeout, message)
}
