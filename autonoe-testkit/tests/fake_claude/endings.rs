//! How sessions end that do not end by themselves.

use std::time::Duration;

use autonoe_core::{AgentClient, SessionOutcome, StreamEvent};
use autonoe_testkit::fake_claude::{Build, FakeScript, FakeTurn, Fault, Mishap, ToolUse};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::fake_claude::setting::{PATIENCE, Setting, eventually, on_both_builds};
use crate::fake_claude::turns::SetStatus;

/// A command that does not end by itself, and says when it has begun.
fn endless() -> ToolUse {
    ToolUse::bash(": > begun; while true; do read -t 1 x < <(:); done")
}

/// Interrupts a query as soon as `is_time`, and returns how it ended and what was answered.
async fn interrupted(
    client: &mut dyn AgentClient,
    is_time: impl Fn() -> bool,
) -> (Option<SessionOutcome>, Vec<StreamEvent>) {
    let control = client.control();
    let mut stream = client.query("Go on.".into());
    let mut events = Vec::new();
    let mut is_asked = false;
    loop {
        let next = timeout(Duration::from_millis(20), stream.next()).await;
        match next {
            Ok(Some(item)) => events.push(item.expect("no error")),
            Ok(None) => break,
            Err(_) if !is_asked && is_time() => {
                is_asked = true;
                control.interrupt().await.expect("it can be interrupted");
            }
            Err(_) => {}
        }
    }
    let outcome = events.iter().find_map(|event| match event {
        StreamEvent::End { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    (outcome, events)
}

async fn an_interrupted_command_ends_and_the_session_goes_on(build: Build) {
    let script = FakeScript::new([
        FakeTurn::new().uses(endless()),
        FakeTurn::new().says("I am back."),
    ]);
    let setting = Setting::new(&script.on(build));
    let mut client = setting.client();

    let begun = setting.project().join("begun");
    let (outcome, _) = interrupted(client.as_mut(), || begun.exists()).await;
    let next = crate::fake_claude::setting::query(client.as_mut()).await;
    client.dispose().await.expect("it ends");

    assert_eq!(outcome, Some(SessionOutcome::Interrupted));
    next.assert_completed(&["I am back."]);
    setting.assert_nothing_left();
}

async fn an_interruption_while_the_gate_thinks_withdraws_the_question(build: Build) {
    let turn = FakeTurn::new().uses(ToolUse::bash("touch trace"));
    let setting = Setting::new(&FakeScript::new([turn]).on(build));
    let (asked, is_asked) = tokio::sync::watch::channel(false);
    let mut spec = setting.spec([]);
    spec.gate = spec.gate.with_hook(std::sync::Arc::new(Thinker(asked)));
    let mut client = setting.client_with(setting.options(), spec);

    let (outcome, _) = interrupted(client.as_mut(), || *is_asked.borrow()).await;
    client.dispose().await.expect("it ends");

    assert_eq!(outcome, Some(SessionOutcome::Interrupted));
    assert!(!setting.project().join("trace").exists());
    let log = setting.log();
    let answers_hook = |entry: &&Value| {
        let answer = &entry["line"]["response"]["response"]["hookSpecificOutput"];
        entry["dir"] == "in" && answer.is_object()
    };
    assert_eq!(log.iter().filter(answers_hook).count(), 0, "{log:?}");
    setting.assert_nothing_left();
}

/// A hook that never decides.
struct Thinker(tokio::sync::watch::Sender<bool>);

#[async_trait::async_trait]
impl autonoe_core::PreToolUseHook for Thinker {
    fn name(&self) -> &str {
        "thinker"
    }

    async fn check(
        &self,
        _: &autonoe_core::ToolCall,
        _: &autonoe_core::ProjectPaths,
    ) -> autonoe_core::HookDecision {
        self.0.send_replace(true);
        std::future::pending().await
    }
}

async fn a_hook_that_never_decides_refuses_in_time(build: Build) {
    let turn = FakeTurn::new()
        .uses(ToolUse::bash("touch trace"))
        .says("Done.");
    let setting = Setting::new(&FakeScript::new([turn]).on(build));
    let mut options = setting.options();
    options.answer_limit = Duration::from_millis(300);
    let (asked, _is_asked) = tokio::sync::watch::channel(false);
    let mut spec = setting.spec([]);
    spec.gate = spec.gate.with_hook(std::sync::Arc::new(Thinker(asked)));

    let played = setting.played_with(options, spec).await;

    played.assert_completed(&["Done."]);
    assert!(!setting.project().join("trace").exists());
}

async fn a_dropped_stream_ends_the_command(build: Build) {
    let setting = Setting::new(&FakeScript::new([FakeTurn::new().uses(endless())]).on(build));
    let mut client = setting.client();

    let mut stream = client.query("Wait.".into());
    let begun = setting.project().join("begun");
    while !begun.exists() {
        let next = timeout(Duration::from_millis(20), stream.next());
        let _ = timeout(PATIENCE, next).await.expect("it goes on");
    }
    drop(stream);
    client.dispose().await.expect("it ends");

    setting.assert_nothing_left();
}

async fn a_stream_dropped_at_the_start_leaves_nothing(build: Build) {
    let silence = Fault::Then {
        after_lines: 0,
        what: Mishap::Silence,
    };
    let setting = Setting::new(&FakeScript::says("Hello.").on(build).with_fault(silence));
    let mut client = setting.client();

    let mut stream = client.query("Hello?".into());
    let has_begun = || setting.log().iter().any(|entry| entry["line"] == "silence");
    while !has_begun() {
        let _ = timeout(Duration::from_millis(20), stream.next()).await;
    }
    drop(stream);
    client.dispose().await.expect("it ends");

    setting.assert_nothing_left();
}

async fn a_dropped_client_leaves_nothing_not_even_of_what_never_dies(build: Build) {
    for never_dies in [false, true] {
        let mut script = FakeScript::new([FakeTurn::new().uses(endless())]).on(build);
        if never_dies {
            script = script.with_fault(Fault::NeverDies);
        }
        let setting = Setting::new(&script);
        let mut client = setting.client();

        let begun = setting.project().join("begun");
        let mut stream = client.query("Wait.".into());
        while !begun.exists() {
            let _ = timeout(Duration::from_millis(20), stream.next()).await;
        }
        drop(stream);
        drop(client);

        setting.nothing_is_left().await;
    }
}

async fn what_never_dies_is_killed(build: Build) {
    let script = FakeScript::says("Hello.").on(build);
    let setting = Setting::new(&script.with_fault(Fault::NeverDies));

    let played = setting.played().await;

    // That nothing is left has been looked at.
    played.assert_completed(&["Hello."]);
}

async fn a_call_of_our_tool_is_cancelled_by_an_interruption(build: Build) {
    let call = ToolUse::new("mcp__autonoe__wait", json!({}));
    let setting = Setting::new(&FakeScript::new([FakeTurn::new().uses(call)]).on(build));
    let (state, is_running) = tokio::sync::watch::channel(false);
    let spec = setting.spec([
        SetStatus::tool(),
        std::sync::Arc::new(Waiter::new(state)) as _,
    ]);
    let mut client = setting.client_with(setting.options(), spec);

    let running = is_running.clone();
    let (outcome, _) = interrupted(client.as_mut(), move || *running.borrow()).await;

    assert_eq!(outcome, Some(SessionOutcome::Interrupted));
    eventually("end of the tool", || !*is_running.borrow()).await;
    client.dispose().await.expect("it ends");
    setting.assert_nothing_left();
}

/// A tool that never answers, and tells whether it runs.
struct Waiter {
    definition: autonoe_core::ToolDefinition,
    state: tokio::sync::watch::Sender<bool>,
}

impl Waiter {
    fn new(state: tokio::sync::watch::Sender<bool>) -> Self {
        let schema = json!({"type": "object"});
        Self {
            definition: autonoe_core::ToolDefinition::new("wait", "Waits.", schema),
            state,
        }
    }
}

struct Over<'a>(&'a tokio::sync::watch::Sender<bool>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

#[async_trait::async_trait]
impl autonoe_core::Tool for Waiter {
    fn definition(&self) -> &autonoe_core::ToolDefinition {
        &self.definition
    }

    async fn call(
        &self,
        _: Value,
        _: &autonoe_core::ToolContext,
    ) -> Result<autonoe_core::ToolOutput, autonoe_core::ToolError> {
        self.state.send_replace(true);
        let _over = Over(&self.state);
        std::future::pending().await
    }
}

on_both_builds![
    an_interrupted_command_ends_and_the_session_goes_on,
    an_interruption_while_the_gate_thinks_withdraws_the_question,
    a_hook_that_never_decides_refuses_in_time,
    a_dropped_stream_ends_the_command,
    a_stream_dropped_at_the_start_leaves_nothing,
    a_dropped_client_leaves_nothing_not_even_of_what_never_dies,
    what_never_dies_is_killed,
    a_call_of_our_tool_is_cancelled_by_an_interruption,
];
