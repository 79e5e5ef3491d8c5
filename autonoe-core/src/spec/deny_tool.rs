//! The hook spec `core-deny-tool`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::{HookDecision, PermissionRule, PreToolUseHook, hook_fn};
use crate::spec::{HookSpec, SpecContext, SpecError};

/// Blocks the calls of a permission rule: `{"type": "core-deny-tool", "rule": "WebFetch(*)", ..}`.
///
/// It blocks every call that may [touch](PermissionRule::touches) the rule, which are more than
/// those that the rule would grant. If the run does not know the user's home, a rule with `~`
/// blocks every call that it might concern.
///
/// ```
/// use autonoe_core::spec::HookSpec;
///
/// let json = r#"{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "we work offline"}"#;
/// let spec: Box<dyn HookSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenyTool {
    /// The permission rule of the calls to block.
    pub rule: PermissionRule,
    /// The reason, in words that the agent can act on.
    pub reason: String,
}

#[typetag::serde(name = "core-deny-tool")]
impl HookSpec for DenyTool {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError> {
        if self.reason.trim().is_empty() {
            return Err(SpecError::new("core-deny-tool", "its reason is blank"));
        }
        let Self { rule, reason } = self.clone();
        let unknown_home = format!(
            "{rule} cannot be checked, because the run does not know the user's home: {reason}"
        );
        let name = format!("deny {rule}");
        Ok(hook_fn(name, move |call, project_paths| {
            if !rule.touches(call, project_paths) {
                HookDecision::Pass
            } else if rule.needs_home() && project_paths.home.is_none() {
                HookDecision::block(unknown_home.clone())
            } else {
                HookDecision::block(reason.clone())
            }
        }))
    }
}

crate::register_spec!(Hook, DenyTool, "core-deny-tool", {
    "rule": "WebFetch(*)",
    "reason": "this project works offline"
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::ProjectPaths;
    use crate::tool::{ToolCall, ToolKind};

    async fn blocks(rule: &str, call: &ToolCall) -> bool {
        let spec = DenyTool {
            rule: rule.parse().expect("a rule"),
            reason: "no".into(),
        };
        let project_paths = ProjectPaths::new("/srv/project").with_home("/home/user");
        let hook = spec
            .build(&SpecContext::new(project_paths.clone()))
            .expect("it builds");
        hook.check(call, &project_paths).await != HookDecision::Pass
    }

    fn shell(command: &str) -> ToolCall {
        ToolCall::new("Bash", json!({ "command": command }))
    }

    fn fetch(url: &str) -> ToolCall {
        ToolCall::new("WebFetch", json!({ "url": url }))
    }

    fn in_project(name: &str, input: serde_json::Value) -> ToolCall {
        ToolCall::new(name, input).in_dir("/srv/project")
    }

    #[tokio::test]
    async fn deny_rules_match_differently_spelled_calls() {
        let two = ToolCall::new("Patch", json!({}))
            .in_dir("/srv/project")
            .with_kind(ToolKind::Write {
                paths: vec!["src/b".into(), "secrets/a".into()],
            });
        for (rule, call, blocked) in [
            ("Bash(rm *)", shell("ls; rm x"), true),
            ("Bash(rm *)", shell("ls && r\\m x"), true),
            ("Bash(rm *)", shell("echo $(rm x)"), true),
            ("Bash(rm *)", shell("ls | grep rm"), false),
            ("Bash(git push *)", shell("git status"), false),
            (
                "WebFetch(domain:evil.com)",
                fetch("https://u@evil.com/x"),
                true,
            ),
            (
                "WebFetch(domain:evil.com)",
                fetch("https://a.evil.com/x"),
                true,
            ),
            (
                "WebFetch(domain:evil.com)",
                fetch("https://good.com/x"),
                false,
            ),
            ("Write(./secrets/**)", two, true),
            (
                "Read(./secrets/**)",
                in_project("Grep", json!({"pattern": "x"})),
                true,
            ),
            (
                "Read(./secrets/*)",
                in_project("Grep", json!({"pattern": "x", "path": "/"})),
                true,
            ),
            (
                "Read(./secrets/**)",
                in_project("Read", json!({"file_path": "src/a"})),
                false,
            ),
            (
                "Write(**/*.lock)",
                in_project("Write", json!({"file_path": "src/a.rs"})),
                false,
            ),
            (
                "Read(./**/*.pem)",
                in_project("Read", json!({"file_path": "a/b.txt"})),
                false,
            ),
            (
                "Read(./**/*.pem)",
                in_project("Grep", json!({"pattern": "x"})),
                true,
            ),
            (
                "Read(./secrets)",
                in_project("Read", json!({"file_path": "src\\..\\Secrets\\a"})),
                true,
            ),
            (
                "Read(~/notes/**)",
                in_project("Read", json!({"file_path": "~/notes/a"})),
                true,
            ),
            (
                "Read(./secrets/**)",
                in_project("Read", json!({"file_path": "~user/a"})),
                true,
            ),
        ] {
            assert_eq!(blocks(rule, &call).await, blocked, "{rule} {call:?}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_symlink_does_not_bypass_a_rule() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        std::fs::create_dir(dir.path().join("secrets")).expect("it can be made");
        std::os::unix::fs::symlink("secrets", dir.path().join("s")).expect("it can be made");
        let spec = DenyTool {
            rule: "Read(./secrets/*)".parse().expect("a rule"),
            reason: "no".into(),
        };
        let project_paths = ProjectPaths::new(dir.path());
        let hook = spec
            .build(&SpecContext::new(project_paths.clone()))
            .expect("it builds");

        for (path, blocked) in [("s/a", true), ("s", true), (".", true), ("a", false)] {
            let call = ToolCall::new("Read", json!({"file_path": path})).in_dir(dir.path());

            assert_eq!(
                hook.check(&call, &project_paths).await != HookDecision::Pass,
                blocked,
                "{path}"
            );
        }
    }

    #[tokio::test]
    async fn the_home_is_that_of_the_run_and_an_unknown_one_may_be_anywhere() {
        let spec = DenyTool {
            rule: "Read(~/notes/**)".parse().expect("a rule"),
            reason: "private".into(),
        };
        let homeless = ProjectPaths::new("/srv/project");
        let hook = spec.build(&SpecContext::new(homeless.clone()));
        let hook = hook.expect("it builds");
        let read = |path: &str| in_project("Read", json!({ "file_path": path }));
        let at_home = homeless.clone().with_home("/no-home/user");

        for (path, project_paths, reason) in [
            ("/no-home/user/notes/a", &at_home, Some("private")),
            ("~/notes/a", &at_home, Some("private")),
            ("src/a", &at_home, None),
            (
                "src/a",
                &homeless,
                Some(
                    "Read(~/notes/**) cannot be checked, because the run does not know the user's \
                     home: private",
                ),
            ),
        ] {
            let decision = hook.check(&read(path), project_paths).await;

            let expected = reason.map_or(HookDecision::Pass, HookDecision::block);
            assert_eq!(decision, expected, "{path}");
        }
        let bash = hook.check(&shell("ls"), &homeless).await;
        assert_eq!(bash, HookDecision::Pass);
    }
}
