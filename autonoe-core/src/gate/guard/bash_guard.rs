//! [`BashGuard`], which blocks the shell commands that the Bash policy denies.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_security::{BashSecurity, ResolveSymlinks, Verdict};

use crate::gate::{HookDecision, PreToolUseHook, ProjectPaths};
use crate::tool::{ToolCall, ToolKind};

/// Blocks every shell command that the Bash policy denies.
///
/// ```
/// use autonoe_core::gate::{BashGuard, ProjectPaths};
/// use autonoe_core::gate::policy::DenyAll;
/// use autonoe_core::{HookDecision, PreToolUseHook, ToolCall};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let guard = BashGuard::new(DenyAll);
/// let call = ToolCall::new("Bash", json!({"command": "ls"}));
///
/// assert!(matches!(guard.check(&call, &ProjectPaths::new("/srv/project")).await, HookDecision::Block { .. }));
/// # });
/// ```
#[derive(Clone)]
pub struct BashGuard {
    policy: Arc<dyn BashSecurity>,
}

impl BashGuard {
    /// Creates a guard that consults `policy`.
    pub fn new(policy: impl BashSecurity + 'static) -> Self {
        Self {
            policy: Arc::new(policy),
        }
    }
}

#[async_trait]
impl PreToolUseHook for BashGuard {
    fn name(&self) -> &str {
        "bash-security"
    }

    fn matches(&self, call: &ToolCall) -> bool {
        matches!(call.kind, ToolKind::Shell { .. })
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        let ToolKind::Shell { command } = &call.kind else {
            return HookDecision::Pass;
        };
        match self.policy.check(command) {
            Verdict::Allow => HookDecision::Pass,
            Verdict::Deny(denial) => HookDecision::Block {
                reason: denial.to_string(),
                remedy: denial.remedy.map(String::from),
            },
        }
    }
}

impl fmt::Debug for BashGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BashGuard").finish_non_exhaustive()
    }
}

/// Resolves symlinks on the local file system, for a
/// [`BashValidator`](autonoe_security::BashValidator).
///
/// A result only reflects the state of the file system at the time of the call.
///
/// ```
/// use autonoe_core::gate::SymlinksOnDisk;
/// use autonoe_core::gate::policy::ResolveSymlinks;
///
/// assert_eq!(SymlinksOnDisk.resolve("/"), Some("/".to_owned()));
/// assert_eq!(SymlinksOnDisk.resolve("/there/is/no/such/file"), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SymlinksOnDisk;

impl ResolveSymlinks for SymlinksOnDisk {
    fn resolve(&self, path: &str) -> Option<String> {
        // A dangling link is resolved as far as possible.
        let real = std::fs::canonicalize(path)
            .or_else(|_missing| std::fs::read_link(path).map(|target| absolute(path, &target)))
            .ok()?;
        real.into_os_string().into_string().ok()
    }
}

/// Returns the target of a link at `path` with the content `target`.
fn absolute(path: &str, target: &std::path::Path) -> std::path::PathBuf {
    match std::path::Path::new(path).parent() {
        Some(folder) => folder.join(target),
        None => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_security::{Denial, Layer};
    use serde_json::json;

    use super::*;

    fn guard() -> BashGuard {
        BashGuard::new(|command: &str| match command {
            "ls" => Verdict::Allow,
            _ => Verdict::Deny(
                Denial::new("R7", Layer::User, "only ls may run")
                    .instead("use ls")
                    .remedy("allow it"),
            ),
        })
    }

    // Shows: interfaces/hooks/validation-result.allowed-reason
    #[tokio::test]
    async fn a_denial_blocks_with_advice_for_the_agent_and_a_remedy_for_the_operator() {
        let call = |command: &str| ToolCall::new("Bash", json!({ "command": command }));
        let project_paths = ProjectPaths::new("/srv");

        assert_eq!(
            guard().check(&call("ls"), &project_paths).await,
            HookDecision::Pass
        );
        assert_eq!(
            guard().check(&call("rm x"), &project_paths).await,
            HookDecision::block("only ls may run; use ls (rule R7)").with_remedy("allow it"),
        );
    }

    #[tokio::test]
    async fn every_shell_call_is_checked_and_nothing_else() {
        let shell = ToolCall::new("run_shell", json!({})).with_kind(ToolKind::Shell {
            command: "rm x".into(),
        });
        let read = ToolCall::new("Read", json!({"file_path": "rm x"}));

        assert!(guard().matches(&shell));
        assert!(!guard().matches(&read));
        assert_eq!(
            guard().check(&read, &ProjectPaths::new("/srv")).await,
            HookDecision::Pass
        );
    }
}
