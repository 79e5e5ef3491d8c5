//! Tests of answers, and of sending them back.

use autonoe_core::agent::ThinkingBudget;
use autonoe_core::tool::ToolDefinition;
use autonoe_model::contract::{PartKind, ToolResult};
use autonoe_model::{Message, ModelEvent, ModelRequest, StopReason};
use autonoe_testkit::model_server::{Credential, MessageStopReason, ScriptedMessage, Turn, Usage};
use serde_json::json;

use crate::openai::fixture::{Api, call, server, streamed};

fn tools() -> Vec<ToolDefinition> {
    ["Read", "Grep"]
        .map(|name| ToolDefinition::new(name, "Looks.", json!({"type": "object"})))
        .into()
}

#[tokio::test]
async fn streams_text_in_chunks_and_returns_it_with_usage() {
    for api in Api::BOTH {
        let usage = Usage::new(1_200, 80)
            .with_cache_read(400)
            .with_reasoning(30);
        let message = ScriptedMessage::new()
            .says("Good morning, world.")
            .with_usage(usage);
        let server = server([Turn::from(message.in_pieces_of(3))]);
        let model = api.model(&server);
        let request = ModelRequest::prompt("Hello.")
            .with_system("Be brief.".to_owned())
            .with_max_output_tokens(500)
            .with_thinking(ThinkingBudget::default());

        let (news, reply) = call(&*model, &request).await;

        let reply = reply.expect("it answers");
        assert_eq!(reply.message.to_text(), "Good morning, world.", "{api:?}");
        assert_eq!(streamed(&news), "Good morning, world.");
        assert!(news.len() > 5, "{news:?}");
        assert_eq!(reply.stop, StopReason::EndTurn);
        assert_eq!(
            (reply.usage.known().prompt(), reply.usage.known().cache_read),
            (1_600, 400),
            "{api:?}"
        );
        assert_eq!(
            (
                reply.usage.known().completion(),
                reply.usage.known().reasoning
            ),
            (80, 30),
            "{api:?}"
        );
        let request = &server.log().main_requests()[0];
        assert_eq!(request.system_texts(), ["Be brief."]);
        assert_eq!(request.user_texts(), ["Hello."]);
        assert_eq!(request.max_tokens, Some(500));
        assert_eq!(request.effort.as_deref(), Some("medium"));
        assert!(request.stream);
        let exchange = &server.log().exchanges()[0];
        assert_eq!(exchange.headers.credential(), Some(Credential::Bearer));
        server.verify();
    }
}

#[tokio::test]
async fn thinking_and_parallel_calls_are_sent_back_unchanged() {
    for api in Api::BOTH {
        let server = server([
            Turn::from(
                ScriptedMessage::new()
                    .thinks("Two at once.")
                    .says("I look.")
                    .uses_tool_as("call_a", "Read", json!({"path": "a"}))
                    .uses_tool_as("call_b", "Grep", json!({"pattern": "b"}))
                    .in_pieces_of(2),
            ),
            Turn::text("Done."),
        ]);
        let model = api.model(&server);
        let request = ModelRequest::prompt("Look.").with_tools(tools());

        let (news, reply) = call(&*model, &request).await;

        let reply = reply.expect("it answers");
        assert_eq!(reply.stop, StopReason::ToolUse);
        let inputs = [json!({"path": "a"}), json!({"pattern": "b"})];
        let calls: Vec<_> = reply.message.calls().collect();
        let expected = [
            ("call_a", "Read", &inputs[0]),
            ("call_b", "Grep", &inputs[1]),
        ];
        assert_eq!(calls, expected, "{api:?}");
        let thinking = PartKind::Thinking {
            text: "Two at once.".into(),
        };
        assert_eq!(reply.message.parts[0].kind, thinking);
        let started_calls = news
            .iter()
            .filter(|event| matches!(event, ModelEvent::ToolCall { .. }));
        assert_eq!(started_calls.count(), 2);

        let results = Message::results([
            ToolResult::ok("call_a", "Read", "text of a"),
            ToolResult::failed("call_b", "Grep", "nothing found"),
        ]);
        let request = request
            .with_message(reply.message.clone().into())
            .with_message(results);
        let (_, reply) = call(&*model, &request).await;

        assert_eq!(reply.expect("it answers").message.to_text(), "Done.");
        let request = &server.log().main_requests()[1];
        let results = request.tool_results();
        assert_eq!(results.len(), 2);
        let history = request.raw.to_string();
        match api {
            Api::Responses => {
                let sent: Vec<_> = request.raw["input"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .collect();
                let kinds: Vec<_> = sent.iter().map(|item| item["type"].as_str()).collect();
                let expected = [
                    "message",
                    "reasoning",
                    "message",
                    "function_call",
                    "function_call",
                    "function_call_output",
                    "function_call_output",
                ];
                assert_eq!(kinds, expected.map(Some));
                assert!(sent[1]["encrypted_content"].is_string(), "{history}");
            }
            Api::Chat => {
                let sent = &request.raw["messages"][1];
                assert_eq!(sent["reasoning_content"], "Two at once.");
                assert_eq!(sent["content"], "I look.");
            }
        }
        assert!(history.contains("text of a") && history.contains("Error: nothing found"));
        server.verify();
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_a_text() {
    for api in Api::BOTH {
        let message = ScriptedMessage::new().uses_tool_with_text("Read", "{\"path\": ");
        let server = server([Turn::from(message)]);
        let request = ModelRequest::prompt("Look.").with_tools(tools());

        let (_, reply) = call(&*api.model(&server), &request).await;

        let message = reply.expect("it answers").message;
        let inputs: Vec<_> = message.calls().map(|(_, _, input)| input).collect();
        assert_eq!(inputs, [&json!("{\"path\": ")], "{api:?}");
    }
}

#[tokio::test]
async fn answer_has_its_stop_reason() {
    for api in Api::BOTH {
        let table = [
            (MessageStopReason::MaxTokens, StopReason::MaxTokens),
            (MessageStopReason::Refusal, StopReason::Refused),
            (
                MessageStopReason::Other("tired".into()),
                match api {
                    Api::Chat => StopReason::Other("tired".into()),
                    // An incomplete answer is not the one that the model intended.
                    Api::Responses => StopReason::Failed("tired".into()),
                },
            ),
        ];
        for (scripted, expected) in table {
            let message = ScriptedMessage::new().says("So").stops(scripted);
            let server = server([Turn::from(message)]);

            let reply = api.model(&server).invoke(&ModelRequest::prompt("?")).await;

            let reply = reply.expect("it answers");
            assert_eq!(
                (reply.stop, reply.message.to_text().as_str()),
                (expected, "So")
            );
            assert!(reply.usage.complete().is_some(), "{:?}", reply.usage);
        }
    }
}

#[tokio::test]
async fn packets_of_one_byte_and_comments_give_the_same_answer() {
    for api in Api::BOTH {
        let message = || {
            ScriptedMessage::new()
                .thinks("Hm — häh?")
                .says("Grüße 👋")
                .uses_tool_as("call_a", "Read", json!({"path": "ä"}))
        };
        let turns = [message(), message().in_packets_of(1).with_comments()].map(Turn::from);
        let server = server(turns);
        let model = api.model(&server);
        let request = ModelRequest::prompt("Look.").with_tools(tools());

        let first = model.invoke(&request).await.expect("it answers").message;
        let second = model.invoke(&request).await.expect("it answers").message;

        let kinds = |message: &autonoe_model::contract::AssistantMessage| -> Vec<PartKind> {
            message.parts.iter().map(|part| part.kind.clone()).collect()
        };
        assert_eq!(kinds(&first), kinds(&second), "{api:?}");
    }
}
