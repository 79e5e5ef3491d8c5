//! Where the messages of one session are answered.

use std::sync::Arc;

use autonoe_core::{SessionKey, Toolbox};
use rmcp::model::{
    CallToolRequestParams, ErrorCode, ErrorData, Implementation, InitializeResult, ListToolsResult,
    ProtocolVersion, ServerCapabilities, Tool, ToolsCapability,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::calls::Call;
use super::calls::{Calls, NotBegun};
use super::message::{Incoming, failure, result};
use crate::tools::listed;

/// The versions of the protocol that are spoken, oldest first. Later ones begin in another way.
pub(crate) const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
];

/// Where the messages of one session are answered.
pub(crate) struct Desk {
    pub(super) session: SessionKey,
    pub(super) tools: Toolbox,
    listed: Vec<Tool>,
    pub(super) over: CancellationToken,
}

/// What becomes of a message.
pub(crate) enum Reply {
    /// It wants no answer.
    Nothing,
    Answer(Value),
    /// A tool is to be called.
    Call(Box<Call>),
}

impl Desk {
    pub(crate) fn new(session: SessionKey, tools: Toolbox) -> Self {
        Self {
            session,
            listed: tools.definitions().map(listed).collect(),
            tools,
            over: CancellationToken::new(),
        }
    }

    /// Cancels the calls that are under way, and those that come.
    pub(crate) fn close(&self) {
        self.over.cancel();
    }

    /// Hears what a client says, whose calls are `calls`.
    pub(crate) fn hear(self: &Arc<Self>, calls: &Arc<Calls>, incoming: Incoming) -> Reply {
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
            "initialize" => greeting(&params),
            "ping" => Ok(json!({})),
            "tools/list" => self.list(&params),
            "tools/call" => match self.call(calls, &id, params) {
                Ok(call) => return Reply::Call(Box::new(call)),
                Err(error) => Err(error),
            },
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                "there is no such method",
                None,
            )),
        };
        Reply::Answer(match answer {
            Ok(answer) => result(&id, &answer),
            Err(error) => failure(&id, &error),
        })
    }

    fn list(&self, params: &Value) -> Result<Value, ErrorData> {
        // All tools are on the first page.
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(ErrorData::invalid_params("there is no such page", None));
        }
        let mut page = ListToolsResult::with_all_items(self.listed.clone());
        // A field of a later version.
        page.result_type = None;
        told(&page)
    }

    fn call(
        self: &Arc<Self>,
        calls: &Arc<Calls>,
        id: &Value,
        mut params: Value,
    ) -> Result<Call, ErrorData> {
        let progress = params.pointer("/_meta/progressToken").cloned();
        let progress = progress.filter(|token| token.is_string() || token.is_number());
        // What else clients say about their calls is not for us, and may have any shape.
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        let params: CallToolRequestParams = serde_json::from_value(params).map_err(|_| {
            let what = "a call has the name of a tool, and arguments that are an object";
            ErrorData::invalid_params(what, None)
        })?;
        let begun = calls.begin(id, &self.over).map_err(|why| match why {
            NotBegun::IdInUse => {
                ErrorData::invalid_request("another call with this id is under way", None)
            }
            NotBegun::TooMany => {
                ErrorData::internal_error("too many calls are under way; wait for them", None)
            }
        })?;
        Ok(Call {
            desk: self.clone(),
            begun,
            id: id.clone(),
            tool: params.name.into_owned(),
            arguments: params.arguments.unwrap_or_default(),
            progress,
        })
    }
}

fn greeting(params: &Value) -> Result<Value, ErrorData> {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let wanted = wanted
        .ok_or_else(|| ErrorData::invalid_params("it is not said which version is spoken", None))?;
    let version = VERSIONS.iter().find(|version| version.as_str() == wanted);
    let version = version.unwrap_or(&ProtocolVersion::LATEST_WITH_INITIALIZE);
    let us = Implementation::new(Toolbox::SERVER, env!("CARGO_PKG_VERSION"));
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(ToolsCapability::default());
    let greeting = InitializeResult::new(capabilities)
        .with_protocol_version(version.clone())
        .with_server_info(us);
    told(&greeting)
}

pub(super) fn told(object: &impl serde::Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(object)
        .map_err(|_| ErrorData::internal_error("the answer cannot be written", None))
}

#[cfg(test)]
mod tests;
