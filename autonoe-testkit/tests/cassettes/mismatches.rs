//! Differences from the recording are reported.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use autonoe_core::{ExitReason, HookDecision, hook_fn};
use autonoe_testkit::{Cassette, Replayer};
use serde_json::json;

use crate::cassettes::recorded_run::{recorded, run, run_with};

/// Returns the cassette with its third session as number 7.
async fn renumbered() -> Cassette {
    let (cassette, _) = recorded().await;
    let mut cassette = json!(cassette);
    cassette["sessions"][2]["number"] = json!(7);
    serde_json::from_value(cassette).expect("it is a cassette")
}

#[tokio::test(start_paused = true)]
async fn a_changed_decision_fails_with_the_recorded_and_the_new_one() {
    let (cassette, _) = recorded().await;
    let hook = hook_fn("careful", |call, _| match call.name.as_str() {
        "Write" => HookDecision::block("nothing is written today"),
        _ => HookDecision::Pass,
    });

    let replayer = Arc::new(Replayer::new(cassette).unverified());
    run_with(replayer.clone(), hook).await;

    insta::assert_snapshot!(replayer.mismatches().join("\n"), @r#"
    session 3 (coding), call 3: Write {"file_path":"key","content":"[redacted]"}
      - recorded ok: "done"
      + now denied: "denied by careful: nothing is written today"
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_differently_is_a_mismatch() {
    let (cassette, _) = recorded().await;
    // As if an earlier version of the tool had let unknown deliverables pass.
    let text = json!(cassette).to_string();
    let lenient = text.replace(r#""status":"error""#, r#""status":"ok""#);
    let lenient: Cassette = serde_json::from_str(&lenient).expect("it is a cassette");

    let replayer = Arc::new(Replayer::new(lenient).unverified());
    run(replayer.clone()).await;

    insta::assert_snapshot!(replayer.mismatches().join("\n"), @r#"
    session 3 (coding), call 4: mcp__autonoe__set_status {"deliverableId":"DL-404","status":"passed"}
      - recorded ok: "{\"success\":false,\"error\":\"NOT_FOUND\",\"message\":\"there is no deliverable DL-404\"}"
      + now failed: "{\"success\":false,\"error\":\"NOT_FOUND\",\"message\":\"there is no deliverable DL-404\"}"
    "#);
}

#[tokio::test(start_paused = true)]
async fn sessions_on_one_side_only_are_mismatches() {
    let replayer = Arc::new(Replayer::new(renumbered().await).unverified());
    let left = run(replayer.clone()).await;

    assert!(
        matches!(left.report.exit, ExitReason::Failed { .. }),
        "{left:?}"
    );
    assert_eq!(
        replayer.mismatches(),
        [
            "session 3 (coding) is not on the cassette",
            "session 7 (coding) was never played",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn drop_panics_on_unread_mismatches() {
    let replayer = Arc::new(Replayer::new(renumbered().await));
    run(replayer.clone()).await;

    let dropped = catch_unwind(AssertUnwindSafe(|| drop(replayer)));

    let message = dropped.expect_err("a session was not played");
    let message = message.downcast_ref::<String>().expect("it says why");
    assert!(
        message.starts_with("the replay differs from the recording:\nsession 3 "),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_drop_before_the_first_session_stays_silent() {
    let (cassette, _) = recorded().await;
    let replayer = Replayer::new(cassette);
    assert!(!replayer.mismatches().is_empty());

    let dropped = catch_unwind(AssertUnwindSafe(|| drop(replayer)));

    assert!(dropped.is_ok());
}
