//! Gate: order of guards and hooks, failing hooks, and calls without a grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::gate::{Gate, GateDecision, Grants, ProjectPaths};
use autonoe_core::{HookDecision, PreToolUseHook, ToolCall, hook_fn};
use proptest::prelude::*;
use serde_json::json;

fn gate() -> Gate {
    Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::none().with_tool("Task"),
    )
}

fn call() -> ToolCall {
    ToolCall::new("Task", json!({}))
}

fn answers(name: &str, decision: HookDecision) -> Arc<dyn PreToolUseHook> {
    hook_fn(name, move |_, _| decision.clone())
}

fn denied_by(decision: &GateDecision) -> Option<&str> {
    match decision {
        GateDecision::Allow { .. } => None,
        GateDecision::Deny { by, .. } => Some(by),
    }
}

/// A hook that never answers.
struct Hangs;

#[async_trait]
impl PreToolUseHook for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }
    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        std::future::pending().await
    }
}

/// A hook that panics before or during its check.
struct Panics {
    in_matches: bool,
}

#[async_trait]
impl PreToolUseHook for Panics {
    fn name(&self) -> &str {
        "panics"
    }
    fn matches(&self, _: &ToolCall) -> bool {
        assert!(!self.in_matches, "the matcher panics");
        true
    }
    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        panic!("the hook panics");
    }
}

// Shows: interfaces/agent-client/hooks-and-tools
#[tokio::test(start_paused = true)]
async fn ungranted_call_is_denied() {
    let decision = gate().decide(&ToolCall::new("WebSearch", json!({}))).await;

    assert_eq!(denied_by(&decision), Some("grants"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_understood_is_denied_although_its_name_is_granted() {
    let gate = Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::none().with_tool("Bash"),
    )
    .with_hook(answers("yes", HookDecision::Approve));

    let decision = gate
        .decide(&ToolCall::new("Bash", json!({"cmd": "rm -rf /"})))
        .await;

    assert_eq!(denied_by(&decision), Some("malformed-call"));
}

// Shows: interfaces/hooks/name, interfaces/hooks/continue
#[tokio::test(start_paused = true)]
async fn the_first_block_wins_and_later_hooks_are_not_called() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let gate = gate()
        .with_hook(answers("passes", HookDecision::Pass))
        .with_hook(answers(
            "first",
            HookDecision::block("no").with_remedy("set it"),
        ))
        .with_hook(hook_fn("second", move |_, _| {
            counter.fetch_add(1, Ordering::SeqCst);
            HookDecision::block("also no")
        }));

    let decision = gate.decide(&call()).await;

    assert_eq!(
        decision,
        GateDecision::Deny {
            by: "first".into(),
            reason: "no".into(),
            remedy: Some("set it".into()),
        }
    );
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

// Shows: interfaces/hooks/continue
#[tokio::test(start_paused = true)]
async fn an_approval_ends_the_chain_and_needs_no_grant() {
    let gate = gate()
        .with_hook(answers("approves", HookDecision::Approve))
        .with_hook(answers("blocks", HookDecision::block("too late")));

    let decision = gate.decide(&ToolCall::new("WebSearch", json!({}))).await;

    assert_eq!(
        decision,
        GateDecision::Allow {
            by: "approves".into()
        }
    );
}

// Shows: interfaces/agent-client/hooks-and-tools
#[tokio::test(start_paused = true)]
async fn guards_run_before_hooks_and_cannot_approve() {
    let gate = gate()
        .with_hook(answers("approves", HookDecision::Approve))
        .with_guard(answers("generous guard", HookDecision::Approve))
        .with_guard(answers("guard", HookDecision::block("never")));

    let decision = gate.decide(&call()).await;

    assert_eq!(denied_by(&decision), Some("guard"));

    let generous = Gate::new(ProjectPaths::new("/srv/project"), Grants::none())
        .with_guard(answers("generous guard", HookDecision::Approve));
    assert_eq!(denied_by(&generous.decide(&call()).await), Some("grants"));
}

// Shows: interfaces/hooks/matcher
#[tokio::test(start_paused = true)]
async fn a_hook_receives_only_matching_calls() {
    struct OnlyBash;
    #[async_trait]
    impl PreToolUseHook for OnlyBash {
        fn name(&self) -> &str {
            "only-bash"
        }
        fn matches(&self, call: &ToolCall) -> bool {
            call.name == "Bash"
        }
        async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
            HookDecision::block("no shell")
        }
    }
    let gate = gate().with_hook(Arc::new(OnlyBash));

    assert!(gate.decide(&call()).await.is_allowed());
    let bash = ToolCall::new("Bash", json!({"command": "ls"}));
    assert_eq!(denied_by(&gate.decide(&bash).await), Some("only-bash"));
}

// Shows: interfaces/hooks/hook-that-fails
#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_blocks() {
    for in_matches in [true, false] {
        let decision = gate()
            .with_hook(Arc::new(Panics { in_matches }))
            .decide(&call())
            .await;

        assert_eq!(denied_by(&decision), Some("panics"));
    }
}

#[test]
fn a_time_limit_of_zero_is_refused_by_the_name_of_its_call() {
    let error = gate().with_time_limit(Duration::ZERO).expect_err("no time");

    assert_eq!(error.call, "with_time_limit(0)");
}

// Shows: interfaces/hooks/hook-that-fails
#[tokio::test(start_paused = true)]
async fn a_hook_that_takes_too_long_blocks() {
    let gate = gate()
        .with_hook(Arc::new(Hangs))
        .with_time_limit(Duration::from_secs(3))
        .expect("a limit");
    let started = tokio::time::Instant::now();

    let decision = gate.decide(&call()).await;

    assert_eq!(denied_by(&decision), Some("hangs"));
    assert_eq!(started.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_panics_or_hangs_blocks_although_a_hook_approves() {
    let faulty: [Arc<dyn PreToolUseHook>; 2] =
        [Arc::new(Panics { in_matches: false }), Arc::new(Hangs)];
    for guard in faulty {
        let gate = gate()
            .with_guard(guard)
            .with_hook(answers("approves", HookDecision::Approve));

        assert!(!gate.decide(&call()).await.is_allowed());
    }
}

// Shows: interfaces/hooks/callback
#[tokio::test(start_paused = true)]
async fn many_calls_at_once_are_decided_side_by_side() {
    struct Slow;
    #[async_trait]
    impl PreToolUseHook for Slow {
        fn name(&self) -> &str {
            "slow"
        }
        async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
            tokio::time::sleep(Duration::from_secs(1)).await;
            HookDecision::Pass
        }
    }
    let gate = gate().with_hook(Arc::new(Slow));
    let started = tokio::time::Instant::now();

    let task = call();
    let decisions = futures::future::join_all((0..100).map(|_| gate.decide(&task))).await;

    assert!(decisions.iter().all(GateDecision::is_allowed));
    assert_eq!(started.elapsed(), Duration::from_secs(1));
}

proptest! {
    /// For every answer of the hooks, a call that a guard blocks does not run, and neither does one
    /// that was not approved or granted.
    // Shows: spec/6.1/layer-3-hooks
    #[test]
    fn nothing_gets_past_a_guard_and_nothing_runs_ungranted(
        guards in prop::collection::vec(0..3_u8, 0..4),
        hooks in prop::collection::vec(0..3_u8, 0..4),
        granted: bool,
    ) {
        let decision_of = |code: u8| match code {
            0 => HookDecision::Pass,
            1 => HookDecision::Approve,
            _ => HookDecision::block("no"),
        };
        let grants = if granted { Grants::none().with_tool("Task") } else { Grants::none() };
        let mut gate = Gate::new(ProjectPaths::new("/srv/project"), grants);
        for code in &guards {
            gate = gate.with_guard(answers("guard", decision_of(*code)));
        }
        for code in &hooks {
            gate = gate.with_hook(answers("hook", decision_of(*code)));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();

        let allowed = runtime.block_on(gate.decide(&call())).is_allowed();

        let first_word = hooks.iter().find(|code| **code != 0);
        let expected = !guards.contains(&2)
            && match first_word {
                Some(1) => true,
                Some(_) => false,
                None => granted,
            };
        prop_assert_eq!(allowed, expected);
    }
}

#[tokio::test]
async fn two_hooks_combined_block_if_one_does_and_approve_if_one_does() {
    use HookDecision::{Approve, Pass};
    let block = || HookDecision::block("no");
    for (first, second, expected) in [
        (Pass, Pass, Pass),
        (Approve, Pass, Approve),
        (Pass, Approve, Approve),
        (Approve, block(), block()),
        (block(), Approve, block()),
    ] {
        let both = answers("a", first.clone()).and(answers("b", second.clone()));

        let decision = both
            .check(&call(), &ProjectPaths::new("/srv/project"))
            .await;

        assert_eq!(decision, expected, "{first:?} and {second:?}");
        assert_eq!(both.name(), "a and b");
    }
}

#[tokio::test]
async fn a_combined_hook_passes_each_call_to_its_matching_hooks() {
    let task = answers("task", HookDecision::block("no tasks"))
        .when(|call: &ToolCall| call.name == "Task");
    let web =
        answers("web", HookDecision::block("no web")).when(|call: &ToolCall| call.name == "Web");
    let both = task.and(web);
    let project_paths = ProjectPaths::new("/srv/project");

    for (name, expected) in [
        ("Task", HookDecision::block("no tasks")),
        ("Web", HookDecision::block("no web")),
        ("Read", HookDecision::Pass),
    ] {
        let call = ToolCall::new(name, json!({}));
        assert_eq!(both.check(&call, &project_paths).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_shared_hook_decides_as_the_hook_does() {
    struct Picky;

    #[async_trait]
    impl PreToolUseHook for Picky {
        fn name(&self) -> &str {
            "picky"
        }
        fn matches(&self, call: &ToolCall) -> bool {
            call.name == "Task"
        }
        async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
            HookDecision::block("no")
        }
    }
    let shared: Arc<dyn PreToolUseHook> = Arc::new(Picky);
    let gate = Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::none().with_tool("Task").with_tool("Other"),
    )
    .with_hook(shared);

    assert_eq!(denied_by(&gate.decide(&call()).await), Some("picky"));
    let other = ToolCall::new("Other", json!({}));
    assert!(gate.decide(&other).await.is_allowed());
}

#[tokio::test]
async fn a_hook_gets_the_directories_of_its_project() {
    let project_paths = ProjectPaths::new("/srv/shop").with_home("/home/ada");
    let expected = project_paths.clone();
    let gate = Gate::new(project_paths, Grants::none()).with_hook(hook_fn(
        "where",
        move |_, project_paths| {
            if *project_paths == expected {
                HookDecision::Approve
            } else {
                HookDecision::block("another project")
            }
        },
    ));

    assert!(gate.decide(&call()).await.is_allowed());
}

#[cfg(unix)]
mod planted_symlinks {
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use autonoe_core::Mode;
    use autonoe_core::gate::{AutonoeGuard, FileScope};

    use super::*;

    fn project() -> (tempfile::TempDir, ProjectPaths) {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let home = dir.path().join("home");
        let project = dir.path().join("project");
        std::fs::create_dir_all(project.join(".autonoe")).expect("it can be made");
        std::fs::create_dir_all(home.join(".ssh")).expect("it can be made");
        (dir, ProjectPaths::new(project).with_home(home))
    }

    fn call(tool: &str, path: &str, project_paths: &ProjectPaths) -> ToolCall {
        ToolCall::new(tool, json!({ "file_path": path })).in_dir(&project_paths.project)
    }

    fn guarded_gate(project_paths: &ProjectPaths) -> Gate {
        Gate::new(project_paths.clone(), Grants::baseline(Mode::Run))
            .with_guard(FileScope::new(project_paths.clone()))
            .with_guard(AutonoeGuard::new(project_paths.clone()))
    }

    #[tokio::test]
    async fn a_symlink_planted_between_two_calls_is_seen() {
        let (_dir, project_paths) = project();
        let gate = guarded_gate(&project_paths);
        for (tool, target, denied) in [
            ("Write", "/etc", "file-scope"),
            ("Write", ".autonoe", "autonoe-protection"),
            ("Read", "../home/.ssh", "file-scope"),
        ] {
            let link = project_paths.project.join("link");
            let call = call(tool, "link/file", &project_paths);
            assert!(gate.decide(&call).await.is_allowed(), "{target}");

            symlink(target, &link).expect("it can be made");

            assert_eq!(
                denied_by(&gate.decide(&call).await),
                Some(denied),
                "{target}"
            );
            std::fs::remove_file(&link).expect("it can be removed");
        }
    }

    #[tokio::test]
    async fn credentials_that_move_between_two_calls_are_seen() {
        let (dir, project_paths) = project();
        let gate = guarded_gate(&project_paths);
        std::fs::create_dir(dir.path().join("keys")).expect("it can be made");
        let call = call("Read", "../keys/id", &project_paths);
        assert!(gate.decide(&call).await.is_allowed());

        symlink("../keys", dir.path().join("home/.aws")).expect("it can be made");

        assert_eq!(denied_by(&gate.decide(&call).await), Some("file-scope"));
    }

    /// Plants a symlink while the guards of a call run.
    struct Plants {
        target: &'static Path,
        link: PathBuf,
    }

    #[async_trait]
    impl PreToolUseHook for Plants {
        fn name(&self) -> &str {
            "plants"
        }
        async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
            symlink(self.target, &self.link).expect("it can be made");
            HookDecision::Pass
        }
    }

    #[tokio::test]
    async fn a_symlink_planted_by_a_guard_is_seen_by_the_next_guard() {
        let (_dir, project_paths) = project();
        let plants = Plants {
            target: Path::new(".autonoe"),
            link: project_paths.project.join("link"),
        };
        let gate = Gate::new(project_paths.clone(), Grants::baseline(Mode::Run))
            .with_guard(FileScope::new(project_paths.clone()))
            .with_guard(Arc::new(plants))
            .with_guard(AutonoeGuard::new(project_paths.clone()));

        let decision = gate
            .decide(&call("Write", "link/file", &project_paths))
            .await;

        assert_eq!(denied_by(&decision), Some("autonoe-protection"));
    }
}
