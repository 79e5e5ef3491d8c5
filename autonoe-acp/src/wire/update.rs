//! What an agent tells while it works.

use serde_json::Value;

/// Tells whether `params`, of whatever the agent sends by itself, are about `session`.
pub(crate) fn is_about(params: &Value, session: &str) -> bool {
    params["sessionId"] == session
}

/// What an agent tells while it works.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Update {
    /// It said something.
    Text(String),
    /// It thought aloud.
    Thought(String),
    /// There is news of a tool call: its first mention, or a later one.
    Call(CallNews),
    /// Something that means nothing here, as it came.
    Other(Value),
}

/// What is told of a tool call. Later news leave out what has not changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallNews {
    /// Pairs all news of one call.
    pub(crate) id: String,
    /// What people are shown. Where an agent tells no input, it is all there is.
    pub(crate) title: Option<String>,
    /// What sort of tool it is: `execute`, `edit`, `read`, ..
    pub(crate) kind: Option<String>,
    /// How far it is.
    pub(crate) status: Option<CallStatus>,
    /// The input, from agents that tell it.
    pub(crate) input: Option<Value>,
    /// The files it touches: its locations and those of its diffs.
    pub(crate) paths: Vec<String>,
    /// The texts of what it shows: of what it is to do, and in the end of what came of it.
    pub(crate) texts: Option<Vec<String>>,
    /// The output, from agents that tell it.
    pub(crate) output: Option<Value>,
    /// Whether the agent says, apart from the title, that it calls a tool of an MCP server.
    pub(crate) is_mcp: bool,
    /// Whether the agent says that the call begins, and not how one goes on.
    pub(crate) begins: bool,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStatus {
    /// It waits, or is under way.
    Open,
    /// It ran.
    Completed,
    /// It failed.
    Failed,
}

impl Update {
    /// Reads the parameters of a `session/update`.
    pub(crate) fn read(params: &Value) -> Self {
        let update = &params["update"];
        let name = update["sessionUpdate"].as_str().unwrap_or_default();
        match (name, text_of(&update["content"])) {
            ("agent_message_chunk", Some(text)) => Self::Text(text),
            ("agent_thought_chunk", Some(text)) => Self::Thought(text),
            ("tool_call" | "tool_call_update", _) => match CallNews::read(update) {
                Some(news) => Self::Call(CallNews {
                    begins: name == "tool_call",
                    ..news
                }),
                None => Self::Other(update.clone()),
            },
            _ => Self::Other(update.clone()),
        }
    }
}

impl CallNews {
    /// Reads what is told of a call; `None` if nobody can tell which one is meant.
    pub(crate) fn read(call: &Value) -> Option<Self> {
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
        let told = |field: &str| Some(call[field].clone()).filter(|value| !value.is_null());
        Some(Self {
            id,
            title: text("title"),
            kind: text("kind"),
            status,
            input: told("rawInput"),
            paths,
            texts: call["content"].is_array().then_some(texts),
            output: told("rawOutput"),
            is_mcp: call["_meta"]["is_mcp_tool_call"] == true,
            // What is asked about is still to come.
            begins: true,
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
    fn what_is_not_known_is_kept_and_no_error() {
        for update in [
            json!(null),
            json!({"update": 5}),
            json!({"update": {"sessionUpdate": "plan", "entries": []}}),
            json!({"update": {"sessionUpdate": "usage_update", "cost": {"amount": 0.1}}}),
            json!({"update": {"sessionUpdate": "tool_call", "title": "without an id"}}),
            json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}}),
        ] {
            let kept = Update::Other(update["update"].clone());
            assert_eq!(Update::read(&update), kept, "{update}");
        }
    }

    #[test]
    fn news_of_a_call_are_read_whole() {
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

        let expected = CallNews {
            id: "c".into(),
            title: Some("a title".into()),
            kind: Some("edit".into()),
            status: Some(CallStatus::Completed),
            input: Some(json!({"x": 1})),
            paths: vec!["/p/a".into(), "/p/b".into()],
            texts: Some(vec!["said".into(), "new".into()]),
            output: Some(json!("fine")),
            is_mcp: false,
            begins: false,
        };
        assert_eq!(Update::read(&update), Update::Call(expected));
    }
}
