//! One-line descriptions of messages and events.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use autonoe_claude::wire::{Block, Line, Message, RequestContent, ResultMessage, UserBlock};
use autonoe_core::StreamEvent;
use serde_json::Value;

pub(crate) fn short(text: &str) -> String {
    let mut excerpt: String = text.chars().take(60).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    format!("{excerpt:?}")
}

/// Formats JSON with its keys in alphabetical order: any crate of a build can enable a feature that
/// makes a `Value` keep another order.
fn json(value: &Value) -> String {
    short(&sorted(value).to_string())
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            let members = members.into_iter();
            members
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Returns the end of an id, which is enough to distinguish it from others.
fn end_of(id: &str) -> &str {
    &id[id.len().saturating_sub(4)..]
}

/// Parses a recorded line, in which halves of surrogate pairs are replaced if it has any.
pub(crate) fn raw_value(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| {
        let mut parts = line.split("\\ud");
        let mut repaired = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            repaired.push_str("\\ufffd");
            // The other three digits of the escape.
            repaired.push_str(part.get(3..).unwrap_or_default());
        }
        serde_json::from_str(&repaired).unwrap_or_default()
    })
}

pub(crate) fn answer(response: &Value) -> String {
    let body = &response["response"];
    let decision = &body["hookSpecificOutput"]["permissionDecision"];
    if response["subtype"] != "success" {
        format!("error {}", response["error"])
    } else if body["mcp_response"].is_object() {
        "mcp".to_owned()
    } else if decision.is_string() {
        format!("{decision}")
    } else {
        json(body)
    }
}

pub(crate) fn describe(line: &Line, message: &Message<'_>) -> String {
    let name = match line.subtype() {
        Some(subtype) => format!("{}/{subtype}", line.type_name()),
        None => line.type_name().to_owned(),
    };
    let raw = raw_value(&String::from_utf8_lossy(line.raw()));
    let detail = match message {
        Message::Init(init) => format!(
            "{} in {}, {} tools, servers {:?}",
            init.permission_mode.as_deref().unwrap_or("?"),
            raw["cwd"].as_str().unwrap_or("?"),
            init.tools.len(),
            init.mcp_servers
                .iter()
                .map(|server| format!("{:?} {:?}", server.name, server.status))
                .collect::<Vec<_>>()
        ),
        Message::Assistant(message) => {
            let blocks: Vec<String> = message.blocks.iter().map(block).collect();
            let by = message
                .parent_tool_use_id
                .as_deref()
                .map_or("", |_| " of a sub-agent");
            let error = message
                .error
                .as_deref()
                .map(|error| format!(" error {error}"));
            format!("{}{by}{}", blocks.join(", "), error.unwrap_or_default())
        }
        Message::User(message) => message
            .blocks
            .iter()
            .map(|block| match block {
                UserBlock::Text(text) => format!("text {}", short(text)),
                UserBlock::ToolResult(result) => {
                    format!("result of {}", end_of(&result.tool_use_id))
                }
                other => format!("{other:?}"),
            })
            .collect::<Vec<_>>()
            .join(", "),
        Message::Result(result) => describe_result(result),
        Message::RateLimit(event) => format!("{:?} {:?}", event.status, event.claim),
        Message::ControlRequest(request) => question(&request.content, &raw["request"]),
        Message::ControlResponse(response) => match &response.answer {
            Ok(Some(_)) => "success with an answer".to_owned(),
            Ok(None) => "success".to_owned(),
            Err(error) => format!("error {error:?}"),
        },
        Message::TaskStarted(task) => format!(
            "{} {} backgrounded {:?}",
            task.task_id.as_deref().map_or("?", end_of),
            task.task_type.as_deref().unwrap_or("?"),
            raw["is_backgrounded"].as_bool()
        ),
        Message::TaskUpdated(task) => format!(
            "{} {:?}",
            task.task_id.as_deref().map_or("?", end_of),
            task.patch
                .as_ref()
                .and_then(|patch| patch.status.as_deref())
        ),
        Message::TaskNotification(task) => format!(
            "{} {:?}",
            task.task_id.as_deref().map_or("?", end_of),
            raw["status"].as_str()
        ),
        Message::BackgroundTasks(list) => format!("{} tasks", list.tasks.len()),
        Message::SessionState(state) => format!("{:?}", state.state),
        Message::Status(status) => {
            format!("{:?} {:?}", status.status, raw["permissionMode"].as_str())
        }
        Message::PermissionDenied(_) => format!("{:?}", raw["tool_name"].as_str()),
        Message::Informational(remark) => {
            format!("{:?} {:?}", remark.level, raw["tag"].as_str())
        }
        Message::Unreadable { reason } => format!("UNREADABLE {reason}"),
        Message::Unknown => "(unknown)".to_owned(),
        _ => String::new(),
    };
    format!("{name} {detail}").trim_end().to_owned()
}

fn describe_result(result: &ResultMessage<'_>) -> String {
    let mut about = String::new();
    if result.is_error == Some(true) {
        about.push_str("is_error ");
    }
    if let Some(reason) = result.terminal_reason.as_deref() {
        write!(about, "{reason} ").expect("text");
    }
    if let Some(status) = result.api_error_status {
        write!(about, "status {status} ").expect("text");
    }
    let cost = result.total_cost_usd.map(|cost| format!("${cost:.6}"));
    write!(about, "cost so far {cost:?}").expect("text");
    about
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Text(text) => format!("text {}", short(text)),
        Block::Thinking(text) => format!("thinking {}", short(text)),
        Block::ToolUse(tool) => format!("tool_use {} {}", tool.name, end_of(&tool.id)),
        other => format!("{other:?}"),
    }
}

fn question(content: &RequestContent<'_>, raw: &Value) -> String {
    match content {
        RequestContent::Hook(hook) => {
            let input = hook.input.clone().unwrap_or_default();
            format!(
                "hook {} {} {} {}{}",
                raw["callback_id"].as_str().unwrap_or("?"),
                raw["input"]["hook_event_name"].as_str().unwrap_or("?"),
                input.tool_name.as_deref().unwrap_or("-"),
                input
                    .tool_input
                    .and_then(|input| input.value())
                    .map_or("-".into(), |input| json(&input)),
                input
                    .agent_type
                    .map_or(String::new(), |agent| format!(" by {agent}")),
            )
        }
        RequestContent::CanUseTool => {
            format!("can_use_tool {}", raw["tool_name"].as_str().unwrap_or("?"))
        }
        RequestContent::Mcp(mcp) => {
            let message = mcp
                .message
                .and_then(|message| message.value())
                .unwrap_or_default();
            format!(
                "mcp {} {} id {}",
                mcp.server_name.as_deref().unwrap_or("?"),
                message["method"],
                message["id"]
            )
        }
        other => format!("{other:?}"),
    }
}

pub(crate) fn event(event: &StreamEvent) -> String {
    let by = |agent: &Option<String>| {
        agent
            .as_ref()
            .map_or(String::new(), |agent| format!(" by {agent}"))
    };
    match event {
        StreamEvent::Started { session, model, .. } => {
            format!("started {} {model:?}", end_of(session.as_str()))
        }
        StreamEvent::Text { text, agent, .. } => format!("text {}{}", short(text), by(agent)),
        StreamEvent::Thinking { text, agent, .. } => {
            format!("thinking {}{}", short(text), by(agent))
        }
        StreamEvent::ToolInvocation {
            call_id,
            name,
            input,
            agent,
            ..
        } => format!(
            "call {} {name} {}{}",
            end_of(call_id),
            json(input),
            by(agent)
        ),
        StreamEvent::ToolResponse {
            call_id,
            output,
            status,
            ..
        } => format!("response {} {status:?} {}", end_of(call_id), short(output)),
        StreamEvent::Usage { tokens, cost, .. } => format!(
            "usage {} in, {} out, {}",
            tokens.prompt(),
            tokens.completion(),
            cost.map_or("cost unknown".to_owned(), |cost| cost.to_string())
        ),
        StreamEvent::RateLimit { limit, .. } => format!(
            "rate limit {:?} {:?} until {:?}, {:?} %",
            limit.status,
            limit.window,
            limit.resets_at.map(|time| time.to_string()),
            limit.used_percent
        ),
        StreamEvent::Warning { message, .. } => format!("warning {message:?}"),
        StreamEvent::End { outcome, cost, .. } => {
            let outcome = serde_json::to_string(outcome).expect("JSON");
            let cost = cost.map_or("cost unknown".to_owned(), |cost| cost.to_string());
            format!("{outcome} {cost}")
        }
        other => format!("{other:?}"),
    }
}
