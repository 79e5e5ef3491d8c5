//! Line-oriented JSON transport over the pipes of a child process, and a filter for notifications and requests.

use std::io;
use std::sync::{Arc, OnceLock};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, ProgressNotificationParam,
    ServerNotification, ServerRequest,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, broadcast};

/// Maximum number of bytes to keep of a line that is no message, for diagnosis.
const MAX_SAMPLE_BYTES: usize = 200;

/// JSON messages as lines on the pipes of a child process.
///
/// A line that is no message is skipped, because many programs print a greeting. A line that is too
/// long ends the connection, because its request cannot be identified.
pub(super) struct LineTransport<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    output: Arc<Mutex<W>>,
    fault: Arc<Fault>,
}

/// Protocol violations of a server.
#[derive(Debug, Default)]
pub(super) struct Fault {
    /// Beginning of the first line that is no message.
    stray: OnceLock<String>,
    /// Reason that the connection was closed.
    fatal: OnceLock<String>,
}

impl Fault {
    /// Describes the violation, if there was one.
    pub(super) fn describe(&self) -> Option<String> {
        let stray = || Some(format!("it printed {:?}", self.stray.get()?));
        self.fatal.get().cloned().or_else(stray)
    }

    /// Returns the reason that this side closed the connection.
    pub(super) fn fatal(&self) -> Option<&str> {
        self.fatal.get().map(String::as_str)
    }
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(super) fn new(input: R, output: W, longest: usize, fault: Arc<Fault>) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            longest,
            output: Arc::new(Mutex::new(output)),
            fault,
        }
    }

    /// Reads until `self.line` holds a complete line. Cancel safe: dropping the future keeps what
    /// was read.
    async fn read(&mut self) -> io::Result<bool> {
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', piece);
            let length = end.map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..length]);
            self.input.consume(length);
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
        tracing::debug!(
            bytes = line.len(),
            "ignored a line of an MCP server that is not a message"
        );
        self.fault.stray.get_or_init(|| {
            let line = &line[..line.len().min(MAX_SAMPLE_BYTES)];
            String::from_utf8_lossy(line).into_owned()
        });
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
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

/// Maximum number of progress notifications that are kept for a slow call.
const CHANNEL_LEN: usize = 64;

/// Channel for the progress of calls.
pub(super) type Progress = broadcast::Sender<ProgressNotificationParam>;

/// Creates the channel for the progress of calls.
pub(super) fn progress() -> Progress {
    broadcast::channel(CHANNEL_LEN).0
}

/// Passes on the responses of a server and handles the rest: progress is sent to the calls,
/// requests of the server are refused, and everything else is ignored.
///
/// This client has no features that a server could request. The library logs the content of all
/// messages that it receives, so it gets only those that it needs.
pub(super) struct FilteredTransport<T> {
    inner: T,
    server: String,
    progress: Progress,
}

impl<T> FilteredTransport<T> {
    pub(super) fn new(inner: T, server: &str, progress: Progress) -> Self {
        Self {
            inner,
            server: server.to_owned(),
            progress,
        }
    }

    fn handle_notification(&self, notification: ServerNotification) {
        let server = &self.server;
        match notification {
            ServerNotification::ProgressNotification(message) => {
                // The call may already be over.
                let _ = self.progress.send(message.params);
            }
            ServerNotification::ToolListChangedNotification(_) => {
                tracing::debug!(%server, "the tools of a session stay as they were at its start");
            }
            _ => tracing::trace!(%server, "ignored a notification of an MCP server"),
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for FilteredTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.inner.receive().await? {
                JsonRpcMessage::Notification(message) => {
                    self.handle_notification(message.notification);
                }
                JsonRpcMessage::Request(request)
                    if !matches!(request.request, ServerRequest::PingRequest(_)) =>
                {
                    let message = "this client supports no requests from servers";
                    let refusal = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
                    let refusal = ClientJsonRpcMessage::error(refusal, Some(request.id));
                    // This future may be dropped at any time, and the refusal must be sent
                    // completely.
                    tokio::spawn(self.inner.send(refusal));
                }
                message => return Some(message),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerJsonRpcMessage;

    use super::*;

    async fn read_all(input: &[u8]) -> (Vec<ServerJsonRpcMessage>, Option<String>) {
        let fault = Arc::new(Fault::default());
        let mut lines = LineTransport::new(input, tokio::io::sink(), 100, fault.clone());
        let mut messages = Vec::new();
        while let Some(message) = lines.receive().await {
            messages.push(message);
        }
        (messages, fault.describe())
    }

    #[tokio::test]
    async fn invalid_messages_are_skipped_and_remembered() {
        let input = b"Welcome!\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n[]\n\xff\n";

        let (messages, fault) = read_all(input).await;

        assert_eq!(messages.len(), 1);
        assert_eq!(fault.as_deref(), Some("it printed \"Welcome!\""));
    }

    #[tokio::test]
    async fn closes_the_connection_on_an_overlong_line() {
        let mut input = vec![b'x'; 200];
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");

        let (messages, fault) = read_all(&input).await;

        assert!(messages.is_empty());
        assert_eq!(
            fault.as_deref(),
            Some("it sent a message of more than 100 bytes")
        );
    }
}
