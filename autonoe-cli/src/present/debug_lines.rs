//! All that happens, with shortened payloads.

use autonoe_core::{GateDecision, RunEventKind, StreamEvent};

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
        _ => return None,
    };
    Some(Line::new(Level::Debug, text))
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
            format!("[result] {status:?}: {}", shorten(output))
        }
        StreamEvent::Usage { tokens, .. } => {
            format!("[usage] {} tokens in, {} out", tokens.input, tokens.output)
        }
        StreamEvent::RateLimit { limit, .. } => format!("[quota] {limit:?}"),
        StreamEvent::Warning { message, .. } => format!("[warning] {}", shorten(message)),
        StreamEvent::End { outcome, .. } => format!("[end] {}", shorten(&format!("{outcome:?}"))),
        _ => return None,
    })
}
