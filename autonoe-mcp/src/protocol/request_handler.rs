//! [`RequestHandler`] of one session, independent of the transport, and its running tool calls.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::ToolContext;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use rmcp::model::{
    CallToolRequestParams, ErrorCode, ErrorData, Implementation, InitializeResult, ListToolsResult,
    ProtocolVersion, ServerCapabilities, Tool, ToolsCapability,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::message::{Incoming, error_response, result};
use crate::tools::{failed, mcp_tool, success_result};

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
        let progress = params
            .pointer("/_meta/progressToken")
            .cloned()
            .filter(|token| token.is_string() || token.is_number());
        // Other metadata of clients is unused and may have any shape.
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        let params: CallToolRequestParams = serde_json::from_value(params).map_err(|_| {
            let message = "a call needs the name of a tool, and its arguments must be an object";
            ErrorData::invalid_params(message, None)
        })?;
        let running = calls.start(id, &self.closed).map_err(|error| match error {
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
            running,
            id: id.clone(),
            tool: params.name.into_owned(),
            arguments: params.arguments.unwrap_or_default(),
            progress,
        })
    }
}

fn initialize(params: &Value) -> Result<Value, ErrorData> {
    let requested = params
        .get("protocolVersion")
        .and_then(Value::as_str)
        .ok_or_else(|| ErrorData::invalid_params("protocolVersion is missing", None))?;
    let version = VERSIONS
        .iter()
        .find(|version| version.as_str() == requested)
        .unwrap_or(&ProtocolVersion::LATEST_WITH_INITIALIZE);
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

/// Maximum number of concurrent calls of one client.
const MAX_CALLS: usize = 64;

/// Running calls of one client, by request ID.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<HashMap<String, CancellationToken>>);

/// Reason that a call cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartError {
    /// Another running call has the same ID.
    IdInUse,
    TooMany,
}

/// Registration of a running call, removed on drop.
#[derive(Debug)]
pub(super) struct RunningCall {
    calls: Arc<Calls>,
    id: String,
    /// Cancelled when the client does not wait for the result any more.
    pub(super) cancelled: CancellationToken,
}

impl Calls {
    /// Registers a call. Cancelling `over` cancels the call, too.
    pub(super) fn start(
        self: &Arc<Self>,
        id: &Value,
        over: &CancellationToken,
    ) -> Result<RunningCall, StartError> {
        let mut calls = self.lock();
        // The string includes the JSON type: the number 1 and the text "1" are different IDs.
        let id = id.to_string();
        if calls.contains_key(&id) {
            return Err(StartError::IdInUse);
        }
        if calls.len() >= MAX_CALLS {
            return Err(StartError::TooMany);
        }
        let cancelled = over.child_token();
        calls.insert(id.clone(), cancelled.clone());
        Ok(RunningCall {
            calls: self.clone(),
            id,
            cancelled,
        })
    }

    /// Cancels a call, if it is still running.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(call) = self.lock().get(&id.to_string()) {
            call.cancel();
        }
    }

    /// Cancels all calls.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(CancellationToken::cancel);
    }

    /// Returns whether no call is running.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

/// A registered tool call that is ready to run.
pub(crate) struct Call {
    pub(super) handler: Arc<RequestHandler>,
    pub(super) running: RunningCall,
    pub(super) id: Value,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// Progress token of the client, if it wants progress notifications.
    pub(super) progress: Option<Value>,
}

impl Call {
    /// Returns the token that cancels the call, for a transport that detects a disconnected client.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.running.cancelled.clone()
    }

    /// Calls the tool and passes its progress notifications to `on_progress`. Returns the answer, or
    /// `None` if the client has cancelled the call and expects no answer.
    pub(crate) async fn run(
        self,
        on_progress: impl Fn(Value) + Send + Sync + 'static,
    ) -> Option<Value> {
        let Self {
            handler,
            running,
            id,
            tool,
            arguments,
            progress,
        } = self;
        let mut context =
            ToolContext::new(handler.session.clone()).with_cancellation(running.cancelled.clone());
        if let Some(token) = progress {
            let progress = Mutex::new(Progress::new(token));
            context = context.with_progress_listener(move |title, metadata| {
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                // Sent under the lock, to keep the notifications in order.
                on_progress(progress.next(title, metadata));
            });
        }
        let arguments = Value::Object(arguments);
        let done = handler.tools.call(&tool, arguments, context).await;
        if running.cancelled.is_cancelled() && !handler.closed.is_cancelled() {
            return None;
        }
        let answer = match done {
            Ok(output) => to_json(&success_result(&output)),
            // The protocol distinguishes an unknown tool from a failed tool.
            Err(error) if !handler.has(&tool) => {
                Err(ErrorData::invalid_params(error.message, None))
            }
            Err(error) => to_json(&failed(&error)),
        };
        Some(match answer {
            Ok(answer) => result(&id, &answer),
            Err(error) => error_response(&id, &error),
        })
    }
}

impl RequestHandler {
    fn has(&self, tool: &str) -> bool {
        self.tools
            .definitions()
            .any(|definition| definition.name == tool)
    }
}

/// Builds the progress notifications of one call. The reported progress must increase each time.
#[derive(Debug)]
pub(super) struct Progress {
    token: Value,
    last: Option<f64>,
}

impl Progress {
    /// Starts without progress. `token` identifies the call to the client.
    pub(super) fn new(token: Value) -> Self {
        Self { token, last: None }
    }

    /// Returns the next notification, for a progress report of a tool.
    ///
    /// `progress` and `total` of the tool's metadata are used if present and increasing. Otherwise,
    /// the progress increases by one.
    pub(super) fn next(&mut self, title: &str, metadata: &Map<String, Value>) -> Value {
        let number = |name: &str| metadata.get(name).and_then(Value::as_f64);
        let reported = number("progress").filter(|it| self.last.is_none_or(|last| *it > last));
        let mut params = json!({"progressToken": self.token});
        if let (Some(_), Some(total)) = (reported, number("total")) {
            params["total"] = json!(total);
        }
        let now = reported.unwrap_or_else(|| self.last.unwrap_or_default() + 1.0);
        self.last = Some(now);
        params["progress"] = json!(now);
        if !title.is_empty() {
            params["message"] = json!(title);
        }
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    }
}

#[cfg(test)]
mod calls_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_cancelled_by_its_id_and_no_other() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let number = calls.start(&json!(1), &over).expect("it begins");
        let text = calls.start(&json!("1"), &over).expect("it begins");

        calls.cancel(&json!(1));
        calls.cancel(&json!(7));

        assert!(number.cancelled.is_cancelled());
        assert!(!text.cancelled.is_cancelled());
        over.cancel();
        assert!(text.cancelled.is_cancelled());
    }

    #[test]
    fn an_id_can_be_reused_after_its_call() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let first = calls.start(&json!(1), &over).expect("it begins");

        let second = calls.start(&json!(1), &over).map(|_| ());
        drop(first);

        assert_eq!(second, Err(StartError::IdInUse));
        assert!(calls.is_idle());
        assert!(calls.start(&json!(1), &over).is_ok());
    }

    #[test]
    fn calls_of_one_client_are_limited() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let running: Vec<_> = (0..MAX_CALLS)
            .map(|id| calls.start(&json!(id), &over).expect("it begins"))
            .collect();

        let one_more = calls.start(&json!("more"), &over).map(|_| ());

        assert_eq!(one_more, Err(StartError::TooMany));
        assert_eq!(running.len(), MAX_CALLS);
    }

    #[test]
    fn progress_grows_each_time() {
        let mut progress = Progress::new(json!("t"));
        let details = |value: Value| value.as_object().cloned().unwrap_or_default();
        for (title, metadata, params) in [
            (
                "none",
                json!({"progress": 0, "total": 100}),
                json!({"progress": 0.0, "total": 100.0, "message": "none"}),
            ),
            ("one", json!({}), json!({"progress": 1.0, "message": "one"})),
            (
                "half",
                json!({"progress": 50, "total": 100}),
                json!({"progress": 50.0, "total": 100.0, "message": "half"}),
            ),
            (
                "back",
                json!({"progress": 20, "total": 100}),
                json!({"progress": 51.0, "message": "back"}),
            ),
            ("", json!({"progress": "far"}), json!({"progress": 52.0})),
        ] {
            let mut expected = params;
            expected["progressToken"] = json!("t");

            let note = progress.next(title, &details(metadata));

            assert_eq!(note["params"], expected, "{title}");
            assert_eq!(note["method"], json!("notifications/progress"));
        }
    }
}
