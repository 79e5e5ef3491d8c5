//! Messages as lines.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// How long one message may be.
const LONGEST: usize = 4 * 1024 * 1024;

/// Messages as lines.
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

    /// Returns the next line that is not blank; `None` at the end. What was read is kept when the
    /// future is dropped.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is too long.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let piece = self.input.fill_buf().await?;
            let is_over = piece.is_empty();
            let end = memchr::memchr(b'\n', piece);
            let taken = end.map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..taken]);
            self.input.consume(taken);
            if self.line.len() > LONGEST {
                let what = format!("a message has more than {LONGEST} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
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
        let long = vec![b'x'; LONGEST + 1];

        let refused = Lines::new(&long[..]).next().await.expect_err("too long");

        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }
}
