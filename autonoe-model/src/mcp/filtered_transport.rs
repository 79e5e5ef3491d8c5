//! Transport filter for notifications and requests of MCP servers.

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, ProgressNotificationParam,
    ServerNotification, ServerRequest,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::broadcast;

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
            ServerNotification::ProgressNotification(told) => {
                // The call may already be over.
                let _ = self.progress.send(told.params);
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
                JsonRpcMessage::Notification(told) => self.handle_notification(told.notification),
                JsonRpcMessage::Request(asked)
                    if !matches!(asked.request, ServerRequest::PingRequest(_)) =>
                {
                    let message = "this client supports no requests from servers";
                    let refusal = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
                    let refusal = ClientJsonRpcMessage::error(refusal, Some(asked.id));
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
