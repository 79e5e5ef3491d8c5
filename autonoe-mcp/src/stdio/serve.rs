//! [`serve_stdio`]: serves a toolbox over a pair of pipes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::lines::Lines;
use super::lines::{LineWriter, line_writer, write_lines};
use crate::protocol::{Calls, Reply, RequestHandler, parse_message};

/// Grace period for running calls after the input ends.
pub(super) const LAST_CALLS: Duration = Duration::from_secs(2);

/// Serves `tools` to one client over a pair of pipes, until the client closes its end.
///
/// Running calls then have 2 seconds to finish before they are cancelled. Dropping the future
/// cancels them, too. The tools run in this process: for an agent that starts its servers itself,
/// see [`bridge_stdio`](crate::bridge_stdio).
///
/// # Errors
///
/// Reading or writing a pipe failed, or a message is too long.
///
/// ```
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::Toolbox;
/// use autonoe_core::RunId;
/// use autonoe_mcp::serve_stdio;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let request = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
/// let mut response = Vec::new();
///
/// serve_stdio(&session, Toolbox::new([]), &request[..], &mut response).await?;
///
/// let answer: serde_json::Value = serde_json::from_slice(&response)?;
/// assert_eq!(answer, serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn serve_stdio(
    session: &SessionKey,
    tools: Toolbox,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> io::Result<()> {
    let handler = Arc::new(RequestHandler::new(session.clone(), tools));
    let (writer, lines) = line_writer();
    let writing = write_lines(lines, output);
    tokio::pin!(writing);
    let handled = tokio::select! {
        biased;
        written = &mut writing => return written,
        handled = handle(&handler, writer, input) => handled,
    };
    writing.await?;
    handled
}

/// Handles the client's messages until its input ends.
async fn handle(
    handler: &Arc<RequestHandler>,
    writer: LineWriter,
    input: impl AsyncRead + Unpin,
) -> io::Result<()> {
    let mut lines = Lines::new(input);
    let calls = Arc::<Calls>::default();
    let mut tasks = JoinSet::new();
    let ended = loop {
        let line = tokio::select! {
            line = lines.next() => line,
            Some(_) = tasks.join_next() => continue,
        };
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let reply = match parse_message(&line) {
            Ok(incoming) => handler.handle(&calls, incoming),
            Err(answer) => Reply::Answer(answer),
        };
        match reply {
            Reply::Nothing => {}
            Reply::Answer(answer) => writer.send(&answer).await,
            Reply::Call(call) => {
                let (writer, progress) = (writer.clone(), writer.clone());
                tasks.spawn(async move {
                    let answer = call.run(move |note| progress.try_send(&note)).await;
                    if let Some(answer) = answer {
                        writer.send(&answer).await;
                    }
                });
            }
        }
    };
    let _ = timeout(LAST_CALLS, async {
        while tasks.join_next().await.is_some() {}
    })
    .await;
    handler.close();
    while tasks.join_next().await.is_some() {}
    ended
}
