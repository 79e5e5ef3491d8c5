//! Single turns of an agent that follows the protocol.

use autonoe_acp::{AcpBackend, AcpOptions, HomeFolder};
use autonoe_core::AgentClientFactory;
use autonoe_core::agent::{AgentErrorKind, OuterSandbox, SessionField, SessionOutcome};
use autonoe_mcp::HttpToolServer;
use autonoe_testkit::program::WatchedRun;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::agent::{Agent, TIME_LIMIT, TurnOutput};

#[tokio::test]
async fn text_is_reported_and_unknown_updates_are_no_error() {
    let agent = Agent {
        // The agent ignores the end of its input, so it is killed.
        at_last: "exec sleep 600",
        ..Agent::prompted(
            r#"update '{"sessionUpdate":"a_kind_of_tomorrow","x":[1]}'
            printf '{"jsonrpc":"2.0","method":"tomorrow/news","params":{}}\n'
            say Hello.; finish"#,
        )
    };

    let output = agent.start().turn().await;

    assert_eq!(output.texts(), ["Hello."]);
    assert!(output.is_completed(), "{output:?}");
}

#[tokio::test]
async fn a_turn_without_text_is_not_a_success() {
    let output = Agent::prompted("finish").start().turn().await;

    let outcome = output.outcome();
    let failed = matches!(outcome, Some(SessionOutcome::ExecutionError { .. }));
    assert!(failed, "{output:?}");
}

#[tokio::test]
async fn an_agent_that_exits_in_a_turn_has_crashed() {
    let output = Agent::prompted("say Hello.; exit 3").start().turn().await;

    assert_eq!(output.texts(), ["Hello."]);
    assert_eq!(output.error_kind(), Some(AgentErrorKind::Crashed));
}

#[tokio::test]
async fn a_program_that_is_not_an_agent_is_an_error() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let mut options = AcpOptions::new("no agent", "/bin/true", []);
    options.program.temporary = folder.path().to_owned();

    let error = timeout(TIME_LIMIT, AcpBackend::new(options).probe())
        .await
        .expect("it ends")
        .expect_err("it is none");

    assert_eq!(error.kind(), AgentErrorKind::Crashed, "{error}");
}

/// A home or a temporary folder that a session sets would neither be swept after it nor be writable
/// in the sandbox.
#[tokio::test]
async fn a_session_does_not_choose_the_folders_of_the_agent() {
    let fixture = Agent::prompted(r#"say "$HOME:$TMPDIR:$OTHER"; finish"#).start();
    let mut spec = fixture.spec();
    for name in ["HOME", "TMPDIR", "OTHER"] {
        spec.environment
            .insert(name.to_owned(), "/elsewhere".to_owned());
    }
    for home in [
        HomeFolder::PerSession,
        HomeFolder::Persistent(fixture.file("home")),
    ] {
        let mut options = fixture.options();
        options.home = home.clone();
        let agents = AcpBackend::new(options);
        let mut client = agents.create(spec.clone()).expect("it can be made");

        let output = TurnOutput::collect(client.as_mut()).await;
        fixture.end(client).await;

        let text = output.texts().concat();
        let is_chosen: Vec<_> = text.split(':').map(|path| path == "/elsewhere").collect();
        assert_eq!(is_chosen, [false, false, true], "{home:?}: {text}");
    }
}

/// The protocol has no setting that stops an agent from reading memory files.
#[tokio::test]
async fn a_session_without_project_memory_is_refused() {
    let fixture = Agent::prompted("say Hello.; finish").start();
    let mut spec = fixture.spec();
    spec.project_memory = false;

    let error = AcpBackend::new(fixture.options())
        .create(spec)
        .expect_err("it cannot be kept");

    assert_eq!(
        error.kind(),
        AgentErrorKind::Unclaimed(SessionField::ProjectMemory),
        "{error}"
    );
}

/// Plays a run in which the agent reports one call, and returns its end: the ID of the call, the
/// tool, and the title of the result.
async fn ended_call(call: &Value) -> Vec<Value> {
    let fixture = Agent {
        greeting: r#"answer '{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}'"#,
        ..Agent::prompted(format!("update '{call}'; say Done.; finish"))
    }
    .start();
    let run = WatchedRun::in_planned_project(fixture.project(), AcpBackend::new(fixture.options()))
        .configure(|run| {
            run.tool_server(HttpToolServer::new())
                .outer_sandbox(OuterSandbox::bubblewrap())
                .max_iterations(1)
        });
    let log = run.log();

    run.run().await;

    let events = log.json();
    let ended = events.iter().filter(|event| event["event"] == "tool_ended");
    ended
        .map(|event| json!([event["callId"], event["tool"], event["title"]]))
        .collect()
}

// Shows: framework/tools/call-ids-of-other-acp-agents
#[tokio::test]
async fn a_call_that_does_not_name_its_tool_ends_as_other_without_title() {
    for title in ["mcp.autonoe.list", "mcp__autonoe__list", "list"] {
        let ended = ended_call(&json!({
            "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "other", "title": title,
            "status": "completed",
        }))
        .await;

        assert_eq!(ended, [json!(["c", "other", null])], "{title}");
    }
}

// Shows: framework/tools/call-ids-of-served-tools
#[tokio::test]
async fn a_call_that_is_marked_as_one_over_mcp_ends_as_its_tool() {
    let ended = ended_call(&json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "other",
        "title": "mcp.autonoe.list", "status": "completed",
        "_meta": {"is_mcp_tool_call": true},
    }))
    .await;

    assert_eq!(ended, [json!(["c", "mcp__autonoe__list", null])]);
}
