//! Messages as lines on the pipes of a child.

use std::io;
use std::sync::{Arc, OnceLock};

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// What is kept of a line that is no message, for who looks for the reason.
const KEPT: usize = 200;

/// Messages as lines on the pipes of a child.
///
/// A line that is no message is passed over: many programs print a greeting. A line that is too
/// long ends the talk, for nobody could say whose answer it was.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    output: Arc<Mutex<W>>,
    fault: Arc<Fault>,
}

/// What was wrong with what a server said.
#[derive(Debug, Default)]
pub(super) struct Fault {
    /// The beginning of the first line that is no message.
    stray: OnceLock<String>,
    /// Why the talk was ended.
    fatal: OnceLock<String>,
}

impl Fault {
    /// Says what was wrong, if something was.
    pub(super) fn say(&self) -> Option<String> {
        let stray = || Some(format!("it printed {:?}", self.stray.get()?));
        self.fatal.get().cloned().or_else(stray)
    }

    /// Says why the talk was ended by us.
    pub(super) fn fatal(&self) -> Option<&str> {
        self.fatal.get().map(String::as_str)
    }
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(input: R, output: W, longest: usize, fault: Arc<Fault>) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            longest,
            output: Arc::new(Mutex::new(output)),
            fault,
        }
    }

    /// Reads on until a line is whole, which is then in `self.line`. What was read is kept when
    /// the future is dropped.
    async fn read(&mut self) -> io::Result<bool> {
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', piece);
            let taken = end.map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..taken]);
            self.input.consume(taken);
            if self.line.len() > self.longest {
                return Err(io::Error::other(format!(
                    "it sent a message of more than {} bytes",
                    self.longest
                )));
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn stray(&self, line: &[u8]) {
        tracing::debug!(bytes = line.len(), "a line of an MCP server is no message");
        self.fault.stray.get_or_init(|| {
            let line = &line[..line.len().min(KEPT)];
            String::from_utf8_lossy(line).into_owned()
        });
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.read().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.fault.fatal.get_or_init(|| error.to_string());
                    return None;
                }
            }
            let line = std::mem::take(&mut self.line);
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            match serde_json::from_slice(text) {
                Ok(message) => return Some(message),
                Err(_) => self.stray(text),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerJsonRpcMessage;

    use super::*;

    async fn heard(said: &[u8]) -> (Vec<ServerJsonRpcMessage>, Option<String>) {
        let fault = Arc::new(Fault::default());
        let mut lines = Lines::new(said, tokio::io::sink(), 100, fault.clone());
        let mut heard = Vec::new();
        while let Some(message) = lines.receive().await {
            heard.push(message);
        }
        (heard, fault.say())
    }

    #[tokio::test]
    async fn what_is_no_message_is_passed_over_and_remembered() {
        let said = b"Welcome!\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n[]\n\xff\n";

        let (heard, fault) = heard(said).await;

        assert_eq!(heard.len(), 1);
        assert_eq!(fault.as_deref(), Some("it printed \"Welcome!\""));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_ends_the_talk() {
        let mut said = vec![b'x'; 200];
        said.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");

        let (heard, fault) = heard(&said).await;

        assert!(heard.is_empty());
        assert_eq!(
            fault.as_deref(),
            Some("it sent a message of more than 100 bytes")
        );
    }
}
