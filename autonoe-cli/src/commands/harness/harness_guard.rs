//! What fleets keep is not for agents to change.

use async_trait::async_trait;
use autonoe_core::{HookDecision, PreToolUseHook, ToolCall, ToolKind};

/// The folder that is guarded.
const NAME: &str = ".harness";

/// Blocks every call that writes below `.harness`, and every command that speaks of it: who could
/// change what a fleet keeps could say that its work is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct HarnessGuard;

#[async_trait]
impl PreToolUseHook for HarnessGuard {
    fn name(&self) -> &str {
        "harness-protection"
    }

    fn matches(&self, call: &ToolCall) -> bool {
        matches!(call.kind, ToolKind::Shell { .. } | ToolKind::Write { .. })
    }

    async fn check(&self, call: &ToolCall) -> HookDecision {
        let is_guarded = match &call.kind {
            ToolKind::Shell { command } => command.contains(NAME),
            ToolKind::Write { paths } => paths.iter().any(|path| {
                // A worktree is below it, too; what is named from there is not.
                let below = path.strip_prefix(&call.cwd).unwrap_or(path);
                below.components().any(|part| part.as_os_str() == NAME)
            }),
            _ => false,
        };
        match is_guarded {
            true => {
                HookDecision::block("the fleet maintains .harness, and agents cannot change it")
            }
            false => HookDecision::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn what_fleets_keep_cannot_be_written() {
        let root = "/srv/shop/.harness/worktrees/f/a";
        for (tool, input, passes) in [
            (
                "Write",
                json!({"file_path": "src/a.rs", "content": ""}),
                true,
            ),
            (
                "Write",
                json!({"file_path": format!("{root}/a.rs"), "content": ""}),
                true,
            ),
            (
                "Write",
                json!({"file_path": ".harness/f.a/outcome.json", "content": ""}),
                false,
            ),
            (
                "Write",
                json!({"file_path": "/srv/shop/.harness/f.a/stop", "content": ""}),
                false,
            ),
            ("Bash", json!({"command": "ls"}), true),
            ("Bash", json!({"command": "echo > .harness/f/stop"}), false),
        ] {
            let call = ToolCall::new(tool, input.clone()).in_dir(root);

            let decision = match HarnessGuard.matches(&call) {
                true => HarnessGuard.check(&call).await,
                false => HookDecision::Pass,
            };

            assert_eq!(matches!(decision, HookDecision::Pass), passes, "{input}");
        }
    }
}
