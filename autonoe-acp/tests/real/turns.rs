//! Single turns: their events and outcomes.

use std::sync::{Arc, Mutex};

use autonoe_core::agent::{AgentErrorKind, HookCoverage, SessionOutcome, Support, TokenUsage};
use autonoe_core::gate::Grants;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::{
    FaultPosition, MessageStopReason, ModelScript, ReceivedPrompt, Refusal, ScriptedMessage,
    StreamFault, Turn,
};
use futures::StreamExt;
use serde_json::json;

use crate::fixture::{Fixture, collect_events, one_turn, shell, within, write};

/// Returns the outcome of a stream.
fn outcome(events: &[StreamEvent]) -> Option<&SessionOutcome> {
    match events.last() {
        Some(StreamEvent::End { outcome, .. }) => Some(outcome),
        _ => None,
    }
}

/// Returns the calls of a stream with their names, inputs and statuses.
fn calls(events: &[StreamEvent]) -> Vec<(String, serde_json::Value, Option<ToolStatus>)> {
    let end_of = |id: &str| {
        events.iter().find_map(|event| match event {
            StreamEvent::ToolResponse {
                call_id, status, ..
            } if call_id == id => Some(*status),
            _ => None,
        })
    };
    let calls = events.iter().filter_map(|event| match event {
        StreamEvent::ToolInvocation {
            call_id,
            name,
            input,
            ..
        } => Some((name.clone(), input.clone(), end_of(call_id))),
        _ => None,
    });
    calls.collect()
}

#[tokio::test]
async fn the_program_is_found_and_claims_no_more_than_it_can() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));

    let can = within(fixture.agents().probe()).await.expect("it is there");

    assert_eq!(
        (can.backend.as_str(), can.version.as_deref()),
        ("gemini", Some("0.61.0"))
    );
    assert_eq!(can.hooks, HookCoverage::Partial);
    assert_eq!(
        (can.sandbox, can.in_process_tools),
        (Support::No, Support::No)
    );
    assert_eq!((can.resume, can.cost), (Support::No, Support::No));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn the_answers_that_a_probe_knows_are_those_of_the_program() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let known = within(fixture.agents().probe()).await.expect("it is there");
    let mut options = fixture.options();
    // The probe cannot read the version of a script outside of the package.
    let folder = tempfile::tempdir().expect("a folder");
    let wrapper = folder.path().join("wrapper.mjs");
    let script = format!("await import({:?});", options.args[0]);
    std::fs::write(&wrapper, script).expect("writable");
    options.args[0] = wrapper.into();

    let probed = within(autonoe_acp::AcpBackend::new(options).probe()).await;

    assert_eq!(probed.expect("it answers"), known);
}

#[tokio::test]
async fn without_a_key_a_probe_reports_the_missing_credentials() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let mut options = fixture.options();
    options
        .program
        .environment
        .remove(std::ffi::OsStr::new("GEMINI_API_KEY"));

    let error = within(autonoe_acp::AcpBackend::new(options).probe()).await;

    let error = error.expect_err("it has none");
    assert_eq!(error.kind(), AgentErrorKind::Authentication);
    assert!(
        error
            .remedy()
            .is_some_and(|remedy| remedy.contains("GEMINI_API_KEY"))
    );
}

/// The prompt of the last turn looks like a command of the program, and must reach the model.
#[tokio::test]
async fn turns_report_text_thinking_tokens_and_calls() {
    let greeting_answer = ScriptedMessage::new()
        .thinks("**Plan** first")
        .says("Good morning.");
    let fixture = Fixture::new(ModelScript::new([
        greeting_answer.into(),
        shell("echo hello"),
        write("made.txt", "hello\n"),
        shell("cat made.txt > copy.txt"),
        Turn::tool("read_file", json!({"file_path": "no-such-file"})),
        Turn::text("Done."),
        Turn::text("It is a path."),
    ]));
    let mut client = fixture.client(fixture.spec());

    let (greeting, _) = collect_events(client.as_mut(), "Greet.").await;
    let (working, _) = collect_events(client.as_mut(), "Go on.").await;
    let (path, _) = collect_events(client.as_mut(), "/memory show").await;
    within(client.dispose()).await.expect("it ends");

    assert_greets(&greeting);
    let file = fixture.file("made.txt");
    let calls = calls(&working);
    let expected = [
        ("Bash", json!({"command": "echo hello"}), ToolStatus::Ok),
        ("Write", json!({"file_path": file}), ToolStatus::Ok),
        (
            "Bash",
            json!({"command": "cat made.txt > copy.txt"}),
            ToolStatus::Ok,
        ),
    ];
    for (call, (name, input, status)) in calls.iter().zip(expected) {
        assert_eq!(call, &(name.to_owned(), input, Some(status)));
    }
    assert_eq!(calls.len(), 4, "{calls:?}");
    for turn in [&working, &path] {
        assert_eq!(outcome(turn), Some(&SessionOutcome::Completed), "{turn:?}");
    }
    assert_eq!(fixture.names(), ["copy.txt", "made.txt"]);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

/// Asserts that a turn has one thought, one text and its tokens, and completes.
fn assert_greets(events: &[StreamEvent]) {
    let [started, thought, text, usage, end] = events else {
        panic!("{events:?}");
    };
    let model = "gemini-2.5-flash".to_owned();
    assert!(matches!(started, StreamEvent::Started { model: Some(name), .. } if *name == model));
    assert!(
        matches!(thought, StreamEvent::Thinking { .. }),
        "{thought:?}"
    );
    assert_eq!(*text, StreamEvent::text("Good morning."));
    let StreamEvent::Usage {
        tokens, cost: None, ..
    } = usage
    else {
        panic!("{usage:?}");
    };
    assert_ne!(*tokens, TokenUsage::default());
    assert_eq!(*end, StreamEvent::end(SessionOutcome::Completed, None));
}

// Shows: interfaces/hooks/reason
#[tokio::test]
async fn denied_calls_leave_no_files_and_turn_completes() {
    let fixture = Fixture::new(ModelScript::new([
        shell("touch trace.txt"),
        write("trace.txt", "x"),
        Turn::text("Then not."),
    ]));
    let mut client = fixture.client(fixture.spec_with(Grants::none()));

    let (events, error) = collect_events(client.as_mut(), "Leave a trace.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let statuses: Vec<_> = calls(&events).into_iter().map(|call| call.2).collect();
    assert_eq!(statuses, [Some(ToolStatus::Denied); 2], "{events:?}");
    assert_eq!(outcome(&events), Some(&SessionOutcome::Completed));
    assert_eq!(fixture.names(), Vec::<String>::new());
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn service_refusals_map_to_error_kinds() {
    let refusals = [
        (Refusal::unauthorized(), AgentErrorKind::Authentication),
        (Refusal::invalid_key(), AgentErrorKind::Authentication),
        (Refusal::forbidden(), AgentErrorKind::Authentication),
        (Refusal::payment_required(), AgentErrorKind::Billing),
        (
            Refusal::model_not_found("one"),
            AgentErrorKind::Configuration,
        ),
    ];
    let refusal = Arc::new(Mutex::new(refusals[0].0.clone()));
    let current = refusal.clone();
    let script = ModelScript::from_fn(move |_| current.lock().expect("no panic").clone().into());
    let fixture = Fixture::new(script).unverified();
    let mut client = fixture.client(fixture.spec());

    for (next, expected) in refusals {
        *refusal.lock().expect("no panic") = next;

        let (events, error) = collect_events(client.as_mut(), "Go on.").await;

        let error = error.unwrap_or_else(|| panic!("{events:?}"));
        assert_eq!(error.kind(), expected, "{error}");
    }
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_spent_quota_is_reported() {
    let fixture =
        Fixture::new(ModelScript::from_fn(|_| Refusal::quota_spent().into())).unverified();

    let (events, error) = one_turn(&fixture).await;

    assert!(error.is_none(), "{error:?}");
    let is_quota = matches!(outcome(&events), Some(SessionOutcome::QuotaExceeded { .. }));
    assert!(is_quota, "{events:?}");
}

#[tokio::test]
async fn an_incomplete_answer_is_not_a_success() {
    let cut = || {
        let cut = ScriptedMessage::new()
            .says("I will")
            .breaks(FaultPosition::AfterEvents(0), StreamFault::End);
        Turn::from(cut)
    };
    let cut_later = || {
        let cut = ScriptedMessage::new()
            .says("I will do it.")
            .in_pieces_of(5)
            .breaks(FaultPosition::AfterEvents(2), StreamFault::End);
        Turn::from(cut)
    };
    let blocked = || {
        Turn::from(
            ScriptedMessage::new()
                .says("")
                .stops(MessageStopReason::Refusal),
        )
    };
    let cut_after_a_tool = move |request: &ReceivedPrompt| {
        if request.tool_results().is_empty() {
            shell("echo 1")
        } else {
            cut()
        }
    };
    let mode = Arc::new(Mutex::new(""));
    let current = mode.clone();
    let script = ModelScript::from_fn(move |request| match *current.lock().expect("no panic") {
        "cut" => cut(),
        "cut among its words" => cut_later(),
        "blocked" => blocked(),
        _ => cut_after_a_tool(request),
    });
    let fixture = Fixture::new(script).unverified();
    let mut client = fixture.client(fixture.spec());

    for next in ["cut", "cut among its words", "blocked", "cut after a tool"] {
        *mode.lock().expect("no panic") = next;

        let (events, error) = collect_events(client.as_mut(), "Go on.").await;

        let completed = outcome(&events) == Some(&SessionOutcome::Completed);
        assert!(!completed, "{next}: {events:?} {error:?}");
        let has_crashed = error.is_some_and(|error| error.kind() == AgentErrorKind::Crashed);
        assert!(!has_crashed, "{next}: the program is not there any more");
    }
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn turn_limit_and_system_prompt_apply() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| shell("echo more"))).unverified();
    let mut spec = fixture.spec();
    spec.max_turns = Some(2);
    spec.system_prompt = Some("You are a very special agent.".to_owned());
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Go on for ever.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        outcome(&events),
        Some(&SessionOutcome::MaxTurns),
        "{events:?}"
    );
    let requests = fixture.server.log().main_requests();
    assert_eq!(requests.len(), 2);
    let system = requests[0].system_texts().concat();
    assert!(system.contains("You are a very special agent."), "{system}");
}

#[tokio::test]
async fn a_turn_that_is_interrupted_ends_its_tool() {
    let endless = shell("echo 1 > begun && sleep 600");
    let fixture = Fixture::new(ModelScript::new([endless, Turn::text("I am back.")]));
    let mut client = fixture.client(fixture.spec());
    let control = client.control();

    let turn = async {
        let (events, error) = collect_events(client.as_mut(), "Wait.").await;
        assert!(error.is_none(), "{error:?}");
        events
    };
    let interrupt = async {
        fixture.written("begun").await;
        control.interrupt().await.expect("it can be");
    };
    let (events, ()) = within(async { tokio::join!(turn, interrupt) }).await;

    assert_eq!(
        outcome(&events),
        Some(&SessionOutcome::Interrupted),
        "{events:?}"
    );
    let sleeps = || {
        fixture
            .processes()
            .into_iter()
            .any(|process| process.name == "sleep")
    };
    crate::fixture::eventually("the end of the tool", || !sleeps()).await;
    let (events, _) = collect_events(client.as_mut(), "Are you there?").await;
    assert_eq!(
        outcome(&events),
        Some(&SessionOutcome::Completed),
        "{events:?}"
    );
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_turn_that_waits_for_the_gate_can_be_interrupted() {
    let fixture = Fixture::new(ModelScript::new([shell("touch trace.txt")]));
    let mut spec = fixture.spec();
    let requested = Arc::new(tokio::sync::Notify::new());
    spec.gate = spec.gate.with_hook(Arc::new(Thinker(requested.clone())));
    let mut client = fixture.client(spec);
    let control = client.control();

    let interrupt = async {
        requested.notified().await;
        control.interrupt().await.expect("it can be");
    };
    let turn = collect_events(client.as_mut(), "Leave a trace.");
    let ((events, error), ()) = within(async { tokio::join!(turn, interrupt) }).await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        outcome(&events),
        Some(&SessionOutcome::Interrupted),
        "{events:?}"
    );
    assert_eq!(fixture.names(), Vec::<String>::new());
    fixture.assert_nothing_is_left();
}

/// A hook that never finishes.
struct Thinker(Arc<tokio::sync::Notify>);

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
        self.0.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_silent_agent_times_out_and_is_killed() {
    let hang = ScriptedMessage::new()
        .says("Well..")
        .breaks(FaultPosition::AfterBlock(0), StreamFault::Hang);
    let fixture = Fixture::new(ModelScript::new([hang])).unverified();
    let mut options = fixture.options();
    options.program.silence_limit = std::time::Duration::from_secs(3);
    let agents = autonoe_acp::AcpBackend::new(options);
    let mut client = agents.create(fixture.spec()).expect("it can be made");

    let (_, error) = collect_events(client.as_mut(), "Go on.").await;

    assert_eq!(error.expect("it is silent").kind(), AgentErrorKind::Timeout);
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_stream_that_is_dropped_ends_the_tool() {
    let fixture =
        Fixture::new(ModelScript::new([shell("echo 1 > begun && sleep 600")])).unverified();
    let mut client = fixture.client(fixture.spec());
    let mut stream = client.query("Wait.".into());
    let listened = async { while stream.next().await.is_some() {} };
    within(async {
        tokio::select! {
            () = listened => panic!("it does not end by itself"),
            () = fixture.written("begun") => {}
        }
    })
    .await;

    drop(stream);
    drop(client);

    crate::fixture::eventually("the end of all", || {
        fixture.processes().is_empty() && fixture.session_folders().is_empty()
    })
    .await;
}
