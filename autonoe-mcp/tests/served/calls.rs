//! Tests of tool calls over every transport.

use autonoe_mcp::HttpToolServer;
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::fixture::{serve, soon, tools};

/// Runs a check with an agent over HTTP, one through a bridge, and one over pipes.
async fn each_way(check: impl AsyncFn(&Agent)) {
    for server in [
        HttpToolServer::new(),
        HttpToolServer::new().by_command("autonoe"),
    ] {
        let (served, _) = serve(&server, "mine").await;
        soon(check(&Agent::to(&served).await)).await;
    }
    soon(check(&Agent::start(tools("mine").0).await)).await;
}

#[tokio::test]
async fn tools_are_listed_with_flat_schemas_and_hints() {
    each_way(async |agent| {
        let listed = agent.list().await.expect("the tools are listed");

        let definitions = serde_json::to_value(&listed).expect("it serialises");
        let hints = |is_read_only: bool| {
            json!({"readOnlyHint": is_read_only, "destructiveHint": false, "openWorldHint": false})
        };
        assert_eq!(
            definitions,
            json!([
                {"name": "act", "description": "Does it.", "annotations": hints(false), "inputSchema": {
                    "type": "object",
                    "properties": {
                        "do": {"type": "string", "description": "What to do."},
                        "text": {"type": "string"},
                    },
                    "required": ["do"],
                }},
                {"name": "look", "description": "Looks.", "annotations": hints(true),
                    "inputSchema": {"type": "object"}},
            ])
        );
        assert_eq!(agent.version(), ProtocolVersion::V_2025_11_25);
    })
    .await;
}

#[tokio::test]
async fn client_of_later_version_gets_supported_version() {
    for server in [
        HttpToolServer::new(),
        HttpToolServer::new().by_command("autonoe"),
    ] {
        let (served, _) = serve(&server, "mine").await;

        let agent = soon(Agent::connect_with_later_version(&served.server)).await;

        let agent = agent.expect("it greets");
        assert_eq!(agent.version(), ProtocolVersion::V_2025_11_25);
        let text = soon(agent.text("act", json!({"do": "say", "text": "hi"}))).await;
        assert_eq!(text, "mine: hi");
    }
}

// Shows: framework/tools/llm-assist-required-with-prompt
#[tokio::test]
async fn a_call_is_answered_with_text_structure_and_files() {
    each_way(async |agent| {
        let call = async |operation: &str| {
            let result = agent
                .call("act", json!({"do": operation, "text": "hi"}))
                .await;
            serde_json::to_value(result.expect("it is answered")).expect("it serialises")
        };

        assert_eq!(
            call("say").await["content"],
            json!([{"type": "text", "text": "mine: hi"}])
        );
        let counted = call("count").await;
        assert_eq!(counted["structuredContent"], json!({"counted": 3}));
        assert_eq!(counted["_meta"]["autonoe/metadata"], json!({"steps": 2}));
        assert_eq!(
            call("show").await["content"][1],
            json!({"type": "image", "data": "AQID", "mimeType": "image/png"})
        );
        let failed = call("fail").await;
        assert_eq!(failed["isError"], json!(true));
        assert_eq!(
            failed["content"][0]["text"],
            json!("NOT_FOUND: there is no DL-9")
        );
        for operation in ["assist", "assist_code"] {
            let assist = call(operation).await;
            assert_eq!(assist["isError"], json!(true), "{operation}");
            let text = assist["content"][0]["text"].as_str().expect("a text");
            for part in ["LLM_ASSIST_REQUIRED", "Summarise it.", "it is too long"] {
                assert!(text.contains(part), "{operation}: {text}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn long_arguments_and_answers_are_complete() {
    each_way(async |agent| {
        let text = "long ".repeat(200_000);

        let answer = agent.text("act", json!({"do": "say", "text": text})).await;

        assert_eq!(answer.len(), "mine: ".len() + text.len());
    })
    .await;
}

#[tokio::test]
async fn arguments_are_checked_before_a_tool_is_called() {
    each_way(async |agent| {
        for (input, expected) in [
            (json!({}), "\"do\" is a required property"),
            (json!({"do": "say", "text": []}), "/text"),
        ] {
            let text = agent.text("act", input).await;

            assert!(text.starts_with("VALIDATION_ERROR"), "{text}");
            assert!(text.contains(expected), "{text}");
        }
        let unknown = agent
            .call("nothing", json!({}))
            .await
            .expect_err("there is none")
            .to_string();
        assert!(unknown.contains("known tools are: act, look"), "{unknown}");
    })
    .await;
}

#[tokio::test]
async fn tool_progress_reaches_the_client() {
    each_way(async |agent| {
        let handle = agent.begin("act", json!({"do": "count"})).await;
        let token = handle.progress_token.clone();

        handle.await_response().await.expect("it is answered");

        // The client passes notifications to its handler in separate tasks.
        let notes = loop {
            let notes = agent.progress();
            if notes.len() >= 2 {
                break notes;
            }
            tokio::task::yield_now().await;
        };
        let mut progress: Vec<_> = notes
            .iter()
            .map(|note| {
                assert_eq!(note.progress_token, token);
                (note.progress, note.total, note.message.as_deref())
            })
            .collect();
        progress.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert_eq!(
            progress,
            [
                (1.0, None, Some("begun")),
                (2.0, Some(3.0), Some("nearly done"))
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_and_the_others_do_not() {
    for server in [
        HttpToolServer::new(),
        HttpToolServer::new().by_command("autonoe"),
    ] {
        let (served, watch) = serve(&server, "mine").await;
        let agent = Agent::to(&served).await;
        let handle = agent.begin("act", json!({"do": "wait"})).await;
        soon(watch.waiting.notified()).await;

        handle
            .cancel(Some("enough".into()))
            .await
            .expect("it is sent");

        soon(watch.over.notified()).await;
        let text = soon(agent.text("act", json!({"do": "say", "text": "on"}))).await;
        assert_eq!(text, "mine: on");
    }
    let (tools, watch) = tools("mine");
    let agent = Agent::start(tools).await;
    let handle = agent.begin("act", json!({"do": "wait"})).await;
    soon(watch.waiting.notified()).await;

    handle.cancel(None).await.expect("it is sent");

    soon(watch.over.notified()).await;
    let text: Value = soon(agent.text("act", json!({"do": "say"}))).await.into();
    assert_eq!(text, json!("mine: "));
}

#[tokio::test]
async fn two_clients_of_a_session_do_not_cancel_each_others_calls() {
    let (served, watch) = serve(&HttpToolServer::new(), "mine").await;
    let (one, other) = (Agent::to(&served).await, Agent::to(&served).await);
    // Both clients use the same request IDs.
    let running = one.begin("act", json!({"do": "wait"})).await;
    soon(watch.waiting.notified()).await;
    let cancelled = other.begin("act", json!({"do": "wait"})).await;
    soon(watch.waiting.notified()).await;
    assert_eq!(running.id, cancelled.id);

    cancelled.cancel(None).await.expect("it is sent");
    soon(watch.over.notified()).await;

    let soon_after = soon(one.text("act", json!({"do": "say"}))).await;
    assert_eq!(soon_after, "mine: ");
    running.cancel(None).await.expect("it is sent");
    soon(watch.over.notified()).await;
}
