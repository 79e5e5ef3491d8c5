//! A tool of a server.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode, ToolOutput};
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
use super::listing::Listed;

/// A tool of a server.
pub(super) struct McpTool {
    connection: Arc<Connection>,
    listed: Listed,
    options: Arc<McpOptions>,
}

impl McpTool {
    pub(super) fn new(
        connection: Arc<Connection>,
        listed: Listed,
        options: Arc<McpOptions>,
    ) -> Self {
        Self {
            connection,
            listed,
            options,
        }
    }

    async fn ask(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let connection = &self.connection;
        // Listens before it asks, so that nothing is missed.
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
        let mut asked = match sent.await {
            Ok(handle) => Asked(Some(handle)),
            Err(error) => return Err(connection.failed(error).await),
        };
        let token = asked.token();
        let mut hears = true;
        let answer = loop {
            tokio::select! {
                biased;
                answer = asked.answer() => break answer,
                told = progress.recv(), if hears => match told {
                    Ok(told) if Some(&told.progress_token) == token.as_ref() => {
                        tell(context, &told);
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => hears = false,
                },
            }
        };
        asked.is_answered();
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
            done = self.ask(input, context) => done,
            () = sleep(time) => {
                let server = &self.connection.server;
                let message = format!("the MCP server {server:?} did not answer within {time:?}");
                Err(ToolError::new(ToolErrorCode::TIMEOUT, message))
            }
        }
    }
}

/// A call that is under way. The server is told when nobody waits for its answer any more.
struct Asked(Option<RequestHandle<RoleClient>>);

impl Asked {
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

    fn is_answered(&mut self) {
        self.0 = None;
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(async move {
                let reason = "nobody waits for the answer any more".to_owned();
                // A server that is gone need not be told.
                let _ = handle.cancel(Some(reason)).await;
            });
        }
    }
}

/// Tells the observers how far a call is.
fn tell(context: &ToolContext, told: &ProgressNotificationParam) {
    let title = match (&told.message, told.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{} of {total}", told.progress),
        (None, None) => told.progress.to_string(),
    };
    let mut metadata = Map::new();
    metadata.insert("progress".into(), told.progress.into());
    if let Some(total) = told.total {
        metadata.insert("total".into(), total.into());
    }
    context.progress_with(&title, &metadata);
}
