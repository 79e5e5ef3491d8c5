//! Test agent: the client of `rmcp`, over HTTP and over pipes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::tool::{McpServer, ServedTools, Toolbox};
use autonoe_mcp::{TOKEN_VARIABLE, bridge_stdio, serve_stdio};
use autonoe_testkit::conformance::{CallAnswer, ToolsClient};
use hyper::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ProgressNotificationParam, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestHandle, RunningService,
    ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, duplex, split};

use crate::fixture::key;
use crate::http_client::Http;

/// An agent that has initialized a session.
pub(crate) struct Agent {
    service: RunningService<RoleClient, ProgressRecorder>,
    progress_notes: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

/// Records the progress of calls.
#[derive(Clone, Default)]
struct ProgressRecorder(Arc<Mutex<Vec<ProgressNotificationParam>>>);

impl ClientHandler for ProgressRecorder {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().expect("not poisoned").push(params);
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("tests", "1");
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

impl Agent {
    /// Connects to a server by URL or command.
    pub(crate) async fn connect(at: &McpServer) -> Result<Self, String> {
        Self::reach_as(at, ClientLifecycleMode::Initialize).await
    }

    /// Connects to a server as a client that prefers a later protocol version.
    pub(crate) async fn connect_with_later_version(at: &McpServer) -> Result<Self, String> {
        let later = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        Self::reach_as(at, later).await
    }

    async fn reach_as(at: &McpServer, lifecycle: ClientLifecycleMode) -> Result<Self, String> {
        match at {
            McpServer::Remote { url, headers, .. } => {
                let headers: HashMap<_, _> = headers
                    .iter()
                    .map(|(name, value)| {
                        let name = HeaderName::try_from(name.as_str()).expect("a name");
                        (
                            name,
                            HeaderValue::try_from(value.as_str()).expect("a value"),
                        )
                    })
                    .collect();
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers)
                    .reinit_on_expired_session(false);
                let transport = StreamableHttpClientTransport::with_client(Http::new(), config);
                let recorder = ProgressRecorder::default();
                let progress_notes = recorder.0.clone();
                let service = serve_client_with_lifecycle(recorder, transport, lifecycle)
                    .await
                    .map_err(|error| error.to_string())?;
                Ok(Self {
                    service,
                    progress_notes,
                })
            }
            McpServer::Stdio { args, env, .. } => {
                let (client_end, server_end) = duplex(64 * 1024);
                let url = args.last().cloned().unwrap_or_default();
                let token = env.get(TOKEN_VARIABLE).cloned().unwrap_or_default();
                tokio::spawn(async move {
                    let (input, output) = split(server_end);
                    bridge_stdio(&url, &token, input, output).await
                });
                Self::over_pipes(split(client_end), lifecycle).await
            }
            other => Err(format!("nobody knows how to reach {other:?}")),
        }
    }

    /// Connects to tools that are served over pipes in this process.
    pub(crate) async fn start(tools: Toolbox) -> Self {
        let (client_end, server_end) = duplex(64 * 1024);
        tokio::spawn(async move {
            let (input, output) = split(server_end);
            serve_stdio(&key(1), tools, input, output).await
        });
        let reached = Self::over_pipes(split(client_end), ClientLifecycleMode::Initialize).await;
        reached.expect("it greets")
    }

    async fn over_pipes<R, W>(pipes: (R, W), lifecycle: ClientLifecycleMode) -> Result<Self, String>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let recorder = ProgressRecorder::default();
        let progress_notes = recorder.0.clone();
        let service = serve_client_with_lifecycle(recorder, pipes, lifecycle)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Self {
            service,
            progress_notes,
        })
    }

    pub(crate) async fn to(served: &ServedTools) -> Self {
        Self::connect(&served.server).await.expect("it lets us in")
    }

    pub(crate) fn version(&self) -> ProtocolVersion {
        let info = self.service.peer().peer_info();
        info.expect("it has greeted").protocol_version.clone()
    }

    pub(crate) async fn list(&self) -> Result<Vec<rmcp::model::Tool>, ServiceError> {
        self.service.peer().list_all_tools().await
    }

    /// Starts a call.
    pub(crate) async fn begin(&self, tool: &str, input: Value) -> RequestHandle<RoleClient> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        if let Value::Object(input) = input {
            params = params.with_arguments(input);
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = self
            .service
            .peer()
            .send_cancellable_request(request, options);
        sent.await.expect("it can be sent")
    }

    /// Calls a tool.
    pub(crate) async fn call(
        &self,
        tool: &str,
        input: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let answer = self.begin(tool, input).await.await_response().await?;
        match answer {
            ServerResult::CallToolResult(result) => Ok(result),
            other => panic!("this is no result of a tool: {other:?}"),
        }
    }

    /// Calls a tool, and returns its text output.
    pub(crate) async fn text(&self, tool: &str, input: Value) -> String {
        text(&self.call(tool, input).await.expect("it is answered"))
    }

    pub(crate) fn progress(&self) -> Vec<ProgressNotificationParam> {
        self.progress_notes.lock().expect("not poisoned").clone()
    }

    pub(crate) async fn close(self) {
        let _ = self.service.cancel().await;
    }
}

fn text(result: &CallToolResult) -> String {
    let first = result.content.first().and_then(|block| block.as_text());
    first.map(|block| block.text.clone()).unwrap_or_default()
}

#[async_trait]
impl ToolsClient for Agent {
    async fn tools(&self) -> Result<Vec<Value>, String> {
        let listed = self.list().await.map_err(|error| error.to_string())?;
        let tools = listed
            .iter()
            .map(|tool| serde_json::to_value(tool).expect("it serialises"));
        Ok(tools.collect())
    }

    async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, String> {
        match Agent::call(self, tool, input).await {
            Ok(result) if result.is_error == Some(true) => Ok(CallAnswer::Refused(text(&result))),
            Ok(result) => Ok(CallAnswer::Done(text(&result))),
            Err(ServiceError::McpError(error)) if error.code.0 == -32602 => {
                Ok(CallAnswer::Refused(error.message.to_string()))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
