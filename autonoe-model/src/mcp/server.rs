//! [`Server`]: one MCP server, from its start to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::SessionSpec;
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::tool::McpServer;
use autonoe_process::{Launch, LaunchError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::McpOptions;
use super::connection::Connection;
use super::connection::{Handshake, Service, handshake};
use super::failure::StartFailure;
use super::failure::{HandshakeError, abort_start};
use super::filtered_transport::{FilteredTransport, progress};
use super::http;
use super::launch::{ladder, launch};
use super::lines::{Fault, LineTransport};

/// Maximum time to close the session of a remote server.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// A running server. Dropping it ends it without waiting.
pub(super) struct Server {
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
        let talk = FilteredTransport::new(lines, name, progress.clone());
        match handshake(talk, options.start_time, stop).await {
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
        let talk = http::http_transport(url, headers, options);
        let talk = talk.map_err(|reason| misconfigured(name, reason))?;
        let progress = progress();
        let talk = FilteredTransport::new(talk, name, progress.clone());
        let greeted = handshake(talk, options.start_time, stop).await;
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

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
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
        let end = process.shutdown(ladder()).await;
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
