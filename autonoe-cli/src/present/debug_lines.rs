//! All that happens, with shortened payloads.

use autonoe_core::{
    GateDecision, RateLimit, RateLimitStatus, RunEventKind, StreamEvent, ToolStatus,
};
use serde_json::Value;

use super::lines::{Level, Line};
use super::shorten::shorten;

/// Says what an event was, for who looks for a mistake; `None` for what other lines say already.
pub(super) fn debug_line(event: &RunEventKind<'_>) -> Option<Line> {
    let text = match event {
        RunEventKind::Agent { stream } => stream_text(stream)?,
        RunEventKind::ToolDecided { call, decision } => match decision {
            GateDecision::Allow { by } => format!("[gate] {} allowed by {by}", call.name),
            GateDecision::Deny { by, .. } => format!("[gate] {} denied by {by}", call.name),
        },
        RunEventKind::ToolProgress { tool, title, .. } => {
            format!("[progress] {tool}: {}", shorten(title))
        }
        RunEventKind::ModelStarted { asked } => {
            format!(
                "[model] {} gets {} messages",
                asked.model,
                asked.messages.count()
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
                shorten(&error.message)
            )
        }
        RunEventKind::ProgressShown { message } => format!("[progress] {}", shorten(message)),
        RunEventKind::Debug { message, data } => format!("[debug] {}", detail(message, *data)),
        RunEventKind::Trace { message, data } => format!("[trace] {}", detail(message, *data)),
        _ => return None,
    };
    Some(Line::new(Level::Debug, text))
}

fn detail(message: &str, data: Option<&Value>) -> String {
    match data {
        Some(data) => shorten(&format!("{message} {data}")),
        None => shorten(message),
    }
}

fn stream_text(event: &StreamEvent) -> Option<String> {
    Some(match event {
        StreamEvent::Started { session, model, .. } => {
            let model = model.as_deref().unwrap_or("an unknown model");
            format!("[agent] conversation {session} with {model}")
        }
        StreamEvent::Text { text, .. } => format!("[text] {}", shorten(text)),
        StreamEvent::Thinking { text, .. } => format!("[thinking] {}", shorten(text)),
        StreamEvent::ToolInvocation { name, input, .. } => {
            format!("[tool] {name} {}", shorten(&input.to_string()))
        }
        StreamEvent::ToolResponse { output, status, .. } => {
            let status = match status {
                ToolStatus::Ok => "ok",
                ToolStatus::Error => "failed",
                ToolStatus::Denied => "denied",
            };
            format!("[result] {status}: {}", shorten(output))
        }
        StreamEvent::Usage { tokens, .. } => {
            format!("[usage] {} tokens in, {} out", tokens.input, tokens.output)
        }
        StreamEvent::RateLimit { limit, .. } => format!("[quota] {}", quota(limit)),
        StreamEvent::End { outcome, .. } => format!("[end] {}", shorten(&outcome.to_string())),
        _ => return None,
    })
}

/// Says how much of a quota is left.
fn quota(limit: &RateLimit) -> String {
    let left = match limit.status {
        RateLimitStatus::Allowed => "enough is left",
        RateLimitStatus::Warning => "little is left",
        RateLimitStatus::Rejected => "nothing is left",
    };
    let window = limit.window.as_deref();
    let mut text = window.map_or_else(String::new, |name| format!("{}: ", shorten(name)));
    text.push_str(left);
    if let Some(percent) = limit.used_percent {
        text.push_str(&format!(", {percent}% used"));
    }
    if let Some(at) = limit.resets_at {
        text.push_str(&format!(", comes back at {at}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use autonoe_core::SessionOutcome;

    use super::*;

    #[test]
    fn events_are_told_without_names_of_types() {
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
                "[quota] five_hour: little is left, 91% used, comes back at 2026-01-31T18:00:00Z",
            ),
            (
                StreamEvent::end(spent, None),
                "[end] met the quota (You've hit your limit)",
            ),
        ] {
            assert_eq!(stream_text(&event).as_deref(), Some(text));
        }
    }
}
