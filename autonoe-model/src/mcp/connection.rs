//! [`Connection`]: handshake and live connection to an MCP server, and failures of its start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::tool::ToolErrorCode;
use autonoe_core::{AgentError, ToolError};
use autonoe_process::{Process, ShutdownAction, ShutdownPolicy, ShutdownReport};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorCode, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError, serve_client};
use rmcp::transport::Transport;
use rmcp::{Peer, RoleClient};
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::listing::list;
use super::transport::{Fault, Progress};

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
                let (server, source) = (&self.server, error.error);
                let message = format!("the request to the MCP server {server:?} failed: {source}");
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
        let ending = match (guard.as_ref(), self.fault.fatal()) {
            (None, _) => "closed the connection".to_owned(),
            (Some(_), Some(fatal)) => format!("was disconnected: {fatal}"),
            (Some(process), None) => {
                let ending = process.try_exit().map_or_else(
                    || "closed the connection".to_owned(),
                    |exit| exit.to_string(),
                );
                format!("{ending}{}", stderr_suffix(&process.stderr_tail()))
            }
        };
        let message = format!("the MCP server {server:?} is not available any more; it {ending}");
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
    transport: T,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Handshake, HandshakeError>
where
    T: Transport<RoleClient> + 'static,
{
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(HandshakeError::Stopped),
        greeted = timeout(limit, begin(transport)) => {
            greeted.unwrap_or(Err(HandshakeError::TimedOut(limit)))
        }
    }
}

async fn begin<T>(transport: T) -> Result<Handshake, HandshakeError>
where
    T: Transport<RoleClient> + 'static,
{
    let us = Implementation::new("autonoe", env!("CARGO_PKG_VERSION"));
    let us = ClientConfig::new(ClientCapabilities::default(), us)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let service = serve_client(us, transport).await;
    let service = service.map_err(|error| match error {
        ClientInitializeError::ConnectionClosed(_) => HandshakeError::Ended,
        ClientInitializeError::TransportError { error, .. } => {
            HandshakeError::Unreachable(error.error.to_string())
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

/// Maximum length of a server's stderr in messages, in bytes.
const TAIL: usize = 2_000;

/// Reason that a server could not be started.
#[derive(Debug, thiserror::Error)]
#[error("the MCP server {server:?} of the session: {reason}{}", stderr_suffix(.stderr))]
pub(super) struct StartFailure {
    pub(super) server: String,
    pub(super) kind: AgentErrorKind,
    pub(super) reason: String,
    pub(super) stderr: String,
}

impl StartFailure {
    pub(super) fn new(server: &str, kind: AgentErrorKind, reason: impl Into<String>) -> Self {
        Self {
            server: server.to_owned(),
            kind,
            reason: reason.into(),
            stderr: String::new(),
        }
    }
}

/// Combines the failures of all servers into one error.
pub(super) fn combine_failures(failures: &[StartFailure]) -> AgentError {
    let kinds = failures.iter().map(|failure| failure.kind);
    // One failure that retrying cannot fix makes the whole error permanent.
    let kind = kinds
        .clone()
        .find(|kind| !kind.is_retryable())
        .or_else(|| kinds.clone().next())
        .unwrap_or(AgentErrorKind::Other);
    let reasons: Vec<_> = failures.iter().map(ToString::to_string).collect();
    AgentError::new(kind, reasons.join("; "))
        .with_remedy("check that its command can be started, or leave it out of mcpServers")
}

/// Returns the end of a program's stderr as a clause, or an empty text.
pub(super) fn stderr_suffix(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() {
        return String::new();
    }
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    format!("; its standard error ended with: {}", &text[from..])
}

/// Maximum time for a server to exit after it has closed its output. The error reports the exit
/// status.
pub(super) const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// Maximum time for a running server to exit before it is killed.
const KILL_DELAY: Duration = Duration::from_millis(500);

/// Reason that the handshake with a server failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum HandshakeError {
    #[error("its start was cancelled because the session ended")]
    Stopped,
    #[error("it was not ready after {0:?}")]
    TimedOut(Duration),
    /// The connection ended.
    #[error("it ended the connection before it was ready")]
    Ended,
    /// The connection failed, with the reason.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The server sent an invalid or negative response.
    #[error("{0}")]
    Protocol(String),
}

impl HandshakeError {
    pub(super) fn kind(&self) -> AgentErrorKind {
        match self {
            Self::TimedOut(_) => AgentErrorKind::Timeout,
            Self::Stopped | Self::Ended | Self::Unreachable(_) | Self::Protocol(_) => {
                AgentErrorKind::Other
            }
        }
    }

    /// Describes the failure of a child process that has ended this way.
    pub(super) fn of_child(&self, end: &ShutdownReport) -> String {
        match (self, end.exit) {
            // The exit status says more than a broken pipe.
            (Self::Ended | Self::Unreachable(_), Some(exit)) => {
                format!("it {exit} before it was ready")
            }
            _ => self.to_string(),
        }
    }
}

/// Ends a server whose handshake failed.
pub(super) async fn abort_start(process: Process, refusal: &HandshakeError) -> ShutdownReport {
    let limit = match refusal {
        HandshakeError::Ended | HandshakeError::Unreachable(_) => EXIT_LIMIT,
        HandshakeError::Protocol(_) => KILL_DELAY,
        HandshakeError::Stopped | HandshakeError::TimedOut(_) => Duration::ZERO,
    };
    let _ = timeout(limit, process.exited()).await;
    let brief = ShutdownPolicy::kill_at_once().then(ShutdownAction::CloseStdin, KILL_DELAY);
    process.shutdown(brief).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_failure_takes_precedence_over_timeout() {
        let fails = |kind| StartFailure::new("s", kind, "it is broken");
        let both = [
            fails(AgentErrorKind::Timeout),
            fails(AgentErrorKind::Configuration),
        ];

        assert_eq!(combine_failures(&both).code(), "configuration");
        assert_eq!(combine_failures(&both[..1]).code(), "timeout");
    }

    #[test]
    fn the_end_of_a_long_complaint_is_repeated() {
        let long = format!("{}ä: no browser\n", "x".repeat(5_000));

        let suffix = stderr_suffix(&long);

        assert!(suffix.ends_with("ä: no browser"), "{suffix}");
        assert!(suffix.len() < 2_100);
        assert_eq!(stderr_suffix(" \n"), "");
    }
}
