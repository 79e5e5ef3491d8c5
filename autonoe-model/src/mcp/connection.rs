//! A server that is there, as its tools see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::{ToolError, ToolErrorCode};
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

use super::failure::{EXIT_LIMIT, Refusal, said_last};
use super::lines::Fault;
use super::listing::list;
use super::sifted::Progress;

/// A server that is there, as its tools see it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) server: String,
    pub(super) peer: Peer<RoleClient>,
    pub(super) progress: Progress,
    pub(super) fault: Arc<Fault>,
    /// `None` if it is elsewhere, or was ended with the session.
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

    /// Says why there is no answer.
    pub(super) async fn failed(&self, error: ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(error) => refused(&error),
            ServiceError::TransportSend(error) if self.process().is_none() => {
                let (server, why) = (&self.server, error.error);
                let message = format!("the MCP server {server:?} could not be asked: {why}");
                ToolError::new(ToolErrorCode::IO_ERROR, message)
            }
            _ => self.gone().await,
        }
    }

    /// Says how the server ended.
    async fn gone(&self) -> ToolError {
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
            (None, _) => "does not talk any more".to_owned(),
            (Some(_), Some(fatal)) => format!("is not talked to any more: {fatal}"),
            (Some(process), None) => {
                let how = process.try_exit().map_or_else(
                    || "does not talk any more".to_owned(),
                    |exit| exit.to_string(),
                );
                format!("{how}{}", said_last(&process.stderr_tail()))
            }
        };
        let message = format!("the MCP server {server:?} is gone; it {how}");
        ToolError::new(ToolErrorCode::IO_ERROR, message)
    }
}

/// What a server says that refuses a call.
fn refused(error: &ErrorData) -> ToolError {
    let code = match error.code {
        ErrorCode::INVALID_PARAMS => ToolErrorCode::VALIDATION_ERROR,
        ErrorCode::METHOD_NOT_FOUND => ToolErrorCode::NOT_FOUND,
        _ => ToolErrorCode::UNKNOWN,
    };
    ToolError::new(code, error.message.to_string())
}

/// What reads the answers of a server, until it is dropped.
pub(super) type Service = RunningService<RoleClient, ClientConfig>;

/// A talk that has begun.
pub(super) struct Greeting {
    pub(super) service: Service,
    /// The tools, as the server tells them.
    pub(super) tools: Vec<Value>,
}

/// Says hello, and asks for the tools, within `limit` and unless `stop` is cancelled.
pub(super) async fn greet<T>(
    talk: T,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Greeting, Refusal>
where
    T: Transport<RoleClient> + 'static,
{
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(Refusal::Stopped),
        greeted = timeout(limit, begin(talk)) => greeted.unwrap_or(Err(Refusal::Late(limit))),
    }
}

async fn begin<T>(talk: T) -> Result<Greeting, Refusal>
where
    T: Transport<RoleClient> + 'static,
{
    let us = Implementation::new("autonoe", env!("CARGO_PKG_VERSION"));
    let us = ClientConfig::new(ClientCapabilities::default(), us)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let service = serve_client(us, talk).await;
    let service = service.map_err(|error| match error {
        ClientInitializeError::ConnectionClosed(_) => Refusal::Ended(None),
        ClientInitializeError::TransportError { error, .. } => {
            Refusal::Ended(Some(error.error.to_string()))
        }
        ClientInitializeError::JsonRpcError(error) => {
            Refusal::Said(format!("it refuses to talk: {}", error.message))
        }
        _ => Refusal::Said("it does not speak MCP as it should".to_owned()),
    })?;
    let tools = list(service.peer()).await.map_err(Refusal::Said)?;
    Ok(Greeting { service, tools })
}
