//! The servers of a session.

use std::sync::Arc;

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec, Tool};
use futures::future::join_all;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::McpOptions;
use super::failure::{StartFailure, of_all};
use super::launch::sweep;
use super::listing::usable;
use super::server::Server;
use super::tool::McpTool;

/// The servers of a session: none, being started, or there.
///
/// They are started by a task of their own, which goes on when a turn is stopped; the next turn
/// waits for it. When this is dropped they are ended, and nobody waits for that.
pub(crate) struct Servers {
    state: State,
}

enum State {
    /// Nobody has asked for them yet, or the last try failed.
    Absent,
    Starting {
        task: JoinHandle<Result<Running, AgentError>>,
        stop: DropGuard,
    },
    There(Vec<Server>),
}

/// What was started.
struct Running {
    servers: Vec<Server>,
    started: Started,
}

/// The tools of servers that were started, and what is to be told of them.
pub(crate) struct Started {
    /// Their tools, by the names that models know.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Which tools were left out, and why.
    pub(crate) warnings: Vec<String>,
}

impl Servers {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Absent,
        }
    }

    /// Sees that the servers of `spec` are there. Returns their tools the first time that they
    /// are, and `None` if they were before or there are none to start.
    ///
    /// # Errors
    ///
    /// One is not. None is then, and the next call tries again.
    pub(crate) async fn ready(
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
            Err(AgentError::new(AgentErrorKind::Other, message).because(error))
        })?;
        self.state = State::There(running.servers);
        Ok(Some(running.started))
    }

    /// Ends them all, and waits until nothing of them is left.
    ///
    /// # Errors
    ///
    /// Something is left.
    pub(crate) async fn end(&mut self) -> Result<(), AgentError> {
        let servers = match std::mem::replace(&mut self.state, State::Absent) {
            State::Absent => return Ok(()),
            State::There(servers) => servers,
            State::Starting { task, stop } => {
                drop(stop);
                // What had been started before it heard of the end is still to be ended.
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
    let message = "processes of the session's MCP servers could not be ended";
    Err(AgentError::new(AgentErrorKind::Other, message))
}

/// Starts all servers side by side. If one fails that the session needs, none is left.
async fn start(
    spec: SessionSpec,
    options: McpOptions,
    stop: CancellationToken,
) -> Result<Running, AgentError> {
    let options = Arc::new(options);
    let temporary = options.temporary.clone();
    // A killed host could not do it. If it fails, that is no reason not to start.
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
                let (listed, warnings) = usable(&connection.server, &told);
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
    // A server that was stopped did not fail.
    if !stop.is_cancelled() {
        failures.retain(|failure| {
            let error = of_all(std::slice::from_ref(failure));
            !spec.may_start_without(&failure.server, &error)
        });
    }
    if failures.is_empty() {
        return Ok(Running { servers, started });
    }
    drop(started);
    if let Err(error) = end_all(servers).await {
        tracing::error!(%error, "an MCP server outlives its session");
    }
    Err(of_all(&failures))
}
