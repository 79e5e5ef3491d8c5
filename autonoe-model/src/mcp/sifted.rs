//! What a server says that is no answer.

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, ProgressNotificationParam,
    ServerNotification, ServerRequest,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::broadcast;

/// How many notes of progress are kept for a call that is slow to hear them.
const KEPT: usize = 64;

/// Where the progress of calls is heard.
pub(super) type Progress = broadcast::Sender<ProgressNotificationParam>;

/// Makes where the progress of calls is heard.
pub(super) fn progress() -> Progress {
    broadcast::channel(KEPT).0
}

/// Hands on the answers of a server, and keeps the rest: progress goes to the calls, requests of
/// the server are refused, and everything else is passed over.
///
/// We offer a server nothing that it could ask for. The library writes all that it is handed
/// into its log, with what is in it; so it gets no more than it needs.
pub(super) struct Sifted<T> {
    inner: T,
    server: String,
    progress: Progress,
}

impl<T> Sifted<T> {
    pub(super) fn new(inner: T, server: &str, progress: Progress) -> Self {
        Self {
            inner,
            server: server.to_owned(),
            progress,
        }
    }

    fn hear(&self, notification: ServerNotification) {
        let server = &self.server;
        match notification {
            ServerNotification::ProgressNotification(told) => {
                // Nobody may wait for it any more.
                let _ = self.progress.send(told.params);
            }
            ServerNotification::ToolListChangedNotification(_) => {
                tracing::debug!(%server, "the tools of a session stay as they were at its start");
            }
            _ => tracing::trace!(%server, "a notification of an MCP server is passed over"),
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Sifted<T> {
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
                JsonRpcMessage::Notification(told) => self.hear(told.notification),
                JsonRpcMessage::Request(asked)
                    if !matches!(asked.request, ServerRequest::PingRequest(_)) =>
                {
                    let message = "this client offers nothing that a server could ask for";
                    let refusal = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
                    let refusal = ClientJsonRpcMessage::error(refusal, Some(asked.id));
                    // This future may be dropped at any time, the refusal is to be whole.
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
