//! JSON values, one in a line, as they come and go over a pipe.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::BridgeError;

/// How long a line may be. Large things are named in it, not put in.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;

/// As much is read at once.
const PIECE: usize = 16 * 1024;

/// How much of a line that nobody understands is shown.
const SHOWN: usize = 200;

/// Reads lines. A read that is dropped loses nothing.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    read: Vec<u8>,
    /// So many bytes are known to have no end of a line.
    looked_at: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn of(input: R) -> Self {
        Self {
            input,
            read: Vec::new(),
            looked_at: 0,
        }
    }

    /// Returns the next value; `None` at the end. What was begun and not ended there is no line.
    pub(super) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, BridgeError> {
        match self.next_line().await? {
            None => Ok(None),
            Some(line) => parse(&line).map(Some),
        }
    }

    async fn next_line(&mut self) -> Result<Option<Vec<u8>>, BridgeError> {
        loop {
            let unseen = &self.read[self.looked_at..];
            if let Some(at) = unseen.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(self.looked_at + at + 1);
                let mut line = std::mem::replace(&mut self.read, rest);
                self.looked_at = 0;
                line.pop();
                return Ok(Some(line));
            }
            self.looked_at = self.read.len();
            if self.read.len() > LONGEST {
                return Err(BridgeError::TooLong { limit: LONGEST });
            }
            let mut piece = [0; PIECE];
            match self.input.read(&mut piece).await? {
                0 => return Ok(None),
                count => self.read.extend_from_slice(&piece[..count]),
            }
        }
    }
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, BridgeError> {
    serde_json::from_slice(line).map_err(|source| {
        let text = String::from_utf8_lossy(line);
        let shown = text.chars().take(SHOWN).flat_map(char::escape_debug);
        BridgeError::NotUnderstood {
            line: shown.collect(),
            source,
        }
    })
}

/// Makes a line of a value.
pub(super) fn line_of(value: &impl Serialize) -> Result<String, BridgeError> {
    let mut line = serde_json::to_string(value).map_err(|error| BridgeError::Io(error.into()))?;
    if line.len() > LONGEST {
        return Err(BridgeError::TooLong { limit: LONGEST });
    }
    line.push('\n');
    Ok(line)
}

/// Writes all lines that are said, until nobody says anything more. Whoever says them never leaves
/// half a line when it is dropped.
pub(super) async fn write_all(
    mut said: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    while let Some(line) = said.recv().await {
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn lines_come_whole_however_they_are_cut() {
        let (mut there, here) = tokio::io::duplex(3);
        let writing = async move {
            let written = there.write_all(b"{\"a\":1}\n[2]\n\"half");
            written.await.expect("somebody reads");
        };
        let reading = async {
            let mut lines = Lines::of(here);
            let mut read = Vec::<Value>::new();
            while let Some(value) = lines.next().await.expect("whole") {
                read.push(value);
            }
            read
        };

        let ((), read) = tokio::join!(writing, reading);

        assert_eq!(read, [json!({"a": 1}), json!([2])]);
    }

    #[tokio::test]
    async fn a_line_that_does_not_end_is_not_kept() {
        let endless = tokio::io::repeat(b'x');

        let read = Lines::of(endless).next::<Value>().await;

        assert!(
            matches!(read, Err(BridgeError::TooLong { limit: LONGEST })),
            "{read:?}"
        );
    }

    #[tokio::test]
    async fn rubbish_is_shown_cut_and_harmless() {
        let rubbish = format!("\u{1b}[31m{}\n", "x".repeat(1_000));

        let read = Lines::of(rubbish.as_bytes()).next::<Value>().await;

        let error = read.expect_err("it is no JSON").to_string();
        assert!(error.contains("\\u{1b}[31mxxx"), "{error}");
        assert!(error.len() < 300, "{error}");
    }
}
