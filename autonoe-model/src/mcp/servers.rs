//! [`Servers`]: MCP servers of a session, and [`Server`], one of them from its start to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentError, SessionSpec, Tool};
use autonoe_process::{Launch, LaunchError};
use futures::future::join_all;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connection::{
    Connection, Handshake, HandshakeError, Service, StartFailure, abort_start, combine_failures,
    handshake,
};
use super::launch::{launch, shutdown_policy, sweep};
use super::listing::usable_tools;
use super::tool::McpTool;
use super::transport::{Fault, FilteredTransport, LineTransport, progress};
use super::{McpOptions, http};

/// MCP servers of a session: absent, starting or running.
///
/// A separate task starts them and continues when a turn is stopped; the next turn waits for it.
/// Dropping this ends the servers without waiting.
#[derive(Default)]
pub(crate) enum Servers {
    /// Not requested yet, or the last attempt failed.
    #[default]
    Absent,
    Starting {
        task: JoinHandle<Result<Running, AgentError>>,
        stop: DropGuard,
    },
    There(Vec<Server>),
}

/// Running servers and their tools.
pub(crate) struct Running {
    servers: Vec<Server>,
    started: Started,
}

/// Tools of started servers, with warnings.
pub(crate) struct Started {
    /// Tools, by the names for models.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Omitted tools, with reasons.
    pub(crate) warnings: Vec<String>,
}

impl Servers {
    /// Ensures that the servers of `spec` are running. Returns their tools the first time, and
    /// `None` if the servers were running before or there are none.
    ///
    /// # Errors
    ///
    /// A server failed to start. All servers are then ended, and the next call tries again.
    pub(crate) async fn ensure_started(
        &mut self,
        spec: &SessionSpec,
        options: &McpOptions,
    ) -> Result<Option<Started>, AgentError> {
        if spec.mcp_servers.is_empty() {
            return Ok(None);
        }
        if let Self::Absent = self {
            let stop = CancellationToken::new();
            let task = tokio::spawn(start(spec.clone(), options.clone(), stop.clone()));
            let stop = stop.drop_guard();
            *self = Self::Starting { task, stop };
        }
        let Self::Starting { task, .. } = self else {
            return Ok(None);
        };
        let ended = task.await;
        *self = Self::Absent;
        let running = ended.unwrap_or_else(|error| {
            let message = "the MCP servers of the session could not be started";
            Err(AgentError::new(AgentErrorKind::Other, message).with_source(error))
        })?;
        *self = Self::There(running.servers);
        Ok(Some(running.started))
    }

    /// Ends all servers, and waits until nothing of them is left.
    ///
    /// # Errors
    ///
    /// A process is left.
    pub(crate) async fn end(&mut self) -> Result<(), AgentError> {
        let servers = match std::mem::take(self) {
            Self::Absent => return Ok(()),
            Self::There(servers) => servers,
            Self::Starting { task, stop } => {
                drop(stop);
                // Servers that had started before the stop must still be ended.
                match task.await {
                    Ok(Ok(running)) => running.servers,
                    _ => return Ok(()),
                }
            }
        };
        end_all(servers).await
    }
}

async fn end_all(servers: Vec<Server>) -> Result<(), AgentError> {
    let ends = join_all(servers.into_iter().map(Server::end)).await;
    if ends.into_iter().all(|is_complete| is_complete) {
        return Ok(());
    }
    let message = "some processes of the session's MCP servers could not be killed";
    Err(AgentError::new(AgentErrorKind::Other, message))
}

/// Starts all servers concurrently. If one that the session needs fails, all of them are ended.
async fn start(
    spec: SessionSpec,
    options: McpOptions,
    stop: CancellationToken,
) -> Result<Running, AgentError> {
    let options = Arc::new(options);
    let temporary = options.temporary.clone();
    // Cleans up after killed hosts. A failure does not prevent the start.
    let _ = tokio::task::spawn_blocking(move || sweep(&temporary)).await;
    let starts = spec
        .mcp_servers
        .iter()
        .map(|(name, server)| Server::start(name, server, &spec, &options, &stop));
    let (mut servers, mut failures) = (Vec::new(), Vec::<StartFailure>::new());
    let mut started = Started {
        tools: Vec::new(),
        warnings: Vec::new(),
    };
    for result in join_all(starts).await {
        match result {
            Ok((server, listed_tools)) => {
                let connection = &server.connection;
                let (listed, warnings) = usable_tools(&connection.server, &listed_tools);
                for warning in &warnings {
                    tracing::warn!("{warning}");
                }
                started.warnings.extend(warnings);
                for tool in listed {
                    started.tools.push(Arc::new(McpTool {
                        connection: connection.clone(),
                        listed: tool,
                        options: options.clone(),
                    }));
                }
                servers.push(server);
            }
            Err(failure) => failures.push(failure),
        }
    }
    // A stopped server did not fail.
    if !stop.is_cancelled() {
        failures.retain(|failure| {
            let error = combine_failures(std::slice::from_ref(failure));
            !spec.may_start_without(&failure.server, &error)
        });
    }
    if failures.is_empty() {
        return Ok(Running { servers, started });
    }
    drop(started);
    if let Err(error) = end_all(servers).await {
        tracing::error!(%error, "an MCP server is still running after its session");
    }
    Err(combine_failures(&failures))
}

/// Maximum time to close the session of a remote server.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// A running server. Dropping it ends it without waiting.
pub(crate) struct Server {
    connection: Arc<Connection>,
    /// Task that reads its responses, until dropped.
    service: Option<Service>,
}

impl Server {
    /// Starts or connects a server. Returns it with its tools as JSON.
    ///
    /// # Errors
    ///
    /// The server was not ready in time, or `stop` was cancelled. Its processes are ended in this
    /// case.
    pub(super) async fn start(
        name: &str,
        server: &McpServer,
        spec: &SessionSpec,
        options: &McpOptions,
        stop: &CancellationToken,
    ) -> Result<(Self, Vec<Value>), StartFailure> {
        match server {
            McpServer::Stdio {
                command, args, env, ..
            } => {
                let launch = launch(command, args, env, spec, options)
                    .map_err(|reason| misconfigured(name, reason))?;
                Self::launch(name, launch, options, stop).await
            }
            McpServer::Remote { url, headers, .. } => {
                Self::connect(name, url, headers, options, stop).await
            }
            _ => {
                let reason = "agents on models do not support its transport";
                Err(StartFailure::new(name, AgentErrorKind::Unsupported, reason))
            }
        }
    }

    async fn launch(
        name: &str,
        launch: Launch,
        options: &McpOptions,
        stop: &CancellationToken,
    ) -> Result<(Self, Vec<Value>), StartFailure> {
        let started = launch.start().await.map_err(|error| {
            let kind = match error {
                LaunchError::System { .. } => AgentErrorKind::Other,
                _ => AgentErrorKind::Configuration,
            };
            StartFailure::new(name, kind, format!("it cannot be started: {error}"))
        })?;
        let (fault, progress) = (Arc::new(Fault::default()), progress());
        let longest = options.message_bytes;
        let lines = LineTransport::new(started.stdout, started.stdin, longest, fault.clone());
        let transport = FilteredTransport::new(lines, name, progress.clone());
        match handshake(transport, options.start_time, stop).await {
            Ok(Handshake { service, tools }) => {
                let (peer, process) = (service.peer().clone(), Some(started.process));
                let connection = Connection::new(name, peer, progress, fault, process);
                Ok((Self::new(connection, service), tools))
            }
            Err(refusal) => {
                // Output after our abort would only be about the abort.
                let so_far = started.process.stderr_tail();
                let mut end = abort_start(started.process, &refusal).await;
                if matches!(
                    refusal,
                    HandshakeError::TimedOut(_) | HandshakeError::Stopped
                ) {
                    end.stderr_tail = so_far;
                }
                let mut failure = StartFailure::new(name, refusal.kind(), refusal.of_child(&end));
                if let Some(fault) = fault.describe() {
                    failure.reason.push_str("; ");
                    failure.reason.push_str(&fault);
                }
                failure.stderr = end.stderr_tail;
                Err(failure)
            }
        }
    }

    /// Connects to a remote server.
    async fn connect(
        name: &str,
        url: &str,
        headers: &BTreeMap<String, String>,
        options: &McpOptions,
        stop: &CancellationToken,
    ) -> Result<(Self, Vec<Value>), StartFailure> {
        let transport = http::http_transport(url, headers, options)
            .map_err(|reason| misconfigured(name, reason))?;
        let progress = progress();
        let transport = FilteredTransport::new(transport, name, progress.clone());
        let greeted = handshake(transport, options.start_time, stop).await;
        let Handshake { service, tools } = greeted
            .map_err(|refusal| StartFailure::new(name, refusal.kind(), refusal.to_string()))?;
        let peer = service.peer().clone();
        let connection = Connection::new(name, peer, progress, Arc::default(), None);
        Ok((Self::new(connection, service), tools))
    }

    fn new(connection: Connection, service: Service) -> Self {
        Self {
            connection: Arc::new(connection),
            service: Some(service),
        }
    }

    /// Ends the server. Returns whether no process of it is left.
    pub(super) async fn end(mut self) -> bool {
        let service = self.service.take();
        let Some(process) = self.connection.take_process() else {
            if let Some(mut service) = service {
                // A remote server is notified that its session is over, if it is reachable.
                let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
            }
            return true;
        };
        let server = &self.connection.server;
        // Its output is still read meanwhile, so that it does not block on a full pipe.
        let end = process.shutdown(shutdown_policy()).await;
        tracing::debug!(%server, ended_by = ?end.ended_by, "stopped an MCP server");
        end.is_complete()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A running tool call may still hold the connection.
        drop(self.connection.take_process());
    }
}

fn misconfigured(name: &str, reason: String) -> StartFailure {
    StartFailure::new(name, AgentErrorKind::Configuration, reason)
}
