//! Line-oriented JSON messages: reading from the input, and output shared by concurrent requests.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Maximum length of one message in bytes.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// Reads messages, one per line.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
        }
    }

    /// Returns the next line that is not blank, or `None` at the end of the input. Cancel safe:
    /// dropping the future keeps what was read.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or the line is too long.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let piece = self.input.fill_buf().await?;
            let is_over = piece.is_empty();
            let end = memchr::memchr(b'\n', piece);
            let length = end.map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..length]);
            self.input.consume(length);
            if self.line.len() > MAX_LINE_BYTES {
                let message = format!("a message has more than {MAX_LINE_BYTES} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            if end.is_none() && !is_over {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            match line.trim_ascii() {
                [] if is_over => return Ok(None),
                [] => {}
                text => return Ok(Some(text.to_vec())),
            }
        }
    }
}

/// Lines queued for a slow reader. Progress notifications are dropped when the queue is full.
const QUEUE_LEN: usize = 64;

/// Sends whole lines to the output task.
#[derive(Clone)]
pub(super) struct LineWriter(mpsc::Sender<String>);

/// Creates a writer and the queue that [`write_down`] drains.
pub(super) fn line_writer() -> (LineWriter, mpsc::Receiver<String>) {
    let (sender, lines) = mpsc::channel(QUEUE_LEN);
    (LineWriter(sender), lines)
}

impl LineWriter {
    /// Sends a message, waiting for room in the queue.
    pub(super) async fn send(&self, message: &Value) {
        self.send_line(message.to_string()).await;
    }

    /// Sends a message that is already serialized as one line, waiting for room in the queue.
    pub(super) async fn send_line(&self, line: String) {
        // Sending fails only after the output task ended. The conversation ends with that task.
        let _ = self.0.send(line).await;
    }

    /// Sends a message, or drops it when the queue is full.
    pub(super) fn try_send(&self, message: &Value) {
        let _ = self.0.try_send(message.to_string());
    }
}

/// Writes queued lines to `output` until every writer is dropped.
pub(super) async fn write_lines(
    mut lines: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_one_by_one_also_a_last_one_without_an_end() {
        let mut lines = Lines::new(&b"a\r\n\n  \nb"[..]);
        let mut read = Vec::new();

        while let Some(line) = lines.next().await.expect("it can be read") {
            read.push(line);
        }

        assert_eq!(read, [b"a".to_vec(), b"b".to_vec()]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_refused() {
        let long = vec![b'x'; MAX_LINE_BYTES + 1];

        let refused = Lines::new(&long[..]).next().await.expect_err("too long");

        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }
}
