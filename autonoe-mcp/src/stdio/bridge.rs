//! Bridge from an agent's stdio to the HTTP tool server of the run.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::bridge_request::RunClient;
use super::lines::Lines;
use super::lines::{LineWriter, line_writer, write_lines};
use super::serve::LAST_CALLS;
use crate::protocol::{Incoming, error_response, parse_message};

/// Environment variable with the secret of the run's tools, for the command `autonoe mcp`.
pub const TOKEN_VARIABLE: &str = "AUTONOE_MCP_TOKEN";

/// Maximum time to sign off at the run.
const SIGN_OFF_TIMEOUT: Duration = Duration::from_secs(1);

/// Error code of a request that the run did not answer.
const NOT_ANSWERED: ErrorCode = ErrorCode(-32000);

/// Forwards MCP messages between an agent's pair of pipes and the tool server at `url`.
///
/// For agents that know MCP servers by command only. Such a server is a child process of the agent
/// and cannot write the ledger of the run. The bridge therefore forwards messages to the
/// [`HttpToolServer`](crate::HttpToolServer) in the process of the run, which accepts `token`. The
/// bridge cancels a call on the server when the agent cancels the call or closes its end of the
/// pipe.
///
/// # Errors
///
/// `url` is not on this machine; the run has ended or rejects `token` when the agent initializes; a
/// pipe fails. Later failures are sent to the agent as the answer to its request.
///
/// ```
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::{McpServer, ToolServer, Toolbox};
/// use autonoe_core::RunId;
/// use autonoe_mcp::{HttpToolServer, TOKEN_VARIABLE, bridge_stdio};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = HttpToolServer::new().by_command("autonoe");
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let served = server.serve(&session, Toolbox::new([])).await?;
/// let McpServer::Stdio { args, env, .. } = &served.server else { panic!("by command") };
/// let request = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
/// let mut response = Vec::new();
///
/// // What `autonoe mcp --url ..` does:
/// bridge_stdio(&args[2], &env[TOKEN_VARIABLE], &request[..], &mut response).await?;
///
/// let answer: serde_json::Value = serde_json::from_slice(&response)?;
/// assert_eq!(answer, serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub async fn bridge_stdio(
    url: &str,
    token: &str,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<(), BridgeError> {
    let mut bridge = Bridge {
        run: RunClient::new(url, token)?,
        asked: HashMap::new(),
        tasks: JoinSet::new(),
    };
    let (say, said) = line_writer();
    let writing = write_lines(said, output);
    tokio::pin!(writing);
    let forwarded = tokio::select! {
        biased;
        written = &mut writing => return ignore_broken_pipe(written),
        forwarded = bridge.forward_all(say, input) => forwarded,
    };
    ignore_broken_pipe(writing.await)?;
    forwarded
}

/// A closed pipe means that the agent has exited, which is not an error.
fn ignore_broken_pipe(written: io::Result<()>) -> Result<(), BridgeError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(BridgeError::Pipe),
    }
}

struct Bridge {
    run: RunClient,
    /// Tasks of forwarded requests, by request ID.
    asked: HashMap<String, AbortHandle>,
    tasks: JoinSet<String>,
}

impl Bridge {
    async fn forward_all(
        &mut self,
        say: LineWriter,
        input: impl AsyncRead + Unpin,
    ) -> Result<(), BridgeError> {
        let mut lines = Lines::new(input);
        let ended = loop {
            let line = tokio::select! {
                line = lines.next() => line,
                Some(done) = self.tasks.join_next() => {
                    if let Ok(id) = done {
                        self.asked.remove(&id);
                    }
                    continue;
                }
            };
            match line {
                Ok(Some(line)) => {
                    if let Err(error) = self.forward(line, &say).await {
                        break Err(error);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(BridgeError::Pipe(error)),
            }
        };
        let tasks = &mut self.tasks;
        let _ = timeout(LAST_CALLS, async {
            while tasks.join_next().await.is_some() {}
        })
        .await;
        self.tasks.shutdown().await;
        let _ = timeout(SIGN_OFF_TIMEOUT, self.run.sign_off()).await;
        ended
    }

    /// Forwards one message. Returns an error only if the bridge cannot continue.
    async fn forward(&mut self, line: Vec<u8>, say: &LineWriter) -> Result<(), BridgeError> {
        match parse_message(&line) {
            Err(answer) => say.send(&answer).await,
            Ok(Incoming::Request { id, method, .. }) if method == "initialize" => {
                match self.run.initialize(line).await {
                    Ok((answer, client)) => {
                        self.run.set_session(client, &answer);
                        say.send(&answer).await;
                    }
                    Err(error) => {
                        say.send(&not_answered(&id, &error)).await;
                        return Err(error);
                    }
                }
            }
            Ok(Incoming::Request { id, .. }) => self.forward_request(id, line, say),
            Ok(Incoming::Notification { method, params }) => {
                let cancelled = params.get("requestId");
                match cancelled.filter(|_| method == "notifications/cancelled") {
                    // Aborting the request closes its connection, which cancels the call at the
                    // run. Unlike a separate message, this cannot overtake the call itself.
                    Some(id) => {
                        if let Some(asking) = self.asked.remove(&id.to_string()) {
                            asking.abort();
                        }
                    }
                    None => self.forward_notification(line, say).await,
                }
            }
            Ok(Incoming::Answer) => self.forward_notification(line, say).await,
        }
        Ok(())
    }

    /// Forwards a message without an answer. Failures are only logged.
    async fn forward_notification(&self, line: Vec<u8>, say: &LineWriter) {
        if let Err(error) = self.run.forward(line, say).await {
            tracing::debug!(%error, "a notification of the agent could not be forwarded");
        }
    }

    fn forward_request(&mut self, id: Value, line: Vec<u8>, say: &LineWriter) {
        let (run, say, name) = (self.run.clone(), say.clone(), id.to_string());
        let done = name.clone();
        let asking = self.tasks.spawn(async move {
            let failed = match run.forward(line, &say).await {
                Ok(true) => None,
                Ok(false) => Some(BridgeError::Gone("the run sent no response".into())),
                Err(error) => Some(error),
            };
            if let Some(error) = failed {
                say.send(&not_answered(&id, &error)).await;
            }
            done
        });
        self.asked.insert(name, asking);
    }
}

/// Returns the error response for a request that the run did not answer.
fn not_answered(id: &Value, error: &BridgeError) -> Value {
    error_response(id, &ErrorData::new(NOT_ANSWERED, error.to_string(), None))
}

/// Error of [`bridge_stdio`]. Contains neither the address nor the secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The address is not one of a run on this machine.
    #[error("the address of the run's tools must be a local one: http://127.0.0.1:PORT/..")]
    Address,
    /// The secret is empty or not a valid header value.
    #[error(
        "the secret of the run's tools is empty or has characters that a header cannot contain"
    )]
    Token,
    /// The run's tool server is unreachable.
    #[error("the run has ended: its tools are no longer served")]
    Gone(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run refused the request, with this HTTP status.
    #[error("the run no longer serves these tools, or rejects this secret (status {0})")]
    Refused(u16),
    /// Reading from or writing to the agent failed.
    #[error("the connection to the agent failed")]
    Pipe(#[source] io::Error),
}
