//! From the pipes of an agent to the tools of the run that started it.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::bridge_request::Run;
use super::lines::Lines;
use super::lines::{Mouth, mouth, write_down};
use super::serve::LAST_CALLS;
use crate::talk::{Incoming, failure, read};

/// The variable that has the secret of the run's tools, for the command `autonoe mcp`.
pub const TOKEN_VARIABLE: &str = "AUTONOE_MCP_TOKEN";

/// How long a goodbye may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// The code of an answer that the run did not give.
const GONE: ErrorCode = ErrorCode(-32000);

/// Hands on what an agent says over a pair of pipes to the tools at `url`, and what they answer.
///
/// For agents that know MCP servers by commands only. Such a server is a child of the agent: it
/// could not write the ledger of a run that it is no part of. So it only hands on, to the
/// [`HttpToolServer`](crate::HttpToolServer) in the process of the run, which let `token` in. A
/// call that the agent cancels, or was waiting for when it closed its end, is cancelled there.
///
/// # Errors
///
/// `url` is not on this machine; the run is over or does not know `token` when the agent greets;
/// a pipe fails. What fails later is told to the agent as the answer to its request.
///
/// ```
/// use autonoe_core::{McpServer, RunId, SessionKey, ToolServer, Toolbox};
/// use autonoe_mcp::{HttpToolServer, TOKEN_VARIABLE, bridge_stdio};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = HttpToolServer::new().by_command("autonoe");
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let served = server.serve(&session, Toolbox::new([])).await?;
/// let McpServer::Stdio { args, env, .. } = &served.server else { panic!("by command") };
/// let asked = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
/// let mut answered = Vec::new();
///
/// // What `autonoe mcp --url ..` does:
/// bridge_stdio(&args[2], &env[TOKEN_VARIABLE], &asked[..], &mut answered).await?;
///
/// let answer: serde_json::Value = serde_json::from_slice(&answered)?;
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
        run: Run::new(url, token)?,
        asked: HashMap::new(),
        tasks: JoinSet::new(),
    };
    let (say, said) = mouth();
    let writing = write_down(said, output);
    tokio::pin!(writing);
    let crossed = tokio::select! {
        biased;
        written = &mut writing => return unless_left(written),
        crossed = bridge.cross(say, input) => crossed,
    };
    unless_left(writing.await)?;
    crossed
}

/// An agent that does not read any more has left, which it may.
fn unless_left(written: io::Result<()>) -> Result<(), BridgeError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(BridgeError::Pipe),
    }
}

struct Bridge {
    run: Run,
    /// What is being asked, by the ids of the requests.
    asked: HashMap<String, AbortHandle>,
    tasks: JoinSet<String>,
}

impl Bridge {
    async fn cross(
        &mut self,
        say: Mouth,
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
                    if let Err(error) = self.hand_on(line, &say).await {
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
        let _ = timeout(FAREWELL, self.run.leave()).await;
        ended
    }

    /// Hands on one message. Fails only where it makes no sense to go on.
    async fn hand_on(&mut self, line: Vec<u8>, say: &Mouth) -> Result<(), BridgeError> {
        match read(&line) {
            Err(answer) => say.say(&answer).await,
            Ok(Incoming::Request { id, method, .. }) if method == "initialize" => {
                match self.run.greet(line).await {
                    Ok((answer, client)) => {
                        self.run.greeted(client, &answer);
                        say.say(&answer).await;
                    }
                    Err(error) => {
                        say.say(&not_answered(&id, &error)).await;
                        return Err(error);
                    }
                }
            }
            Ok(Incoming::Request { id, .. }) => self.ask(id, line, say),
            Ok(Incoming::Notification { method, params }) => {
                let cancelled = params.get("requestId");
                match cancelled.filter(|_| method == "notifications/cancelled") {
                    // Who hangs up has cancelled. That cannot come before the call itself.
                    Some(id) => {
                        if let Some(asking) = self.asked.remove(&id.to_string()) {
                            asking.abort();
                        }
                    }
                    None => self.mention(line, say).await,
                }
            }
            Ok(Incoming::Answer) => self.mention(line, say).await,
        }
        Ok(())
    }

    /// Hands on what wants no answer, so that no failure can be told.
    async fn mention(&self, line: Vec<u8>, say: &Mouth) {
        if let Err(error) = self.run.hand_on(line, say).await {
            tracing::debug!(%error, "a notification of the agent was not handed on");
        }
    }

    fn ask(&mut self, id: Value, line: Vec<u8>, say: &Mouth) {
        let (run, say, name) = (self.run.clone(), say.clone(), id.to_string());
        let done = name.clone();
        let asking = self.tasks.spawn(async move {
            let failed = match run.hand_on(line, &say).await {
                Ok(true) => None,
                Ok(false) => Some(BridgeError::Gone("there was no answer".into())),
                Err(error) => Some(error),
            };
            if let Some(error) = failed {
                say.say(&not_answered(&id, &error)).await;
            }
            done
        });
        self.asked.insert(name, asking);
    }
}

/// Tells the agent that the run did not answer.
fn not_answered(id: &Value, error: &BridgeError) -> Value {
    failure(id, &ErrorData::new(GONE, error.to_string(), None))
}

/// Why nothing can be handed on. It names no address and no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The address is none that a run has.
    #[error("the address of the run's tools must be one of this machine: http://127.0.0.1:PORT/..")]
    Address,
    /// The secret is none that can be sent.
    #[error("the secret of the run's tools cannot be sent")]
    Token,
    /// Nobody is there.
    #[error("the run is over: nobody serves its tools any more")]
    Gone(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run does not let us in.
    #[error("the run does not serve these tools any more, or not with this secret (status {0})")]
    Refused(u16),
    /// The agent cannot be talked to.
    #[error("the agent cannot be talked to")]
    Pipe(#[source] io::Error),
}
