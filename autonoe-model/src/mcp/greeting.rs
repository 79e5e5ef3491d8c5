//! The beginning of a talk: who one is, and what tools there are.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, RunningService, serve_client};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::listing::list;
use super::refusal::Refusal;

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
