//! [`Activity`]: the current activity of an agent, in a few words.

use autonoe_core::tool::ToolStatus;
use autonoe_core::{RunEventKind, StreamEvent};

use super::lines::pluralize;

/// The current activity of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    doing: Option<String>,
    tools: u32,
}

impl Activity {
    /// Updates the activity from an event. A new session starts without one.
    pub fn observe(&mut self, event: &RunEventKind<'_>) {
        let stream = match event {
            RunEventKind::SessionStarted { .. } => {
                *self = Self::default();
                return;
            }
            RunEventKind::Agent { stream } => *stream,
            _ => return,
        };
        match stream {
            StreamEvent::Thinking { .. } => self.doing = Some("Thinking...".to_owned()),
            StreamEvent::Text { .. } => self.doing = Some("Responding...".to_owned()),
            StreamEvent::ToolInvocation { name, .. } => {
                self.doing = Some(format!("Running {name}..."));
            }
            StreamEvent::ToolResponse { status, .. } => match status {
                ToolStatus::Ok | ToolStatus::Error => self.tools += 1,
                ToolStatus::Denied => {}
            },
            StreamEvent::End { .. } => self.doing = None,
            _ => {}
        }
    }

    /// Returns the number of answered calls. Denied calls do not count.
    pub fn tools(&self) -> u32 {
        self.tools
    }

    /// Formats the activity, or returns `None` if there is none.
    pub fn text(&self) -> Option<String> {
        let doing = self.doing.as_deref()?;
        Some(match self.tools {
            0 => doing.to_owned(),
            tools => format!("{doing} ({})", pluralize(tools.into(), "tool")),
        })
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::SessionOutcome;
    use serde_json::json;

    use super::*;

    // Shows: interfaces/presenter/log-activity-clear-activity-start
    // Shows: interfaces/presenter/stream-error
    #[test]
    fn each_event_changes_the_text_as_specified() {
        let mut activity = Activity::default();
        assert_eq!(activity.text(), None);
        let tool = |name: &str| StreamEvent::tool_invocation("1", name, json!({}));
        let response = |status| StreamEvent::tool_response("1", "", status);
        for (event, text) in [
            (StreamEvent::thinking("hm"), Some("Thinking...")),
            (tool("bash"), Some("Running bash...")),
            (response(ToolStatus::Ok), Some("Running bash... (1 tool)")),
            (
                StreamEvent::warning("slow"),
                Some("Running bash... (1 tool)"),
            ),
            (tool("Write"), Some("Running Write... (1 tool)")),
            (
                response(ToolStatus::Denied),
                Some("Running Write... (1 tool)"),
            ),
            (tool("Read"), Some("Running Read... (1 tool)")),
            (
                response(ToolStatus::Error),
                Some("Running Read... (2 tools)"),
            ),
            (tool("Read"), Some("Running Read... (2 tools)")),
            (StreamEvent::text("done"), Some("Responding... (2 tools)")),
            (StreamEvent::end(SessionOutcome::Completed, None), None),
        ] {
            activity.observe(&RunEventKind::Agent { stream: &event });
            assert_eq!(activity.text().as_deref(), text, "{event:?}");
        }
        assert_eq!(activity.tools(), 2);
    }
}
