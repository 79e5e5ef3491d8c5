//! Sessions that are interrupted, disposed or dropped.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::{AgentClient, StreamEvent};
use autonoe_testkit::fake_claude::{Build, FakeScript, FaultTrigger, ProgramFault, TurnFault};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::fake_claude::fixture::{Fixture, TIMEOUT, eventually, on_both_builds, query, recorded};

/// Stops responding after this many lines.
fn silence(lines: usize) -> ProgramFault {
    ProgramFault::At {
        trigger: FaultTrigger::Lines(lines),
        turn_fault: TurnFault::Silence,
    }
}

/// Interrupts a query once `is_time`, and returns its outcome and the events.
async fn interrupted(
    client: &mut dyn AgentClient,
    is_time: impl Fn() -> bool,
) -> (Option<SessionOutcome>, Vec<StreamEvent>) {
    let control = client.control();
    let mut stream = client.query("Go on.".into());
    let mut events = Vec::new();
    let mut is_requested = false;
    loop {
        let next = timeout(Duration::from_millis(20), stream.next()).await;
        match next {
            Ok(Some(item)) => events.push(item.expect("no error")),
            Ok(None) => break,
            Err(_) if !is_requested && is_time() => {
                is_requested = true;
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

async fn a_session_continues_after_an_interruption(build: Build) {
    let fixture = Fixture::new(&recorded(build, "f03_interrupt_then_new_prompt"));
    let mut client = fixture.client();

    let is_time = || {
        let mut log = fixture.log().into_iter();
        log.any(|entry| entry["line"] == "waits for interrupt")
    };
    let (outcome, _) = interrupted(client.as_mut(), is_time).await;
    let next = query(client.as_mut()).await;
    client.dispose().await.expect("it ends");

    assert_eq!(outcome, Some(SessionOutcome::Interrupted));
    assert_eq!(next.end(), Ok(&SessionOutcome::Completed), "{next:?}");
    fixture.assert_nothing_left();
}

async fn an_interruption_while_a_hook_decides_withdraws_the_question(build: Build) {
    let fixture = Fixture::new(&recorded(build, "f05_interrupt_during_hook"));
    let (requested, is_requested) = tokio::sync::watch::channel(false);
    let mut spec = fixture.spec([]);
    spec.gate = spec.gate.with_hook(Arc::new(Thinker(requested)));
    let mut client = fixture.client_with(fixture.options(), spec);

    let (outcome, _) = interrupted(client.as_mut(), || *is_requested.borrow()).await;
    client.dispose().await.expect("it ends");

    assert_eq!(outcome, Some(SessionOutcome::Interrupted));
    assert_eq!(hook_answers(&fixture), Vec::<Value>::new());
    fixture.assert_nothing_left();
}

/// Returns the host's answers to hook requests.
fn hook_answers(fixture: &Fixture) -> Vec<Value> {
    let log = fixture.log().into_iter();
    log.filter(|entry| entry["dir"] == "in")
        .map(|entry| entry["line"]["response"]["response"]["hookSpecificOutput"].clone())
        .filter(Value::is_object)
        .collect()
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
        _: &autonoe_core::gate::ProjectPaths,
    ) -> autonoe_core::HookDecision {
        self.0.send_replace(true);
        std::future::pending().await
    }
}

async fn a_hook_that_never_decides_refuses_in_time(build: Build) {
    let fixture = Fixture::new(&recorded(build, "b02_hook_deny"));
    let mut options = fixture.options();
    options.program.answer_limit = Duration::from_millis(300);
    let (requested, _is_requested) = tokio::sync::watch::channel(false);
    let mut spec = fixture.spec([]);
    spec.gate = spec.gate.with_hook(Arc::new(Thinker(requested)));

    let played = fixture.played_with(options, spec).await;

    assert_eq!(played.end(), Ok(&SessionOutcome::Completed), "{played:?}");
    let answers = hook_answers(&fixture);
    let decisions: Vec<_> = answers.iter().map(|it| &it["permissionDecision"]).collect();
    assert_eq!(decisions, ["deny"]);
}

async fn a_dropped_stream_leaves_nothing(build: Build) {
    // At the start, and during a turn.
    for lines in [0, 3] {
        let script = FakeScript::says(["Hello."]).build(build);
        let fixture = Fixture::new(&script.with_fault(silence(lines)));
        let mut client = fixture.client();

        wait_for_silence(client.as_mut(), &fixture).await;
        client.dispose().await.expect("it ends");

        fixture.assert_nothing_left();
    }
}

/// Starts a query, and drops its stream once the program has stopped responding.
async fn wait_for_silence(client: &mut dyn AgentClient, fixture: &Fixture) {
    let mut stream = client.query("Hello?".into());
    let is_silent = || fixture.log().iter().any(|entry| entry["line"] == "silence");
    let waiting = async {
        while !is_silent() {
            let _ = timeout(Duration::from_millis(20), stream.next()).await;
        }
    };
    timeout(TIMEOUT, waiting).await.expect("it falls silent");
}

async fn a_dropped_client_kills_a_program_that_ignores_shutdown(build: Build) {
    for ignores_shutdown in [false, true] {
        let mut script = FakeScript::says(["Hello."]).build(build);
        script = script.with_fault(silence(3));
        if ignores_shutdown {
            script = script.with_fault(ProgramFault::IgnoresShutdown);
        }
        let fixture = Fixture::new(&script);
        let mut client = fixture.client();

        wait_for_silence(client.as_mut(), &fixture).await;
        drop(client);

        fixture.wait_until_nothing_left().await;
    }
}

async fn process_ignoring_shutdown_is_killed(build: Build) {
    let script = FakeScript::says(["Hello."]).build(build);
    let fixture = Fixture::new(&script.with_fault(ProgramFault::IgnoresShutdown));

    let played = fixture.played().await;

    // The absence of processes is already checked.
    played.assert_completed(&["Hello."]);
}

async fn a_call_of_our_tool_is_cancelled_by_an_interruption(build: Build) {
    let fixture = Fixture::new(&recorded(build, "c14_mcp_unanswered_then_interrupt"));
    let (state, is_running) = tokio::sync::watch::channel(false);
    let spec = fixture.spec([Arc::new(Waiter::new(state)) as _]);
    let mut client = fixture.client_with(fixture.options(), spec);

    let running = is_running.clone();
    let (outcome, _) = interrupted(client.as_mut(), move || *running.borrow()).await;

    assert_eq!(outcome, Some(SessionOutcome::Interrupted));
    eventually("end of the tool", || !*is_running.borrow()).await;
    client.dispose().await.expect("it ends");
    fixture.assert_nothing_left();
}

/// The tool of the recorded host, which never answers. The channel signals that it runs.
struct Waiter {
    definition: autonoe_core::tool::ToolDefinition,
    state: tokio::sync::watch::Sender<bool>,
}

impl Waiter {
    fn new(state: tokio::sync::watch::Sender<bool>) -> Self {
        let schema = json!({"type": "object"});
        Self {
            definition: autonoe_core::tool::ToolDefinition::new("set_status", "Waits.", schema),
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
    fn definition(&self) -> &autonoe_core::tool::ToolDefinition {
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
    a_session_continues_after_an_interruption,
    an_interruption_while_a_hook_decides_withdraws_the_question,
    a_hook_that_never_decides_refuses_in_time,
    a_dropped_stream_leaves_nothing,
    a_dropped_client_kills_a_program_that_ignores_shutdown,
    process_ignoring_shutdown_is_killed,
    a_call_of_our_tool_is_cancelled_by_an_interruption,
];
