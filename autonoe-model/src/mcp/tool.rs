//! [`McpTool`]: a tool of an MCP server, and the conversion of its results into tool outputs.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{Attachment, ToolDefinition, ToolErrorCode};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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
use super::listing::ListedTool;
use crate::tools::HeadAndTail;

/// A tool of an MCP server.
pub(super) struct McpTool {
    pub(super) connection: Arc<Connection>,
    pub(super) listed: ListedTool,
    pub(super) options: Arc<McpOptions>,
}

impl McpTool {
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

/// Converts the result of `tools/call`.
///
/// # Errors
///
/// The tool reports a failure, or the value is no tool result.
pub(super) fn output(result: &Value, options: &McpOptions) -> Result<ToolOutput, ToolError> {
    let blocks = result.get("content").and_then(Value::as_array);
    let structured = result.get("structuredContent");
    if blocks.is_none() && structured.is_none() {
        let message = "the MCP server returned something that is not a tool result";
        return Err(ToolError::new(ToolErrorCode::UNKNOWN, message));
    }
    let mut read = Reading {
        texts: Vec::new(),
        attachments: Vec::new(),
        room: options.attachment_bytes,
    };
    for block in blocks.into_iter().flatten() {
        read.block(block);
    }
    if read.texts.is_empty() && read.attachments.is_empty() {
        read.texts.extend(structured.map(Value::to_string));
    }
    let text = cut(&read.texts.join("\n"), options.output_bytes);
    let mut output = ToolOutput::default();
    output.attachments = read.attachments;
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let text = if text.trim().is_empty() {
            "the tool failed without a reason".to_owned()
        } else {
            text
        };
        let error = ToolError::new(ToolErrorCode::new("TOOL_FAILED"), text);
        return Err(error.with_output(output));
    }
    output.output = text;
    Ok(output)
}

fn cut(text: &str, limit: usize) -> String {
    let mut excerpt = HeadAndTail::new(limit);
    excerpt.push(text.as_bytes());
    excerpt.text()
}

/// Partially converted result.
struct Reading {
    texts: Vec<String>,
    attachments: Vec<Attachment>,
    /// Remaining bytes for attachments.
    room: usize,
}

impl Reading {
    fn block(&mut self, block: &Value) {
        let field = |name: &str| block.get(name).and_then(Value::as_str);
        match field("type") {
            Some("text") => self
                .texts
                .push(field("text").unwrap_or_default().to_owned()),
            Some("image" | "audio") => {
                let kind = field("mimeType").unwrap_or("application/octet-stream");
                self.file(kind, None, field("data").unwrap_or_default());
            }
            Some("resource") => self.resource(block.get("resource").unwrap_or(&Value::Null)),
            Some("resource_link") => {
                let (name, uri) = (field("name"), field("uri").unwrap_or_default());
                self.texts
                    .push(format!("[{}: {uri}]", name.unwrap_or("resource")));
            }
            kind => {
                let kind = kind.unwrap_or("unknown");
                self.texts
                    .push(format!("[a part of the kind {kind:?} cannot be shown]"));
            }
        }
    }

    fn resource(&mut self, resource: &Value) {
        let field = |name: &str| resource.get(name).and_then(Value::as_str);
        let uri = field("uri").unwrap_or_default();
        match (field("text"), field("blob")) {
            (Some(text), _) => self.texts.push(format!("{uri}:\n{text}")),
            (None, Some(blob)) => {
                let kind = field("mimeType").unwrap_or("application/octet-stream");
                self.file(kind, Some(uri), blob);
            }
            (None, None) => self.texts.push(format!("[{uri} is empty]")),
        }
    }

    fn file(&mut self, kind: &str, name: Option<&str>, data: &str) {
        let label = name.map_or_else(|| kind.to_owned(), |name| format!("{name} ({kind})"));
        let Ok(data) = STANDARD.decode(data) else {
            self.texts.push(format!("[{label} is damaged]"));
            return;
        };
        match self.room.checked_sub(data.len()) {
            Some(rest) => {
                self.room = rest;
                self.attachments.push(Attachment {
                    media_type: kind.to_owned(),
                    name: name.map(str::to_owned),
                    data: data.into(),
                });
            }
            None => {
                let size = data.len();
                self.texts
                    .push(format!("[{label} has {size} bytes, which is too much]"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(result: &Value) -> Result<ToolOutput, ToolError> {
        let options = McpOptions {
            output_bytes: 40,
            attachment_bytes: 5,
            ..McpOptions::default()
        };
        output(result, &options)
    }

    fn text(result: &Value) -> String {
        read(result).expect("it is a result").output
    }

    #[test]
    fn content_parts_are_rendered_as_text() {
        let block = |block: Value| json!({"content": [block]});
        for (result, expected) in [
            (
                json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
                "a\nb",
            ),
            (json!({"content": []}), ""),
            (
                json!({"content": [], "structuredContent": {"sum": 3}}),
                r#"{"sum":3}"#,
            ),
            (json!({"structuredContent": null}), "null"),
            (
                block(json!({"type": "resource", "resource": {"uri": "f:a", "text": "x"}})),
                "f:a:\nx",
            ),
            (
                block(json!({"type": "resource_link", "uri": "f:a", "name": "A"})),
                "[A: f:a]",
            ),
            (block(json!({"type": "hologram"})), "[a part of the kind"),
            (
                block(json!({"type": "image", "data": "%", "mimeType": "image/png"})),
                "[image/png is damaged]",
            ),
            (
                block(json!({"type": "image", "data": "AAAAAAAAAAA=", "mimeType": "i/p"})),
                "[i/p has 8 bytes, which is too much]",
            ),
        ] {
            let text = text(&result);
            assert!(text.starts_with(expected), "{result}: {text}");
        }
    }

    #[test]
    fn files_are_attached_as_far_as_there_is_room() {
        let image = |data: &str| json!({"type": "image", "data": data, "mimeType": "image/png"});
        let blob = json!({"uri": "f:b", "blob": "AQI=", "mimeType": "application/pdf"});
        let result = json!({"content": [
            image("AQID"),
            {"type": "resource", "resource": blob},
            image("AQID"),
        ]});

        let output = read(&result).expect("it is a result");

        let files: Vec<_> = output
            .attachments
            .iter()
            .map(|file| {
                (
                    file.media_type.as_str(),
                    file.name.as_deref(),
                    &file.data[..],
                )
            })
            .collect();
        let expected: [(&str, Option<&str>, &[u8]); 2] = [
            ("image/png", None, &[1, 2, 3]),
            ("application/pdf", Some("f:b"), &[1, 2]),
        ];
        assert_eq!(files, expected);
        assert_eq!(
            output.output,
            "[image/png has 3 bytes, which is too much]"[..20].to_owned()
                + "\n[... 2 bytes left out ...]\n"
                + &"[image/png has 3 bytes, which is too much]"[22..]
        );
    }

    #[test]
    fn error_result_is_a_tool_error() {
        let failed = |result: Value| read(&result).expect_err("it failed");

        let text =
            failed(json!({"content": [{"type": "text", "text": "no page"}], "isError": true}));
        assert_eq!(text.to_string(), "TOOL_FAILED: no page");
        let silent = failed(json!({"content": [], "isError": true}));
        assert!(silent.message.contains("without a reason"), "{silent}");
        let other = failed(json!({"tools": []}));
        assert_eq!(other.code, ToolErrorCode::UNKNOWN);
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        let long = json!({"content": [{"type": "text", "text": "x".repeat(100)}]});

        assert!(text(&long).contains("60 bytes left out"));
    }
}
