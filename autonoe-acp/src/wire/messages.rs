//! Messages from the agent: updates and permission requests, parsed from raw JSON.

use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use agent_client_protocol::{
    Error, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, UntypedMessage,
};
use serde_json::Value;

/// The notification `session/update`.
#[derive(Clone, Debug)]
pub(crate) struct SessionUpdate(pub(crate) Value);

/// The request `session/request_permission`.
#[derive(Clone, Debug)]
pub(crate) struct PermissionRequest(pub(crate) Value);

impl JsonRpcMessage for SessionUpdate {
    fn matches_method(method: &str) -> bool {
        method == "session/update"
    }

    fn method(&self) -> &str {
        "session/update"
    }

    fn to_untyped_message(&self) -> Result<UntypedMessage, Error> {
        UntypedMessage::new(self.method(), &self.0)
    }

    fn parse_message(_method: &str, params: &Value) -> Result<Self, Error> {
        Ok(Self(params.clone()))
    }
}

impl JsonRpcNotification for SessionUpdate {}

impl JsonRpcMessage for PermissionRequest {
    fn matches_method(method: &str) -> bool {
        method == "session/request_permission"
    }

    fn method(&self) -> &str {
        "session/request_permission"
    }

    fn to_untyped_message(&self) -> Result<UntypedMessage, Error> {
        UntypedMessage::new(self.method(), &self.0)
    }

    fn parse_message(_method: &str, params: &Value) -> Result<Self, Error> {
        Ok(Self(params.clone()))
    }
}

impl JsonRpcRequest for PermissionRequest {
    type Response = RequestPermissionResponse;
}

/// A request for permission to use a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Permission {
    /// The call; `None` if the request does not identify one.
    pub(crate) call: Option<CallUpdate>,
    /// The option that allows this call and no other.
    allow_once: Option<String>,
    /// The option that refuses this call and no other.
    reject_once: Option<String>,
}

/// The answer to a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The call is allowed. Only this one: an agent does not ask again about a permanent
    /// permission.
    Allow,
    /// The call is denied.
    Reject,
}

impl Permission {
    /// Reads the parameters of a `session/request_permission`.
    pub(crate) fn parse(params: &Value) -> Self {
        let options = || params["options"].as_array().into_iter().flatten();
        let ids = || options().filter_map(|option| option["optionId"].as_str());
        // An id that is used by two options is ambiguous.
        let is_certain =
            |id: &str| !id.is_empty() && ids().filter(|other| *other == id).count() == 1;
        let id_of = |kind: &str| {
            let offered = options().filter(|option| option["kind"] == kind);
            let mut ids = offered.filter_map(|option| option["optionId"].as_str());
            ids.find(|id| is_certain(id)).map(str::to_owned)
        };
        Self {
            call: CallUpdate::parse(&params["toolCall"]),
            allow_once: id_of("allow_once"),
            reject_once: id_of("reject_once"),
        }
    }

    /// Returns whether one call can be allowed without allowing others.
    pub(crate) fn can_allow_once(&self) -> bool {
        self.allow_once.is_some()
    }

    /// Creates the response. If the agent does not offer the option, the request is cancelled,
    /// which allows nothing.
    pub(crate) fn response(&self, answer: Answer) -> RequestPermissionResponse {
        let option = match answer {
            Answer::Allow => &self.allow_once,
            Answer::Reject => &self.reject_once,
        };
        let outcome = match option {
            Some(id) => {
                let selected = SelectedPermissionOutcome::new(id.clone());
                RequestPermissionOutcome::Selected(selected)
            }
            None => RequestPermissionOutcome::Cancelled,
        };
        RequestPermissionResponse::new(outcome)
    }
}

/// Returns whether `params`, of a message that the agent sends on its own, are about `session`.
pub(crate) fn is_about(params: &Value, session: &str) -> bool {
    params["sessionId"] == session
}

/// An update that an agent sends during a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Update {
    /// Text of the agent.
    Text(String),
    /// A thought of the agent.
    Thought(String),
    /// An update of a tool call: the first one, or a later one.
    Call(CallUpdate),
    /// An update without a meaning here, unchanged.
    Other(Value),
}

/// An update of a tool call. Later updates leave out unchanged fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallUpdate {
    /// The id of the call, the same in all its updates.
    pub(crate) id: String,
    /// The title for users. If an agent sends no input, it is the only description.
    pub(crate) title: Option<String>,
    /// The kind of tool: `execute`, `edit`, `read`, ..
    pub(crate) kind: Option<String>,
    /// The status of the call.
    pub(crate) status: Option<CallStatus>,
    /// The input, if the agent reports it.
    pub(crate) input: Option<Value>,
    /// The paths it touches: its locations and those of its diffs.
    pub(crate) paths: Vec<String>,
    /// Its texts: the description of the call, and finally its result.
    pub(crate) texts: Option<Vec<String>>,
    /// The output, if the agent reports it.
    pub(crate) output: Option<Value>,
    /// Whether the agent reports, apart from the title, that it calls a tool of an MCP server.
    pub(crate) is_mcp: bool,
    /// Whether the update starts the call, and does not continue it.
    pub(crate) is_start: bool,
}

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStatus {
    /// It is pending or running.
    Open,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
}

impl Update {
    /// Reads the parameters of a `session/update`.
    pub(crate) fn parse(params: &Value) -> Self {
        let update = &params["update"];
        let name = update["sessionUpdate"].as_str().unwrap_or_default();
        match (name, text_of(&update["content"])) {
            ("agent_message_chunk", Some(text)) => Self::Text(text),
            ("agent_thought_chunk", Some(text)) => Self::Thought(text),
            ("tool_call" | "tool_call_update", _) => match CallUpdate::parse(update) {
                Some(call_update) => Self::Call(CallUpdate {
                    is_start: name == "tool_call",
                    ..call_update
                }),
                None => Self::Other(update.clone()),
            },
            _ => Self::Other(update.clone()),
        }
    }
}

impl CallUpdate {
    /// Parses the update of a call; `None` if it does not identify one.
    pub(crate) fn parse(call: &Value) -> Option<Self> {
        let text = |field: &str| call[field].as_str().map(str::to_owned);
        let id = text("toolCallId").filter(|id| !id.is_empty())?;
        let entries = call["content"].as_array().into_iter().flatten();
        let (mut texts, mut paths) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry["type"].as_str() {
                Some("content") => texts.extend(text_of(&entry["content"])),
                Some("diff") => {
                    paths.extend(entry["path"].as_str().map(str::to_owned));
                    texts.extend(entry["newText"].as_str().map(str::to_owned));
                }
                _ => {}
            }
        }
        let places = call["locations"].as_array().into_iter().flatten();
        for path in places.filter_map(|place| place["path"].as_str()) {
            if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        let status = call["status"].as_str().map(|status| match status {
            "completed" => CallStatus::Completed,
            "failed" => CallStatus::Failed,
            _ => CallStatus::Open,
        });
        let non_null = |field: &str| Some(call[field].clone()).filter(|value| !value.is_null());
        Some(Self {
            id,
            title: text("title"),
            kind: text("kind"),
            status,
            input: non_null("rawInput"),
            paths,
            texts: call["content"].is_array().then_some(texts),
            output: non_null("rawOutput"),
            is_mcp: call["_meta"]["is_mcp_tool_call"] == true,
            // A permission request precedes its call.
            is_start: true,
        })
    }
}

fn text_of(content: &Value) -> Option<String> {
    match content["type"].as_str() {
        Some("text") => content["text"].as_str().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn permission(kinds: &[&str]) -> Permission {
        let options: Vec<_> = kinds
            .iter()
            .map(|kind| json!({"optionId": format!("id-{kind}"), "name": kind, "kind": kind}))
            .collect();
        Permission::parse(&json!({"options": options, "toolCall": {"toolCallId": "c"}}))
    }

    #[test]
    fn no_permission_is_permanent() {
        let all = ["allow_always", "allow_once", "reject_always", "reject_once"];
        let always = ["allow_always", "reject_always"];
        let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        for (offered, answer, expected) in [
            (&all[..], Answer::Allow, selected("id-allow_once")),
            (&all[..], Answer::Reject, selected("id-reject_once")),
            (&always[..], Answer::Allow, cancelled.clone()),
            (&always[..], Answer::Reject, cancelled.clone()),
            (&[], Answer::Allow, cancelled),
        ] {
            let response = permission(offered).response(answer);

            assert_eq!(serde_json::to_value(response).expect("JSON"), expected);
        }
    }

    #[test]
    fn an_ambiguous_option_id_is_not_used() {
        for (kinds, answer) in [
            (["allow_once", "allow_always"], Answer::Allow),
            (["allow_always", "allow_once"], Answer::Allow),
            (["reject_once", "allow_once"], Answer::Reject),
        ] {
            let options = kinds.map(|kind| json!({"optionId": "x", "name": kind, "kind": kind}));
            let permission = Permission::parse(&json!({"options": options}));

            let response = serde_json::to_value(permission.response(answer)).expect("JSON");

            assert_eq!(response, json!({"outcome": {"outcome": "cancelled"}}));
        }
    }

    #[test]
    fn a_request_without_a_call_is_parsed() {
        let permission = Permission::parse(&json!("nonsense"));

        assert_eq!(permission.call, None);
        assert!(!permission.can_allow_once());
    }

    #[test]
    fn unknown_updates_are_no_error() {
        for update in [
            json!(null),
            json!({"update": 5}),
            json!({"update": {"sessionUpdate": "plan", "entries": []}}),
            json!({"update": {"sessionUpdate": "usage_update", "cost": {"amount": 0.1}}}),
            json!({"update": {"sessionUpdate": "tool_call", "title": "without an id"}}),
            json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}}),
        ] {
            let expected = Update::Other(update["update"].clone());
            assert_eq!(Update::parse(&update), expected, "{update}");
        }
    }

    #[test]
    fn updates_of_a_call_are_parsed_completely() {
        let update = json!({"sessionId": "s", "update": {
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "title": "a title", "kind": "edit", "rawInput": {"x": 1}, "rawOutput": "fine",
            "content": [
                {"type": "content", "content": {"type": "text", "text": "said"}},
                {"type": "diff", "path": "/p/a", "oldText": "", "newText": "new"},
                {"type": "terminal", "terminalId": "t"},
            ],
            "locations": [{"path": "/p/a"}, {"path": "/p/b", "line": 3}],
        }});

        let expected = CallUpdate {
            id: "c".into(),
            title: Some("a title".into()),
            kind: Some("edit".into()),
            status: Some(CallStatus::Completed),
            input: Some(json!({"x": 1})),
            paths: vec!["/p/a".into(), "/p/b".into()],
            texts: Some(vec!["said".into(), "new".into()]),
            output: Some(json!("fine")),
            is_mcp: false,
            is_start: false,
        };
        assert_eq!(Update::parse(&update), Update::Call(expected));
    }
}
