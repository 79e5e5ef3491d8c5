//! Hooks with one fault each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{HookDecision, PreToolUseHook, ToolCall, ToolKind, hook_fn};
use autonoe_testkit::conformance::{pre_tool_use_hook, stateless_pre_tool_use_hook};

use crate::conformance::assert_fails;

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_is_found() {
    let hook = hook_fn("panics", |call, _| match &call.kind {
        ToolKind::Shell { command } if command.contains('\0') => panic!("no zero bytes, please"),
        _ => HookDecision::Pass,
    });

    let report = pre_tool_use_hook(hook).await;

    assert_fails(&report, &["no call makes it panic"]);
    assert!(
        report.failures()[0]
            .problem
            .ends_with("no zero bytes, please"),
        "{report}"
    );
}

/// Panics in `matches`.
struct PanicsInMatches;

#[async_trait]
impl PreToolUseHook for PanicsInMatches {
    fn name(&self) -> &str {
        "panics-in-matches"
    }

    fn matches(&self, call: &ToolCall) -> bool {
        assert!(!call.name.is_empty(), "a tool has a name");
        true
    }

    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        HookDecision::Pass
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_in_matches_is_found() {
    let report = pre_tool_use_hook(Arc::new(PanicsInMatches)).await;

    assert_fails(&report, &["no call makes it panic"]);
}

/// Waits forever.
struct Hangs;

#[async_trait]
impl PreToolUseHook for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }

    fn matches(&self, call: &ToolCall) -> bool {
        matches!(call.kind, ToolKind::Fetch { .. })
    }

    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_is_found() {
    let report = pre_tool_use_hook(Arc::new(Hangs)).await;

    assert_fails(&report, &["every call is answered in time"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_changes_its_mind_is_found() {
    let count = AtomicUsize::new(0);
    let hook = hook_fn("flip-flop", move |call, _| match call.kind {
        ToolKind::Other if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) => {
            HookDecision::block("not this time")
        }
        _ => HookDecision::Pass,
    });

    let report = stateless_pre_tool_use_hook(hook).await;

    assert_fails(
        &report,
        &[
            "the same call gets the same answer",
            "calls at the same time get the same answers",
        ],
    );
}

/// Passes every call while it handles another one.
#[derive(Default)]
struct OneAtATime(AtomicBool);

#[async_trait]
impl PreToolUseHook for OneAtATime {
    fn name(&self) -> &str {
        "one-at-a-time"
    }

    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        if self.0.swap(true, Ordering::Relaxed) {
            return HookDecision::Pass;
        }
        tokio::task::yield_now().await;
        self.0.store(false, Ordering::Relaxed);
        HookDecision::block("nothing may run")
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_can_do_one_thing_at_a_time_is_found() {
    let report = stateless_pre_tool_use_hook(Arc::new(OneAtATime::default())).await;

    assert_fails(&report, &["calls at the same time get the same answers"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_blocks_without_a_reason_is_found() {
    let report = pre_tool_use_hook(hook_fn("silent", |_, _| HookDecision::block(" \n"))).await;

    assert_fails(&report, &["a block says why"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_without_a_name_is_found() {
    let report = pre_tool_use_hook(hook_fn(" ", |_, _| HookDecision::Pass)).await;

    assert_fails(&report, &["the name is not blank and always the same"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_carries_out_the_call_is_found() {
    let hook = hook_fn("eager", |call, _| {
        if let (ToolKind::Write { paths }, true) = (&call.kind, call.input["content"] == "x") {
            std::fs::write(&paths[0], "x").expect("it can be written");
        }
        HookDecision::Pass
    });

    let report = pre_tool_use_hook(hook).await;

    assert_fails(&report, &["no call is carried out"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_remember_earlier_calls() {
    let shells = AtomicUsize::new(0);
    let hook = hook_fn("at-most-two-shells", move |call, _| match call.kind {
        ToolKind::Shell { .. } if shells.fetch_add(1, Ordering::Relaxed) >= 2 => {
            HookDecision::block("two commands are enough")
        }
        _ => HookDecision::Pass,
    });

    pre_tool_use_hook(hook).await.assert();
}
