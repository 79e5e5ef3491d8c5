//! Commands that submit, watch and control runs.

mod command_hint;
mod control;
mod fetch_error;
mod fleet;
mod journal_cursor;
mod journal_formatter;
mod list;
mod logs;
mod remote_journal;
mod status;
mod submit;
#[cfg(test)]
mod tests;
mod view_changes;
mod watch;

use async_trait::async_trait;
use autonoe_app::{AppError, exit_code};
use autonoe_core::engine::{Engine, EngineError};
use autonoe_core::event::TraceContext;
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_temporal::{JournalError, RunSummary, TemporalEngine};

use crate::args::{Command, ServerArgs};
use crate::output::Output;

/// An engine that lists its runs and reads their journals on other hosts.
#[async_trait]
pub(crate) trait Cluster: Engine {
    async fn journal(
        &self,
        host: &str,
        ask: JournalPageRequest,
    ) -> Result<JournalPage, JournalError>;

    async fn list(&self, limit: usize) -> Result<Vec<RunSummary>, EngineError>;
}

#[async_trait]
impl Cluster for TemporalEngine {
    async fn journal(
        &self,
        host: &str,
        ask: JournalPageRequest,
    ) -> Result<JournalPage, JournalError> {
        self.journal(host, ask).await
    }

    async fn list(&self, limit: usize) -> Result<Vec<RunSummary>, EngineError> {
        self.list(limit).await
    }
}

/// Runs a command on the cluster that `connect` connects to, and returns its exit code. `trace` is
/// the trace of the caller.
pub(crate) async fn run<C: Cluster>(
    command: &Command,
    server: &ServerArgs,
    trace: Option<TraceContext>,
    connect: impl Future<Output = Result<C, AppError>>,
    output: &Output,
    interrupted: impl Future<Output = ()>,
) -> Result<u8, AppError> {
    if let Command::Submit(args) = command {
        return submit::submit(args, server, trace, connect, output, interrupted).await;
    }
    let done = async {
        let cluster = connect.await?;
        match command {
            Command::Status(args) => status::status(args, &cluster, output).await,
            Command::Logs(args) => logs::logs(args, server, &cluster, output).await,
            Command::Pause(args) => control::pause(args, server, &cluster, output).await,
            Command::Resume(args) => control::resume(args, server, &cluster, output).await,
            Command::Send(args) => control::send_message(args, server, &cluster, output).await,
            Command::Cancel(args) => control::cancel(args, server, &cluster, output).await,
            Command::List(args) => list::list(args, &cluster, output).await,
            Command::Worker(_) | Command::Submit(_) | Command::Mcp(_) => Ok(()),
        }
    };
    tokio::select! {
        biased;
        done = done => done.map(|()| 0),
        () = interrupted => Ok(exit_code::INTERRUPTED),
    }
}
