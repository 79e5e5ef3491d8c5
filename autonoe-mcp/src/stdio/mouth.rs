//! What is said on a pipe by many at once, whole line by whole line.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// How many lines may wait for a slow reader. Of progress that has no room nobody hears.
const WAITING: usize = 64;

/// Where lines are said.
#[derive(Clone)]
pub(super) struct Mouth(mpsc::Sender<String>);

/// Makes where lines are said, and what writes them down until nobody can say any more.
pub(super) fn mouth() -> (Mouth, mpsc::Receiver<String>) {
    let (say, said) = mpsc::channel(WAITING);
    (Mouth(say), said)
}

impl Mouth {
    /// Says something that must be heard.
    pub(super) async fn say(&self, message: &Value) {
        self.say_text(message.to_string()).await;
    }

    /// Says something that is a message of one line already.
    pub(super) async fn say_text(&self, line: String) {
        // Whoever should write it down ended, and the talk ends with that.
        let _ = self.0.send(line).await;
    }

    /// Says something if there is room for it.
    pub(super) fn mention(&self, message: &Value) {
        let _ = self.0.try_send(message.to_string());
    }
}

/// Writes down what is said.
pub(super) async fn write_down(
    mut said: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(mut line) = said.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}
