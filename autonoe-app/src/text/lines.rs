//! Permanent lines of a run's output.

use autonoe_core::agent::{SessionEnd, SessionOutcome, SessionProgress, SessionReport};
use autonoe_core::gate::GateDecision;
use autonoe_core::ledger::StatusChange;
use autonoe_core::time::format_duration;
use autonoe_core::{DeliverableStatus, RunEvent, RunEventKind, StreamEvent};

use super::sanitize::shorten;
use super::wait_text;

/// The text about an edit of the ledger between two runs, for the command and the report.
pub const LEDGER_EDITED: &str =
    "the ledger was edited between runs; this run accepts the edited ledger";

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// All details, for debugging.
    Debug,
    /// Normal progress.
    Info,
    /// A deliverable that passed.
    Good,
    /// Something that needs attention.
    Warning,
    /// Something that ended a session.
    Error,
}

/// A permanent line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub level: Level,
    pub text: String,
}

impl Line {
    pub fn new(level: Level, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { level, text }
    }
}

/// Returns the permanent lines of an event; `tools` is the number of answered calls of the session.
pub fn lines(event: &RunEvent<'_>, tools: u32) -> Vec<Line> {
    match &event.kind {
        RunEventKind::WaitStarted { reason, until } => {
            let lines = wait_text::announcement(*reason, *until, event.at);
            let warning = |text| Line::new(Level::Warning, text);
            lines.into_iter().map(warning).collect()
        }
        kind => line(kind, tools).into_iter().collect(),
    }
}

fn line(event: &RunEventKind<'_>, tools: u32) -> Option<Line> {
    match event {
        RunEventKind::RunStarted { run, mode } => Some(Line::new(
            Level::Info,
            format!("Run {run} started ({mode})"),
        )),
        RunEventKind::FlowStarted { run, flow, resumed } => {
            let verb = if *resumed { "resumed" } else { "started" };
            let text = format!("Flow {} {verb} ({run})", shorten(flow));
            Some(Line::new(Level::Info, text))
        }
        RunEventKind::SessionStarted {
            number,
            instruction,
            model,
        } => {
            let model = model.map(|model| format!(", {model}")).unwrap_or_default();
            let text = format!("Session {number} started ({instruction}{model})");
            Some(Line::new(Level::Info, text))
        }
        RunEventKind::StatusChanged { change } => Some(status_line(change)),
        RunEventKind::Deprecated { id } => {
            Some(Line::new(Level::Info, format!("[DEPRECATED] {id}")))
        }
        RunEventKind::Verified { id } => Some(Line::new(Level::Good, format!("[VERIFIED] {id}"))),
        RunEventKind::LedgerRestored { foreign } => {
            let text = format!("[LEDGER] {}", shorten(&foreign.to_string()));
            Some(Line::new(Level::Warning, text))
        }
        RunEventKind::LedgerEdited { .. } => {
            Some(Line::new(Level::Info, format!("[LEDGER] {LEDGER_EDITED}")))
        }
        RunEventKind::ToolDecided { call, decision } => match decision {
            GateDecision::Deny { reason, .. } => {
                let denied_call = match call.kind.target() {
                    Some(target) => format!("{}: {}", call.name, shorten(&target)),
                    None => call.name.clone(),
                };
                let text = format!("Denied {denied_call} — {}", shorten(reason));
                Some(Line::new(Level::Warning, text))
            }
            GateDecision::Allow { .. } => None,
        },
        RunEventKind::SessionEnded { number, result } => Some(ended(*number, result, tools)),
        RunEventKind::Paused => Some(Line::new(Level::Info, "Paused")),
        RunEventKind::Resumed => Some(Line::new(Level::Info, "Resumed")),
        RunEventKind::Instructed { text, .. } => Some(Line::new(
            Level::Info,
            format!("Message to the agent: {}", shorten(text)),
        )),
        RunEventKind::BudgetNearlySpent { budget } => Some(Line::new(
            Level::Warning,
            format!("80 % of the {budget} budget is spent"),
        )),
        RunEventKind::BudgetSpent { budget } => Some(Line::new(
            Level::Warning,
            format!("The {budget} budget is spent"),
        )),
        RunEventKind::Warning { message } => Some(Line::new(Level::Warning, *message)),
        RunEventKind::Agent {
            stream: StreamEvent::Warning { message, .. },
        } => {
            let text = format!("warning: {}", shorten(message));
            Some(Line::new(Level::Warning, text))
        }
        _ => None,
    }
}

/// Formats the new status of a deliverable.
pub(super) fn status_line(change: &StatusChange) -> Line {
    let (level, icon) = match change.status {
        DeliverableStatus::Passed => (Level::Good, "[PASS]"),
        DeliverableStatus::Blocked => (Level::Warning, "[BLOCKED]"),
        DeliverableStatus::Pending => (Level::Info, "[PENDING]"),
    };
    let (description, id) = (shorten(&change.description), shorten(change.id.as_str()));
    Line::new(level, format!("{icon} {description} ({id})"))
}

fn ended(number: u32, result: &SessionReport, tools: u32) -> Line {
    let end = shorten(&result.to_string());
    let (time, cost) = (format_duration(result.duration), &result.cost);
    let progress = no_progress(result).map(|text| format!(", {text}"));
    let text = format!(
        "Session {number} {end} ({time}, {cost}, {}{})",
        pluralize(tools.into(), "tool"),
        progress.unwrap_or_default()
    );
    Line::new(session_level(result), text)
}

/// Returns the importance of the end of a session.
pub fn session_level(result: &SessionReport) -> Level {
    match &result.end {
        _ if result.flaw.is_some() => Level::Error,
        SessionEnd::Outcome(SessionOutcome::Completed) => Level::Info,
        SessionEnd::Outcome(
            SessionOutcome::MaxTurns
            | SessionOutcome::BudgetExceeded
            | SessionOutcome::QuotaExceeded { .. }
            | SessionOutcome::Interrupted,
        )
        | SessionEnd::BudgetSpent { .. }
        | SessionEnd::Cancelled => Level::Warning,
        SessionEnd::Outcome(SessionOutcome::ExecutionError { .. }) | SessionEnd::Failed { .. } => {
            Level::Error
        }
    }
}

/// Formats a count with its noun: `1 tool`, `3 tools`.
pub fn pluralize(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns a note for a session without progress.
pub fn no_progress(result: &SessionReport) -> Option<&'static str> {
    (result.progress == SessionProgress::None).then_some("no progress")
}

#[cfg(test)]
mod tests {
    use autonoe_core::ToolCall;
    use serde_json::json;

    use super::*;

    fn text(event: &RunEventKind<'_>) -> Option<String> {
        line(event, 0).map(|line| line.text)
    }

    // Shows: interfaces/presenter/denied-calls
    #[test]
    fn denied_calls_name_their_target() {
        for (tool, input, expected) in [
            ("Bash", json!({"command": "curl x"}), "Bash: curl x"),
            (
                "Write",
                json!({"file_path": "/a/.git/config", "content": ""}),
                "Write: /a/.git/config",
            ),
            (
                "WebFetch",
                json!({"url": "https://x.org/", "prompt": ""}),
                "WebFetch: https://x.org/",
            ),
            ("mcp__db__drop", json!({}), "mcp__db__drop"),
        ] {
            let call = ToolCall::new(tool, input);
            let decision = GateDecision::Deny {
                by: "grants".to_owned(),
                reason: "no".to_owned(),
                remedy: None,
            };
            let event = RunEventKind::ToolDecided {
                call: &call,
                decision: &decision,
            };

            assert_eq!(text(&event), Some(format!("Denied {expected} — no")));
        }
    }

    #[test]
    fn warnings_of_agents_become_lines() {
        let stream = StreamEvent::warning("stopped a background command");
        let event = RunEventKind::Agent { stream: &stream };

        let expected = "warning: stopped a background command";
        assert_eq!(text(&event).as_deref(), Some(expected));
    }

    #[test]
    fn the_end_of_a_session_has_a_level_and_the_text_of_its_report() {
        let failed = SessionOutcome::ExecutionError {
            messages: vec!["a\nb".to_owned(), "c".to_owned()],
        };
        for (end, level, expected) in [
            (
                SessionEnd::Outcome(SessionOutcome::Completed),
                Level::Info,
                "Session 2 completed (0s, ",
            ),
            (
                SessionEnd::Cancelled,
                Level::Warning,
                "Session 2 was cancelled (0s, ",
            ),
            (
                SessionEnd::Outcome(failed),
                Level::Error,
                "Session 2 failed: a⏎b; c (0s, ",
            ),
        ] {
            let line = ended(2, &SessionReport::new(end), 0);

            assert_eq!(line.level, level);
            assert!(line.text.starts_with(expected), "{}", line.text);
        }
    }
}
