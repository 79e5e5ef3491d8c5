//! [`Update`]s that an agent sends during a turn.

use serde_json::Value;

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
                Some(news) => Self::Call(CallUpdate {
                    is_start: name == "tool_call",
                    ..news
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

    #[test]
    fn unknown_updates_are_kept_and_are_no_error() {
        for update in [
            json!(null),
            json!({"update": 5}),
            json!({"update": {"sessionUpdate": "plan", "entries": []}}),
            json!({"update": {"sessionUpdate": "usage_update", "cost": {"amount": 0.1}}}),
            json!({"update": {"sessionUpdate": "tool_call", "title": "without an id"}}),
            json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}}),
        ] {
            let kept = Update::Other(update["update"].clone());
            assert_eq!(Update::parse(&update), kept, "{update}");
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
