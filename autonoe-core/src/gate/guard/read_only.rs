//! [`ReadOnlyGuard`], which blocks every change in a read-only session.

use async_trait::async_trait;

use crate::gate::{HookDecision, PreToolUseHook, ProjectPaths};
use crate::tool::{ToolCall, ToolKind, Toolbox};

/// Tools of agents that change nothing outside of the agent.
const HARMLESS: [&str; 1] = ["TodoWrite"];

/// Blocks every call that may change something. Reads, fetches and Autonoe's own tools pass.
///
/// The creator of the session chooses Autonoe's own tools. The effects of other tools are unknown,
/// so they are blocked.
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
            ToolKind::Mcp { .. } => call.kind.unambiguous_server() == Some(Toolbox::SERVER),
            ToolKind::Other => HARMLESS.contains(&call.name.as_str()),
            ToolKind::Shell { .. } | ToolKind::Write { .. } | ToolKind::Malformed { .. } => false,
        };
        if changes_nothing {
            HookDecision::Pass
        } else {
            HookDecision::block(
                "this session is read-only: it may read and search, and must not change \
                 anything",
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_read_only_calls_pass() {
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
