//! [`Connection`]: handshake and live connection to an MCP server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::ToolError;
use autonoe_core::tool::ToolErrorCode;
use autonoe_process::Process;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorCode, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError, serve_client};
use rmcp::transport::Transport;
use rmcp::{Peer, RoleClient};
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::failure::{EXIT_LIMIT, HandshakeError, stderr_suffix};
use super::filtered_transport::Progress;
use super::lines::Fault;
use super::listing::list;

/// Live connection to a server, shared by its tools.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) server: String,
    pub(super) peer: Peer<RoleClient>,
    pub(super) progress: Progress,
    pub(super) fault: Arc<Fault>,
    /// `None` if the server is remote, or was ended with the session.
    process: Mutex<Option<Process>>,
}

impl Connection {
    pub(super) fn new(
        server: &str,
        peer: Peer<RoleClient>,
        progress: Progress,
        fault: Arc<Fault>,
        process: Option<Process>,
    ) -> Self {
        Self {
            server: server.to_owned(),
            peer,
            progress,
            fault,
            process: Mutex::new(process),
        }
    }

    /// Takes the process, to end it.
    pub(super) fn take_process(&self) -> Option<Process> {
        self.process().take()
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts the error of a request into a tool error.
    pub(super) async fn failed(&self, error: ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(error) => refused(&error),
            ServiceError::TransportSend(error) if self.process().is_none() => {
                let (server, why) = (&self.server, error.error);
                let message = format!("the request to the MCP server {server:?} failed: {why}");
                ToolError::new(ToolErrorCode::IO_ERROR, message)
            }
            _ => self.closed_error().await,
        }
    }

    /// Returns the error for a server that has ended, with the reason.
    async fn closed_error(&self) -> ToolError {
        // A server exits a moment after it has closed its output. After a fatal fault it may still
        // run, and the error reports the fault.
        let exited = match self.fault.fatal() {
            Some(_) => None,
            None => self.process().as_ref().map(Process::exited),
        };
        if let Some(exited) = exited {
            let _ = tokio::time::timeout(EXIT_LIMIT, exited).await;
        }
        let server = &self.server;
        let guard = self.process();
        let how = match (guard.as_ref(), self.fault.fatal()) {
            (None, _) => "closed the connection".to_owned(),
            (Some(_), Some(fatal)) => format!("was disconnected: {fatal}"),
            (Some(process), None) => {
                let how = process.try_exit().map_or_else(
                    || "closed the connection".to_owned(),
                    |exit| exit.to_string(),
                );
                format!("{how}{}", stderr_suffix(&process.stderr_tail()))
            }
        };
        let message = format!("the MCP server {server:?} is not available any more; it {how}");
        ToolError::new(ToolErrorCode::IO_ERROR, message)
    }
}

/// Converts the error response of a server.
fn refused(error: &ErrorData) -> ToolError {
    let code = match error.code {
        ErrorCode::INVALID_PARAMS => ToolErrorCode::VALIDATION_ERROR,
        ErrorCode::METHOD_NOT_FOUND => ToolErrorCode::NOT_FOUND,
        _ => ToolErrorCode::UNKNOWN,
    };
    ToolError::new(code, error.message.to_string())
}

/// Task that reads the responses of a server, until it is dropped.
pub(super) type Service = RunningService<RoleClient, ClientConfig>;

/// Result of a successful handshake.
pub(super) struct Handshake {
    pub(super) service: Service,
    /// Tools as JSON, as listed by the server.
    pub(super) tools: Vec<Value>,
}

/// Performs the handshake and lists the tools, within `limit` and until `stop` is cancelled.
pub(super) async fn handshake<T>(
    talk: T,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Handshake, HandshakeError>
where
    T: Transport<RoleClient> + 'static,
{
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(HandshakeError::Stopped),
        greeted = timeout(limit, begin(talk)) => greeted.unwrap_or(Err(HandshakeError::TimedOut(limit))),
    }
}

async fn begin<T>(talk: T) -> Result<Handshake, HandshakeError>
where
    T: Transport<RoleClient> + 'static,
{
    let us = Implementation::new("autonoe", env!("CARGO_PKG_VERSION"));
    let us = ClientConfig::new(ClientCapabilities::default(), us)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let service = serve_client(us, talk).await;
    let service = service.map_err(|error| match error {
        ClientInitializeError::ConnectionClosed(_) => HandshakeError::Ended(None),
        ClientInitializeError::TransportError { error, .. } => {
            HandshakeError::Ended(Some(error.error.to_string()))
        }
        ClientInitializeError::JsonRpcError(error) => {
            HandshakeError::Protocol(format!("it refuses the connection: {}", error.message))
        }
        _ => HandshakeError::Protocol("it violates the MCP protocol".to_owned()),
    })?;
    let tools = list(service.peer())
        .await
        .map_err(HandshakeError::Protocol)?;
    Ok(Handshake { service, tools })
}
