//! [`Servers`]: MCP servers of a session.

use std::sync::Arc;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentError, SessionSpec, Tool};
use futures::future::join_all;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::McpOptions;
use super::failure::{StartFailure, combine_failures};
use super::launch::sweep;
use super::listing::usable_tools;
use super::server::Server;
use super::tool::McpTool;

/// MCP servers of a session: absent, starting or running.
///
/// A separate task starts them and continues when a turn is stopped; the next turn waits for it.
/// Dropping this ends the servers without waiting.
pub(crate) struct Servers {
    state: State,
}

enum State {
    /// Not requested yet, or the last attempt failed.
    Absent,
    Starting {
        task: JoinHandle<Result<Running, AgentError>>,
        stop: DropGuard,
    },
    There(Vec<Server>),
}

/// Running servers and their tools.
struct Running {
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
    pub(crate) fn new() -> Self {
        Self {
            state: State::Absent,
        }
    }

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
        if matches!(self.state, State::Absent) {
            let stop = CancellationToken::new();
            let task = tokio::spawn(start(spec.clone(), options.clone(), stop.clone()));
            let stop = stop.drop_guard();
            self.state = State::Starting { task, stop };
        }
        let State::Starting { task, .. } = &mut self.state else {
            return Ok(None);
        };
        let ended = task.await;
        self.state = State::Absent;
        let running = ended.unwrap_or_else(|error| {
            let message = "the MCP servers of the session could not be started";
            Err(AgentError::new(AgentErrorKind::Other, message).with_source(error))
        })?;
        self.state = State::There(running.servers);
        Ok(Some(running.started))
    }

    /// Ends all servers, and waits until nothing of them is left.
    ///
    /// # Errors
    ///
    /// A process is left.
    pub(crate) async fn end(&mut self) -> Result<(), AgentError> {
        let servers = match std::mem::replace(&mut self.state, State::Absent) {
            State::Absent => return Ok(()),
            State::There(servers) => servers,
            State::Starting { task, stop } => {
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
            Ok((server, told)) => {
                let connection = server.connection();
                let (listed, warnings) = usable_tools(&connection.server, &told);
                for warning in &warnings {
                    tracing::warn!("{warning}");
                }
                started.warnings.extend(warnings);
                for tool in listed {
                    let tool = McpTool::new(connection.clone(), tool, options.clone());
                    started.tools.push(Arc::new(tool));
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
