//! Request handler of one session, independent of the transport.

use std::sync::Arc;

use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use rmcp::model::{
    CallToolRequestParams, ErrorCode, ErrorData, Implementation, InitializeResult, ListToolsResult,
    ProtocolVersion, ServerCapabilities, Tool, ToolsCapability,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::calls::Call;
use super::calls::{Calls, StartError};
use super::message::{Incoming, error_response, result};
use crate::tools::mcp_tool;

/// Supported protocol versions, oldest first. Later versions have a different handshake.
pub(crate) const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
];

/// Handles the MCP messages of one session.
pub(crate) struct RequestHandler {
    pub(super) session: SessionKey,
    pub(super) tools: Toolbox,
    listed: Vec<Tool>,
    pub(super) closed: CancellationToken,
}

/// Reaction to a message.
pub(crate) enum Reply {
    /// The message needs no answer.
    Nothing,
    Answer(Value),
    /// A tool must be called.
    Call(Box<Call>),
}

impl RequestHandler {
    pub(crate) fn new(session: SessionKey, tools: Toolbox) -> Self {
        Self {
            session,
            listed: tools.definitions().map(mcp_tool).collect(),
            tools,
            closed: CancellationToken::new(),
        }
    }

    /// Cancels all running and future calls.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    /// Handles a message of the client that owns `calls`.
    pub(crate) fn handle(self: &Arc<Self>, calls: &Arc<Calls>, incoming: Incoming) -> Reply {
        let (id, method, params) = match incoming {
            Incoming::Request { id, method, params } => (id, method, params),
            Incoming::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                {
                    calls.cancel(id);
                }
                return Reply::Nothing;
            }
            Incoming::Answer => return Reply::Nothing,
        };
        let answer = match method.as_str() {
            "initialize" => initialize(&params),
            "ping" => Ok(json!({})),
            "tools/list" => self.list(&params),
            "tools/call" => match self.call(calls, &id, params) {
                Ok(call) => return Reply::Call(Box::new(call)),
                Err(error) => Err(error),
            },
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                "unknown method",
                None,
            )),
        };
        Reply::Answer(match answer {
            Ok(answer) => result(&id, &answer),
            Err(error) => error_response(&id, &error),
        })
    }

    fn list(&self, params: &Value) -> Result<Value, ErrorData> {
        // All tools are on the first page.
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(ErrorData::invalid_params("unknown cursor", None));
        }
        let mut page = ListToolsResult::with_all_items(self.listed.clone());
        // This field belongs to a later protocol version.
        page.result_type = None;
        to_json(&page)
    }

    fn call(
        self: &Arc<Self>,
        calls: &Arc<Calls>,
        id: &Value,
        mut params: Value,
    ) -> Result<Call, ErrorData> {
        let progress = params.pointer("/_meta/progressToken").cloned();
        let progress = progress.filter(|token| token.is_string() || token.is_number());
        // Other metadata of clients is unused and may have any shape.
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        let params: CallToolRequestParams = serde_json::from_value(params).map_err(|_| {
            let what = "a call needs the name of a tool, and its arguments must be an object";
            ErrorData::invalid_params(what, None)
        })?;
        let begun = calls.start(id, &self.closed).map_err(|why| match why {
            StartError::IdInUse => {
                ErrorData::invalid_request("another call with this id is in progress", None)
            }
            StartError::TooMany => ErrorData::internal_error(
                "too many calls are in progress; wait until some of them finish",
                None,
            ),
        })?;
        Ok(Call {
            handler: self.clone(),
            running: begun,
            id: id.clone(),
            tool: params.name.into_owned(),
            arguments: params.arguments.unwrap_or_default(),
            progress,
        })
    }
}

fn initialize(params: &Value) -> Result<Value, ErrorData> {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let wanted =
        wanted.ok_or_else(|| ErrorData::invalid_params("protocolVersion is missing", None))?;
    let version = VERSIONS.iter().find(|version| version.as_str() == wanted);
    let version = version.unwrap_or(&ProtocolVersion::LATEST_WITH_INITIALIZE);
    let us = Implementation::new(Toolbox::SERVER, env!("CARGO_PKG_VERSION"));
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    let response = InitializeResult::new(capabilities)
        .with_protocol_version(version.clone())
        .with_server_info(us);
    to_json(&response)
}

pub(super) fn to_json(object: &impl serde::Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(object)
        .map_err(|_| ErrorData::internal_error("the response cannot be serialized", None))
}

#[cfg(test)]
mod tests;
