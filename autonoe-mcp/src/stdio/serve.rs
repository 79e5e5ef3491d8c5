//! A toolbox behind a pair of pipes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{SessionKey, Toolbox};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::lines::Lines;
use super::lines::{Mouth, mouth, write_down};
use crate::talk::{Calls, Desk, Reply, read};

/// How long calls may still take when nothing more is asked.
pub(super) const LAST_CALLS: Duration = Duration::from_secs(2);

/// Serves `tools` to one client over a pair of pipes, until the client closes its end.
///
/// Calls that are under way then have a moment to be answered, and are cancelled. They are, too,
/// when the future is dropped. The tools work in this process: for an agent that starts its
/// servers itself, see [`bridge_stdio`](crate::bridge_stdio).
///
/// # Errors
///
/// A pipe cannot be read or written, or a message is too long.
///
/// ```
/// use autonoe_core::{RunId, SessionKey, Toolbox};
/// use autonoe_mcp::serve_stdio;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let asked = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
/// let mut answered = Vec::new();
///
/// serve_stdio(&session, Toolbox::new([]), &asked[..], &mut answered).await?;
///
/// let answer: serde_json::Value = serde_json::from_slice(&answered)?;
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
    let desk = Arc::new(Desk::new(session.clone(), tools));
    let (say, said) = mouth();
    let writing = write_down(said, output);
    tokio::pin!(writing);
    let heard = tokio::select! {
        biased;
        written = &mut writing => return written,
        heard = hear(&desk, say, input) => heard,
    };
    writing.await?;
    heard
}

/// Hears what the client says, to the end.
async fn hear(desk: &Arc<Desk>, say: Mouth, input: impl AsyncRead + Unpin) -> io::Result<()> {
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
        let reply = match read(&line) {
            Ok(incoming) => desk.hear(&calls, incoming),
            Err(answer) => Reply::Answer(answer),
        };
        match reply {
            Reply::Nothing => {}
            Reply::Answer(answer) => say.say(&answer).await,
            Reply::Call(call) => {
                let (say, progress) = (say.clone(), say.clone());
                tasks.spawn(async move {
                    let answer = call.carry_out(move |note| progress.mention(&note)).await;
                    if let Some(answer) = answer {
                        say.say(&answer).await;
                    }
                });
            }
        }
    };
    let _ = timeout(LAST_CALLS, async {
        while tasks.join_next().await.is_some() {}
    })
    .await;
    desk.close();
    while tasks.join_next().await.is_some() {}
    ended
}
