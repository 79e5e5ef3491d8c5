//! Requests to a program over its pipes, and the shutdown of its process.

use std::collections::HashMap;
use std::time::Duration;

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_process::{Exit, Process, ShutdownPolicy, Stdin};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of lines in one write.
const BATCH: usize = 64;

/// Creates a queue of whole lines, each with its line feed, and a task that writes them to `stdin`.
///
/// Sending never waits, because the program may wait for our answers while it writes. The input of
/// the program closes when the last sender is dropped. If the program is gone, its output ends.
pub fn line_writer<L>(mut stdin: Stdin) -> mpsc::UnboundedSender<L>
where
    L: AsRef<[u8]> + Send + Sync + 'static,
{
    let (sender, mut queue) = mpsc::unbounded_channel::<L>();
    tokio::spawn(async move {
        let mut lines = Vec::new();
        while queue.recv_many(&mut lines, BATCH).await > 0 {
            let written = match lines.as_slice() {
                // A prompt may be long, so it is not copied.
                [line] => stdin.write_all(line.as_ref()).await,
                // An agent that calls many tools at once receives many answers at once.
                lines => {
                    let bytes: Vec<&[u8]> = lines.iter().map(AsRef::as_ref).collect();
                    stdin.write_all(&bytes.concat()).await
                }
            };
            let flushed = match written {
                Ok(()) => stdin.flush().await,
                Err(error) => Err(error),
            };
            if let Err(error) = flushed {
                tracing::debug!(%error, "the program no longer reads its input");
                return;
            }
            lines.clear();
        }
    });
    sender
}

/// Requests of the host that the program has not answered yet.
#[derive(Debug)]
pub struct PendingRequests<A> {
    senders: HashMap<i64, oneshot::Sender<A>>,
    count: i64,
}

impl<A> Default for PendingRequests<A> {
    fn default() -> Self {
        Self {
            senders: HashMap::new(),
            count: 0,
        }
    }
}

impl<A> PendingRequests<A> {
    /// Creates the id of a request, and the receiver of its answer.
    ///
    /// The receiver fails when this value is dropped.
    pub fn add(&mut self) -> (i64, oneshot::Receiver<A>) {
        self.count += 1;
        let (sender, receiver) = oneshot::channel();
        self.senders.insert(self.count, sender);
        (self.count, receiver)
    }

    /// Sends an answer to the receiver of its request. An unknown id is ignored.
    pub fn answer(&mut self, id: i64, answer: A) {
        match self.senders.remove(&id) {
            // The receiver may be dropped.
            Some(sender) => drop(sender.send(answer)),
            None => tracing::debug!(id, "ignored a response without a request"),
        }
    }
}

/// Time limit for the exit of a program that closed its output.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// Returns the exit of a program that closed its output; `None` if it still runs after 5 seconds.
pub async fn wait_for_exit(process: &Process) -> Option<Exit> {
    let exited = tokio::time::timeout(EXIT_LIMIT, process.exited()).await;
    exited.ok()
}

/// Shuts down a program and everything that it started. Remaining processes are logged.
pub async fn shutdown_program(name: &str, process: Process, policy: ShutdownPolicy) {
    let report = process.shutdown(policy).await;
    if !report.is_complete() {
        tracing::error!(?report, "some processes of {name} are still running");
    }
}

/// Waits until a program is `ready`.
///
/// # Errors
///
/// Returns the errors of `ready`, and an error if it takes longer than `limit`.
pub async fn ready_within<T>(
    name: &str,
    limit: Duration,
    ready: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let ready = tokio::time::timeout(limit, ready).await;
    ready.unwrap_or_else(|_elapsed| {
        let message = format!("{name} was not ready after {limit:?}");
        Err(AgentError::new(AgentErrorKind::Timeout, message))
    })
}
