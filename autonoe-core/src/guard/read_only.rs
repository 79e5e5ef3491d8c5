//! Keeps a session from changing anything.

use async_trait::async_trait;

use crate::port::{HookDecision, PreToolUseHook, ProjectPaths, ToolCall, ToolKind, Toolbox};

/// Tools of agents that change nothing outside of the agent.
const HARMLESS: [&str; 1] = ["TodoWrite"];

/// Blocks every call that may change something: all but reads, fetches and our own tools.
///
/// Our own tools are chosen by who orders the session. What a tool of others changes is not known,
/// so it is blocked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOnlyGuard;

#[async_trait]
impl PreToolUseHook for ReadOnlyGuard {
    fn name(&self) -> &str {
        "read-only"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        let changes_nothing = match &call.kind {
            ToolKind::Read { .. } | ToolKind::Fetch { .. } => true,
            ToolKind::Mcp { .. } => call.kind.certain_server() == Some(Toolbox::SERVER),
            ToolKind::Other => HARMLESS.contains(&call.name.as_str()),
            ToolKind::Shell { .. } | ToolKind::Write { .. } | ToolKind::Malformed { .. } => false,
        };
        match changes_nothing {
            true => HookDecision::Pass,
            false => HookDecision::block("this session only looks and changes nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_changes_nothing_passes() {
        for (name, input, passes) in [
            ("Read", json!({"file_path": "a"}), true),
            ("Grep", json!({"pattern": "a"}), true),
            ("WebFetch", json!({"url": "https://example.com"}), true),
            ("TodoWrite", json!({}), true),
            ("mcp__autonoe__verdict", json!({}), true),
            ("mcp__autonoe__a__b", json!({}), false),
            ("mcp__other__read", json!({}), false),
            ("Write", json!({"file_path": "a"}), false),
            ("Edit", json!({"file_path": "a"}), false),
            ("Bash", json!({"command": "ls"}), false),
            ("Task", json!({}), false),
            ("Read", json!({}), false),
        ] {
            let call = ToolCall::new(name, input);

            let decision =
                futures::executor::block_on(ReadOnlyGuard.check(&call, &ProjectPaths::new("/srv")));

            assert_eq!(decision == HookDecision::Pass, passes, "{name}");
        }
    }
}
