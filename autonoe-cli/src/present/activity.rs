//! What an agent does right now, in a few words.

use autonoe_core::{StreamEvent, ToolStatus};

/// What an agent does right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Activity {
    doing: Option<String>,
    tools: u32,
}

impl Activity {
    /// Takes note of what the agent said or did.
    pub(super) fn observe(&mut self, event: &StreamEvent) {
        match event {
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

    /// Returns the number of calls that were answered. Denied calls do not count.
    pub(super) fn tools(&self) -> u32 {
        self.tools
    }

    /// Says it, or nothing while there is nothing to say.
    pub(super) fn text(&self) -> Option<String> {
        let doing = self.doing.as_deref()?;
        Some(match self.tools {
            0 => doing.to_owned(),
            tools => format!("{doing} ({})", counted(tools)),
        })
    }
}

/// Writes `1 tool`, `3 tools`.
pub(super) fn counted(tools: u32) -> String {
    let plural = if tools == 1 { "" } else { "s" };
    format!("{tools} tool{plural}")
}

#[cfg(test)]
mod tests {
    use autonoe_core::SessionOutcome;
    use serde_json::json;

    use super::*;

    // Shows: interfaces/presenter/log-activity-clear-activity-start
    // Shows: interfaces/presenter/stream-error
    #[test]
    fn each_event_changes_what_is_said_as_specified() {
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
            activity.observe(&event);
            assert_eq!(activity.text().as_deref(), text, "{event:?}");
        }
        assert_eq!(activity.tools(), 2);
    }
}
