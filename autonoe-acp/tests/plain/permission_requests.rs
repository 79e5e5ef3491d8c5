//! Permission requests of an agent, honest or not.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{HookDecision, PreToolUseHook, ToolCall};
use tokio::sync::Notify;

use crate::agent::{Agent, Fixture, TurnOutput};

/// Plays a turn in which the agent runs `script` and then succeeds.
async fn run_script(script: &str) -> (Fixture, TurnOutput) {
    let fixture = Agent::prompted(format!("{script}; say Done.; finish")).start();
    let output = fixture.turn().await;
    (fixture, output)
}

const LS: &str = r#"{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}}"#;
const RM: &str = r#"{"toolCallId":"c","kind":"execute","rawInput":{"command":"rm -r x"}}"#;

#[tokio::test]
async fn granted_calls_are_allowed_once_and_others_are_refused() {
    for (call, reply, end) in [(LS, "yes", "error"), (RM, "no", "denied")] {
        let (fixture, output) = run_script(&format!("ask '{call}'")).await;

        assert_eq!(fixture.replies(), [reply], "{output:?}");
        assert_eq!(output.calls(), ["c: Bash".to_owned(), format!("c: {end}")]);
        assert!(output.is_completed(), "{output:?}");
    }
}

#[tokio::test]
async fn ambiguous_options_are_not_used() {
    let option = |id: &str, kind: &str| format!(r#"{{"optionId":"{id}","kind":"{kind}"}}"#);
    for (call, options) in [
        (LS, vec![]),
        (LS, vec![option("a", "allow_always")]),
        (LS, vec![option("a", "tomorrow")]),
        (
            LS,
            vec![option("a", "allow_once"), option("a", "allow_always")],
        ),
        (
            LS,
            vec![option("a", "allow_always"), option("a", "allow_once")],
        ),
        (LS, vec![option("", "allow_once")]),
        (
            RM,
            vec![option("a", "reject_once"), option("a", "allow_once")],
        ),
        (
            RM,
            vec![option("a", "reject_once"), option("a", "reject_once")],
        ),
    ] {
        let options = format!("[{}]", options.join(","));

        let (fixture, output) = run_script(&format!("ask '{call}' '{options}'")).await;

        assert_eq!(fixture.replies(), ["cancelled"], "{options} {output:?}");
        assert_eq!(output.calls(), ["c: Bash", "c: denied"], "{options}");
    }
}

#[tokio::test]
async fn a_permission_request_without_a_call_allows_nothing() {
    for call in [
        "null",
        "{}",
        r#"{"toolCallId":""}"#,
        r#""c""#,
        r#"{"toolCallId":7}"#,
    ] {
        let (fixture, output) = run_script(&format!("ask '{call}'")).await;

        assert_eq!(fixture.replies(), ["no"], "{call}");
        assert_eq!(output.calls(), Vec::<String>::new(), "{call}");
    }
}

#[tokio::test]
async fn messages_of_another_session_are_ignored() {
    let notification = r#"notify other '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Psst."}}'"#;
    let call =
        r#"notify other '{"sessionUpdate":"tool_call","toolCallId":"x","status":"completed"}'"#;
    let script = format!("{notification}; {call}; ask_in other '{LS}' \"$once\"");

    let (fixture, output) = run_script(&script).await;

    assert_eq!(fixture.replies(), ["no"]);
    assert_eq!((output.texts(), output.calls()), (vec!["Done."], vec![]));
}

#[tokio::test]
async fn a_finished_call_gets_no_second_permission() {
    let finished_call = r#"update '{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","rawInput":{"command":"ls"},"status":"completed"}'"#;
    for question in [LS, r#"{"toolCallId":"c","title":"rm -r x"}"#] {
        let (fixture, output) = run_script(&format!("{finished_call}; ask '{question}'")).await;

        assert_eq!(fixture.replies(), ["no"], "{question}");
        assert_eq!(output.calls(), ["c: Bash", "c: ok"], "{question}");
    }
}

#[tokio::test]
async fn an_id_in_another_turn_is_another_call() {
    let script = format!(
        r#"case $turn in
          1) ask '{LS}'; update '{{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}' ;;
          *) ask '{{"toolCallId":"c","kind":"execute","title":"rm -r x"}}'; ask '{RM}' ;;
        esac; say Done.; finish"#
    );
    let fixture = Agent::prompted(script).start();
    let mut client = fixture.client();

    let first = TurnOutput::collect(client.as_mut()).await;
    let second = TurnOutput::collect(client.as_mut()).await;
    fixture.end(client).await;

    assert_eq!(fixture.replies(), ["yes", "no", "no"]);
    assert_eq!(first.calls(), ["c: Bash", "c: ok"]);
    assert_eq!(second.calls(), ["c: Bash", "c: denied"]);
}

#[tokio::test]
async fn updates_in_the_wrong_order_are_one_call() {
    let news = [
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","rawInput":{"command":"ls"},"status":"pending"}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":"fine"}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"pending"}"#,
    ];
    let script = news.map(|news| format!("update '{news}'")).join("; ");

    let (_, output) = run_script(&script).await;

    let [_, end] = &output.calls()[..] else {
        panic!("{output:?}");
    };
    assert_eq!(end, "c: ok");
}

#[tokio::test]
async fn requests_for_unsupported_features_are_refused() {
    let write = r#"{"sessionId":"s","path":"'"$PWD"'/trace","content":"x"}"#;
    let script = format!(
        r#"request fs/write_text_file '{write}'; request fs/read_text_file '{{"sessionId":"s","path":"/etc/passwd"}}'
        request terminal/create '{{"sessionId":"s","command":"touch","args":["trace"]}}'; request tomorrow/thing null"#
    );

    let (fixture, output) = run_script(&script).await;

    assert_eq!(fixture.replies(), ["error -32601"; 4], "{output:?}");
    assert!(!fixture.file("trace").exists());
    assert!(output.is_completed(), "{output:?}");
}

/// A hook that fails, or never finishes.
enum BadHook {
    Panics,
    /// Notifies when it is called.
    Thinks(Arc<Notify>),
}

#[async_trait]
impl PreToolUseHook for BadHook {
    fn name(&self) -> &str {
        "bad"
    }

    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        match self {
            Self::Panics => panic!("a hook that fails"),
            Self::Thinks(requested) => {
                requested.notify_one();
                std::future::pending().await
            }
        }
    }
}

#[tokio::test]
async fn a_hook_that_fails_or_never_answers_allows_nothing() {
    for hook in [BadHook::Panics, BadHook::Thinks(Arc::default())] {
        let fixture = Agent::prompted(format!("ask '{LS}'; say Done.; finish")).start();
        let mut spec = fixture.spec();
        let gate = spec
            .gate
            .with_time_limit(Duration::from_millis(100))
            .expect("a limit");
        spec.gate = gate.with_hook(Arc::new(hook));
        let mut client = fixture.client_of(spec);

        let output = TurnOutput::collect(client.as_mut()).await;
        fixture.end(client).await;

        assert_eq!(fixture.replies(), ["no"]);
        assert_eq!(output.calls(), ["c: Bash", "c: denied"]);
    }
}

#[tokio::test]
async fn an_open_permission_request_is_cancelled_when_the_turn_is_stopped() {
    let script = format!("ask '{LS}'; answer '{{\"stopReason\":\"cancelled\"}}'");
    let fixture = Agent::prompted(script).start();
    let mut spec = fixture.spec();
    let requested = Arc::new(Notify::new());
    let thinks = BadHook::Thinks(requested.clone());
    spec.gate = spec.gate.with_hook(Arc::new(thinks));
    let mut client = fixture.client_of(spec);
    let control = client.control();

    let interrupt = async {
        requested.notified().await;
        control.interrupt().await.expect("it can be");
    };
    let (output, ()) = tokio::join!(TurnOutput::collect(client.as_mut()), interrupt);
    fixture.end(client).await;

    assert_eq!(fixture.replies(), ["cancelled"]);
    assert_eq!(output.calls(), ["c: Bash", "c: denied"]);
    assert_eq!(output.outcome(), Some(&SessionOutcome::Interrupted));
}
