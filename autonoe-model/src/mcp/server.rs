//! One server, from its start to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{AgentErrorKind, McpServer, SessionSpec};
use autonoe_process::{Launch, LaunchError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::McpOptions;
use super::connection::Connection;
use super::connection::{Greeting, Service, greet};
use super::failure::StartFailure;
use super::failure::{Refusal, break_off};
use super::http;
use super::launch::{ladder, launch};
use super::lines::{Fault, Lines};
use super::sifted::{Sifted, progress};

/// How long a server that is elsewhere has to hear that its session is over.
const FAREWELL: Duration = Duration::from_secs(3);

/// One server that is there. When it is dropped it is ended, and nobody waits for that.
pub(super) struct Server {
    connection: Arc<Connection>,
    /// What reads its answers, until this is dropped.
    service: Option<Service>,
}

impl Server {
    /// Starts a server, and returns it with the tools that it tells of.
    ///
    /// # Errors
    ///
    /// It was not ready in time, or `stop` was cancelled. Nothing of it lives then.
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
                Self::reach(name, url, headers, options, stop).await
            }
            _ => {
                let reason = "it cannot be reached by an agent in this process";
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
        let lines = Lines::new(started.stdout, started.stdin, longest, fault.clone());
        let talk = Sifted::new(lines, name, progress.clone());
        match greet(talk, options.start_time, stop).await {
            Ok(Greeting { service, tools }) => {
                let (peer, process) = (service.peer().clone(), Some(started.process));
                let connection = Connection::new(name, peer, progress, fault, process);
                Ok((Self::new(connection, service), tools))
            }
            Err(refusal) => {
                // What it writes when we do not listen any more is about that.
                let so_far = started.process.stderr_tail();
                let mut end = break_off(started.process, &refusal).await;
                if matches!(refusal, Refusal::Late(_) | Refusal::Stopped) {
                    end.stderr_tail = so_far;
                }
                let mut failure = StartFailure::new(name, refusal.kind(), refusal.of_child(&end));
                if let Some(fault) = fault.say() {
                    failure.reason.push_str("; ");
                    failure.reason.push_str(&fault);
                }
                failure.stderr = end.stderr_tail;
                Err(failure)
            }
        }
    }

    /// Reaches a server that is elsewhere.
    async fn reach(
        name: &str,
        url: &str,
        headers: &BTreeMap<String, String>,
        options: &McpOptions,
        stop: &CancellationToken,
    ) -> Result<(Self, Vec<Value>), StartFailure> {
        let talk = http::talk(url, headers, options);
        let talk = talk.map_err(|reason| misconfigured(name, reason))?;
        let progress = progress();
        let talk = Sifted::new(talk, name, progress.clone());
        let greeted = greet(talk, options.start_time, stop).await;
        let Greeting { service, tools } = greeted
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

    /// Ends the server, and tells whether nothing of it is left.
    pub(super) async fn end(mut self) -> bool {
        let service = self.service.take();
        let Some(process) = self.connection.take_process() else {
            if let Some(mut service) = service {
                // One that is elsewhere is told that its session is over, if it listens.
                let _ = service.close_with_timeout(FAREWELL).await;
            }
            return true;
        };
        let server = &self.connection.server;
        // Its output is read on meanwhile, so that it does not wait for that.
        let end = process.shut_down(ladder()).await;
        tracing::debug!(%server, ended_by = ?end.ended_by, "an MCP server was ended");
        end.is_complete()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A tool that is being called may still hold the connection.
        drop(self.connection.take_process());
    }
}

fn misconfigured(name: &str, reason: String) -> StartFailure {
    StartFailure::new(name, AgentErrorKind::Configuration, reason)
}
