//! Debug lines: one line per event, with its full payload.

use autonoe_app::text::{Level, Line, sanitize_line, shorten};
use autonoe_core::agent::{RateLimit, RateLimitStatus};
use autonoe_core::gate::GateDecision;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{RunEventKind, StreamEvent};
use serde_json::Value;

/// Returns the debug line of an event, or `None` if its other lines show everything. Only thoughts
/// are shortened.
pub(super) fn debug_line(event: &RunEventKind<'_>) -> Option<Line> {
    let text = match event {
        RunEventKind::AgentStarted { prompt } => format!("[send] {}", full_line(prompt)),
        RunEventKind::Agent { stream } => stream_text(stream)?,
        RunEventKind::ToolDecided { call, decision } => match decision {
            GateDecision::Allow { by } => format!("[gate] {} allowed by {by}", call.name),
            GateDecision::Deny { by, .. } => format!("[gate] {} denied by {by}", call.name),
        },
        RunEventKind::ToolProgress { tool, title, .. } => {
            format!("[progress] {tool}: {}", full_line(title))
        }
        RunEventKind::ModelStarted { request } => {
            format!(
                "[model] {} gets {} messages",
                request.model,
                request.messages.count()
            )
        }
        RunEventKind::ModelEnded { answer } => {
            let tokens = &answer.tokens;
            format!(
                "[model] {} tokens in, {} out",
                tokens.prompt(),
                tokens.completion()
            )
        }
        RunEventKind::ModelFailed { error, .. } => {
            format!(
                "[model] failed ({}): {}",
                error.code,
                full_line(&error.message)
            )
        }
        RunEventKind::ProgressStarted { message } => format!("[progress] {}", full_line(message)),
        RunEventKind::Debug { message, data } => format!("[debug] {}", detail(message, *data)),
        RunEventKind::Trace { message, data } => format!("[trace] {}", detail(message, *data)),
        _ => return None,
    };
    Some(Line::new(Level::Debug, text))
}

fn full_line(text: &str) -> String {
    sanitize_line(text.trim())
}

fn detail(message: &str, data: Option<&Value>) -> String {
    match data {
        Some(data) => full_line(&format!("{message} {data}")),
        None => full_line(message),
    }
}

fn stream_text(event: &StreamEvent) -> Option<String> {
    Some(match event {
        StreamEvent::Started { session, model, .. } => {
            let model = model.as_deref().unwrap_or("an unknown model");
            format!("[agent] conversation {session} with {model}")
        }
        StreamEvent::Text { text, .. } => format!("[text] {}", full_line(text)),
        StreamEvent::Thinking { text, .. } => format!("[thinking] {}", shorten(text)),
        StreamEvent::ToolInvocation { name, input, .. } => {
            format!("[tool] {name} {}", full_line(&input.to_string()))
        }
        StreamEvent::ToolResponse { output, status, .. } => {
            let status = match status {
                ToolStatus::Ok => "ok",
                ToolStatus::Error => "failed",
                ToolStatus::Denied => "denied",
            };
            format!("[result] {status}: {}", full_line(output))
        }
        StreamEvent::Usage { tokens, .. } => {
            format!("[usage] {} tokens in, {} out", tokens.input, tokens.output)
        }
        StreamEvent::RateLimit { limit, .. } => format!("[quota] {}", quota(limit)),
        StreamEvent::End { outcome, .. } => format!("[end] {}", full_line(&outcome.to_string())),
        _ => return None,
    })
}

/// Describes the state of a quota.
fn quota(limit: &RateLimit) -> String {
    let left = match limit.status {
        RateLimitStatus::Allowed => "available",
        RateLimitStatus::Warning => "almost used up",
        RateLimitStatus::Rejected => "used up",
    };
    let window = limit.window.as_deref();
    let mut text = window.map_or_else(String::new, |name| format!("{}: ", full_line(name)));
    text.push_str(left);
    if let Some(percent) = limit.used_percent {
        text.push_str(&format!(", {percent}% used"));
    }
    if let Some(at) = limit.resets_at {
        text.push_str(&format!(", resets at {at}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::SessionOutcome;
    use serde_json::json;

    use super::*;

    fn stream_line(stream: &StreamEvent) -> Option<String> {
        let line = debug_line(&RunEventKind::Agent { stream })?;
        assert_eq!(line.level, Level::Debug);
        Some(line.text)
    }

    #[test]
    fn debug_lines_contain_no_type_names() {
        let limit = RateLimit {
            status: RateLimitStatus::Warning,
            window: Some("five_hour".to_owned()),
            resets_at: Some("2026-01-31T18:00:00Z".parse().expect("a time")),
            used_percent: Some(91),
        };
        let spent = SessionOutcome::QuotaExceeded {
            message: "You've hit your limit".to_owned(),
            resets_at: None,
        };
        for (event, text) in [
            (
                StreamEvent::tool_response("1", "no such file", ToolStatus::Error),
                "[result] failed: no such file",
            ),
            (
                StreamEvent::rate_limit(limit),
                "[quota] five_hour: almost used up, 91% used, resets at 2026-01-31T18:00:00Z",
            ),
            (
                StreamEvent::end(spent, None),
                "[end] hit the quota (You've hit your limit)",
            ),
        ] {
            assert_eq!(stream_line(&event).as_deref(), Some(text));
        }
    }

    #[test]
    fn payloads_are_complete_and_thoughts_are_cut_at_200_characters() {
        let long = "x".repeat(500);
        let reports = SessionOutcome::ExecutionError {
            messages: vec![long.clone()],
        };
        for (event, text) in [
            (StreamEvent::text(&*long), format!("[text] {long}")),
            (
                StreamEvent::tool_invocation("1", "Bash", json!({"command": long})),
                format!(r#"[tool] Bash {{"command":"{long}"}}"#),
            ),
            (
                StreamEvent::tool_response("1", &*long, ToolStatus::Ok),
                format!("[result] ok: {long}"),
            ),
            (
                StreamEvent::thinking(&*long),
                format!("[thinking] {}…", "x".repeat(200)),
            ),
            (
                StreamEvent::end(reports.clone(), None),
                format!("[end] {reports}"),
            ),
        ] {
            assert_eq!(stream_line(&event), Some(text));
        }
        let data = json!({ "raw": long });
        for (event, text) in [
            (
                RunEventKind::AgentStarted {
                    prompt: &format!("Do\n{long}\n"),
                },
                format!("[send] Do⏎{long}"),
            ),
            (
                RunEventKind::Debug {
                    message: "received",
                    data: Some(&data),
                },
                format!("[debug] received {data}"),
            ),
        ] {
            assert_eq!(debug_line(&event).map(|line| line.text), Some(text));
        }
    }
}
