//! Tests of whole conversations with the Messages API.

use autonoe_core::agent::{ThinkingBudget, TokenUsage};
use autonoe_core::tool::ToolDefinition;
use autonoe_model::contract::{PartKind, ToolResult};
use autonoe_model::{Message, ModelEvent, ModelRequest, StopReason};
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, MainRequests, MessageStopReason, ModelScript, ScriptedMessage, Turn, Usage,
};
use serde_json::{Value, json};

use crate::providers::support::{anthropic, call};

fn script(turns: impl IntoIterator<Item = Turn>) -> ModelScript {
    ModelScript::new(turns).with_main_requests(MainRequests::All)
}

fn read_tool() -> ToolDefinition {
    ToolDefinition::new("Read", "Reads a file.", json!({"type": "object"}))
}

#[tokio::test]
async fn a_text_is_streamed_in_pieces_and_complete_at_the_end() {
    let usage = Usage::new(1_200, 80)
        .with_cache_read(40_000)
        .with_cache_creation(500);
    let message = ScriptedMessage::new()
        .thinks("They greet.")
        .says("Good morning to you.")
        .in_pieces_of(5)
        .with_usage(usage)
        .with_model("claude-y");
    let server = AnthropicServer::start(script([message.into()]));
    let request = ModelRequest::prompt("Hello.").with_thinking(ThinkingBudget::default());

    let (events, end) = call(&anthropic(&server.url()), &request).await;

    let reply = end.expect("it answers");
    assert_eq!(reply.message.to_text(), "Good morning to you.");
    assert_eq!(reply.stop, StopReason::EndTurn);
    assert_eq!(reply.model.as_deref(), Some("claude-y"));
    assert!(reply.id.is_some());
    let expected = TokenUsage {
        input: 1_200,
        output: 80,
        cache_read: 40_000,
        cache_write: 500,
        reasoning: 0,
    };
    assert_eq!(reply.usage.complete(), Some(expected));
    let mut streamed = (String::new(), String::new());
    for event in &events {
        match event {
            ModelEvent::Thinking(text) => streamed.0.push_str(text),
            ModelEvent::Text(text) => streamed.1.push_str(text),
            ModelEvent::Usage(tokens) => assert_eq!(tokens.prompt(), reply.usage.known().prompt()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        streamed,
        ("They greet.".into(), "Good morning to you.".into())
    );
    assert!(events.len() > 5, "{events:?}");
}

#[tokio::test]
async fn an_answer_is_sent_back_unchanged_with_the_results_of_its_calls() {
    let unknown = json!({"type": "brand_new", "payload": {"a": [1, null]}});
    let first = ScriptedMessage::new()
        .thinks("Two files.")
        .says("I look.")
        .with_raw_block(unknown.clone())
        .uses_tool_as("toolu_a", "Read", json!({"path": "a"}))
        .uses_tool_as("toolu_b", "Read", json!({"path": "b"}));
    let server = AnthropicServer::start(script([first.into(), Turn::text("Done.")]));
    let model = anthropic(&server.url());
    let request = ModelRequest::prompt("Compare.")
        .with_system("Be terse.".to_owned())
        .with_tools([read_tool()]);

    let (events, end) = call(&model, &request).await;
    let reply = end.expect("it calls");
    assert_eq!(reply.stop, StopReason::ToolUse);
    let call = |id: &str| ModelEvent::ToolCall {
        id: id.into(),
        name: "Read".into(),
    };
    assert!(events.contains(&call("toolu_a")) && events.contains(&call("toolu_b")));
    let kinds: Vec<_> = reply.message.parts.iter().map(|part| &part.kind).collect();
    assert!(matches!(
        kinds[..],
        [
            PartKind::Thinking { .. },
            PartKind::Text { .. },
            PartKind::Opaque,
            PartKind::ToolCall { .. },
            PartKind::ToolCall { .. },
        ]
    ));

    // Serialized and deserialized in between, like a saved conversation.
    let conversation = vec![
        Message::user("Compare."),
        reply.message.into(),
        Message::results([
            ToolResult::ok("toolu_a", "Read", "same"),
            ToolResult::failed("toolu_b", "Read", "there is no such file"),
        ]),
    ];
    let saved = serde_json::to_string(&conversation).expect("it can be written");
    let mut request = request;
    request.messages = serde_json::from_str(&saved).expect("it can be read");
    super::support::call(&model, &request)
        .await
        .1
        .expect("it answers");

    let exchanges = server.log().exchanges();
    let sent = exchanges[1].request.messages().expect("a request");
    let content = |index: usize| &sent.raw["messages"][index]["content"];
    let expected = json!([
        {"type": "thinking", "thinking": "Two files.", "signature": "c2NyaXB0ZWQ="},
        {"type": "text", "text": "I look."},
        unknown,
        {"type": "tool_use", "id": "toolu_a", "name": "Read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "toolu_b", "name": "Read", "input": {"path": "b"}},
    ]);
    assert_eq!(content(1), &expected);
    let results: Vec<_> = sent
        .tool_results()
        .iter()
        .map(|it| (it.text.as_str(), it.is_error))
        .collect();
    assert_eq!(results, [("same", false), ("there is no such file", true)]);
    // The cached prefix is found again.
    let cache = json!({"type": "ephemeral"});
    assert_eq!(sent.raw["system"][0]["cache_control"], cache);
    assert_eq!(content(0)[0]["cache_control"], cache);
    assert_eq!(content(2)[1]["cache_control"], cache);
    assert_eq!(content(2)[0]["cache_control"], Value::Null);
}

#[tokio::test]
async fn an_input_that_is_no_json_can_be_sent_back() {
    let broken = ScriptedMessage::new()
        .uses_tool_with_text("Read", r#"{"path": "a"#)
        .stops(MessageStopReason::MaxTokens);
    let server = AnthropicServer::start(script([broken.into(), Turn::text("Sorry.")]));
    let model = anthropic(&server.url());
    let request = ModelRequest::prompt("Read.").with_tools([read_tool()]);

    let reply = call(&model, &request).await.1.expect("it calls");
    assert_eq!(reply.stop, StopReason::MaxTokens);
    let (id, _, input) = reply.message.calls().next().expect("a call");
    assert_eq!(input, &json!(r#"{"path": "a"#));
    let results = Message::results([ToolResult::failed(id, "Read", "the input is no JSON")]);
    let request = request
        .with_message(reply.message.clone().into())
        .with_message(results);
    call(&model, &request).await.1.expect("it answers");

    let exchanges = server.log().exchanges();
    let sent = &exchanges[1].request.messages().expect("a request").raw;
    let expected = json!({"INVALID_JSON": r#"{"path": "a"#});
    assert_eq!(sent["messages"][1]["content"][0]["input"], expected);
}

#[tokio::test]
async fn stop_reasons_are_translated() {
    for (scripted, expected) in [
        (MessageStopReason::EndTurn, StopReason::EndTurn),
        (MessageStopReason::StopSequence, StopReason::EndTurn),
        (MessageStopReason::MaxTokens, StopReason::MaxTokens),
        (MessageStopReason::PauseTurn, StopReason::Paused),
        (MessageStopReason::Refusal, StopReason::Refused),
        (
            MessageStopReason::Other("new".into()),
            StopReason::Other("new".into()),
        ),
    ] {
        let turn = ScriptedMessage::new().says("Hm.").stops(scripted);
        let server = AnthropicServer::start(script([turn.into()]));

        let (_, end) = call(&anthropic(&server.url()), &ModelRequest::prompt("Hi.")).await;

        assert_eq!(end.expect("it answers").stop, expected);
    }
}

#[tokio::test]
async fn a_paused_turn_resumes_at_the_same_position() {
    let first = ScriptedMessage::new()
        .says("Searching")
        .stops(MessageStopReason::PauseTurn);
    let server = AnthropicServer::start(script([first.into(), Turn::text("Found.")]));
    let model = anthropic(&server.url());
    let request = ModelRequest::prompt("Search.");

    let paused = call(&model, &request).await.1.expect("it pauses");
    let request = request.with_message(paused.message.into());
    call(&model, &request).await.1.expect("it goes on");

    let exchanges = server.log().exchanges();
    let sent = &exchanges[1].request.messages().expect("a request").raw["messages"];
    let expected = json!({"role": "assistant", "content": [{"type": "text", "text": "Searching"}]});
    assert_eq!(sent[1], expected);
}
