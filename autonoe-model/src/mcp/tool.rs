//! [`McpTool`]: a tool of an MCP server.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use serde_json::{Map, Value};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use super::McpOptions;
use super::connection::Connection;
use super::content::output;
use super::listing::ListedTool;

/// A tool of an MCP server.
pub(super) struct McpTool {
    connection: Arc<Connection>,
    listed: ListedTool,
    options: Arc<McpOptions>,
}

impl McpTool {
    pub(super) fn new(
        connection: Arc<Connection>,
        listed: ListedTool,
        options: Arc<McpOptions>,
    ) -> Self {
        Self {
            connection,
            listed,
            options,
        }
    }

    async fn request(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let connection = &self.connection;
        // Subscribes before the request, so that no notification is missed.
        let mut progress = connection.progress.subscribe();
        let name: Cow<'static, str> = Cow::Owned(self.listed.name.clone());
        let mut params = CallToolRequestParams::new(name);
        if let Value::Object(arguments) = input {
            params = params.with_arguments(arguments);
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = connection
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut pending = match sent.await {
            Ok(handle) => PendingRequest(Some(handle)),
            Err(error) => return Err(connection.failed(error).await),
        };
        let token = pending.token();
        let mut is_subscribed = true;
        let answer = loop {
            tokio::select! {
                biased;
                answer = pending.answer() => break answer,
                update = progress.recv(), if is_subscribed => match update {
                    Ok(update) if Some(&update.progress_token) == token.as_ref() => {
                        report_progress(context, &update);
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => is_subscribed = false,
                },
            }
        };
        pending.mark_answered();
        match answer {
            Ok(result) => {
                let result = serde_json::to_value(&result).unwrap_or_default();
                output(&result, &self.options)
            }
            Err(error) => Err(connection.failed(error).await),
        }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn definition(&self) -> &ToolDefinition {
        &self.listed.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let time = self.options.call_time;
        tokio::select! {
            biased;
            () = context.cancelled.cancelled() => {
                Err(ToolError::new(ToolErrorCode::CANCELLED, "the call was cancelled"))
            }
            done = self.request(input, context) => done,
            () = sleep(time) => {
                let server = &self.connection.server;
                let message = format!("the MCP server {server:?} did not answer within {time:?}");
                Err(ToolError::new(ToolErrorCode::TIMEOUT, message))
            }
        }
    }
}

/// A call in progress. The server is notified if it is dropped without an answer.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl PendingRequest {
    fn token(&self) -> Option<ProgressToken> {
        let handle = self.0.as_ref();
        handle.map(|handle| handle.progress_token.clone())
    }

    async fn answer(&mut self) -> Result<rmcp::model::ServerResult, rmcp::service::ServiceError> {
        use rmcp::service::ServiceError::TransportClosed;
        match &mut self.0 {
            Some(handle) => (&mut handle.rx).await.unwrap_or(Err(TransportClosed)),
            None => Err(TransportClosed),
        }
    }

    fn mark_answered(&mut self) {
        self.0 = None;
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(async move {
                let reason = "the caller cancelled the call".to_owned();
                // A server that is gone needs no notification.
                let _ = handle.cancel(Some(reason)).await;
            });
        }
    }
}

/// Reports the progress of a call to the observers.
fn report_progress(context: &ToolContext, update: &ProgressNotificationParam) {
    let title = match (&update.message, update.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{} of {total}", update.progress),
        (None, None) => update.progress.to_string(),
    };
    let mut metadata = Map::new();
    metadata.insert("progress".into(), update.progress.into());
    if let Some(total) = update.total {
        metadata.insert("total".into(), total.into());
    }
    context.progress_with(&title, &metadata);
}
