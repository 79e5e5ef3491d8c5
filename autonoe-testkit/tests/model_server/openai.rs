//! Wire formats of OpenAI's APIs.

use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{
    MessageStopReason, PromptBlock, ScriptedMessage, ServerAnswer, Turn, Usage,
};
use serde_json::{Value, json};

use crate::model_server::api::{Api, Delivery};
use crate::model_server::client::{Response, send, without_server};

fn read_and_search() -> ScriptedMessage {
    ScriptedMessage::new()
        .thinks("Where am I?")
        .says("I look around, in more than forty characters.")
        .uses_tool_as("call_1", "shell", json!({"command": "ls"}))
        .uses_tool_as("call_2", "read", json!({"path": "/a"}))
        .with_usage(Usage::new(7, 5).with_cache_read(3).with_reasoning(2))
        .in_pieces_of(30)
}

async fn unstreamed(api: Api, message: ScriptedMessage) -> Value {
    let server = OpenAiServer::start([message]);
    api.request_message(&server, "go", Delivery::Whole)
        .await
        .json()
}

async fn streamed(api: Api, message: ScriptedMessage) -> Response {
    let server = OpenAiServer::start([message]);
    api.request_message(&server, "go", Delivery::Stream).await
}

#[tokio::test]
async fn a_response_is_streamed_as_events() {
    let response = streamed(Api::Responses, read_and_search()).await;

    let kind = response.header("content-type");
    assert_eq!(kind, Some("text/event-stream; charset=utf-8"));
    insta::assert_snapshot!(without_server(&response.body));
}

#[tokio::test]
async fn a_response_without_streaming_is_one_document() {
    let server = OpenAiServer::start([read_and_search()]);

    let response = Api::Responses
        .request_message(&server, "go", Delivery::Whole)
        .await;

    let whole: Value = serde_json::from_str(&without_server(&response.body)).unwrap();
    insta::assert_json_snapshot!(whole);
}

#[tokio::test]
async fn a_completion_is_streamed_as_chunks() {
    let response = streamed(Api::Chat, read_and_search()).await;

    insta::assert_snapshot!(without_server(&response.body));
}

#[tokio::test]
async fn a_completion_without_streaming_is_one_document() {
    let server = OpenAiServer::start([read_and_search()]);

    let response = Api::Chat
        .request_message(&server, "go", Delivery::Whole)
        .await;

    let whole: Value = serde_json::from_str(&without_server(&response.body)).unwrap();
    insta::assert_json_snapshot!(whole);
}

#[tokio::test]
async fn the_last_event_of_a_response_has_the_whole_of_it() {
    let response = streamed(Api::Responses, read_and_search()).await;
    let events = response.chunks();

    let last = &events[events.len() - 1]["response"];
    let done = |event: &&Value| event["type"] == "response.output_item.done";
    let items: Vec<&Value> = events
        .iter()
        .filter(done)
        .map(|event| &event["item"])
        .collect();
    assert_eq!(json!(items), last["output"]);
    assert_eq!(items.len(), 4);
    let numbers = events.iter().map(|event| event["sequence_number"].as_u64());
    assert!(numbers.eq((0..).map(Some).take(events.len())));
}

#[tokio::test]
async fn encrypts_reasoning_only_on_request() {
    let thought = || ScriptedMessage::new().thinks("hm").says("done");
    let server = OpenAiServer::start([thought(), thought().thinks("ah").signed("c2ln"), thought()]);
    let mut plain = Api::Responses.prompt("go", Delivery::Whole);
    plain["include"] = json!([]);

    let request = Api::Responses
        .request_message(&server, "go", Delivery::Whole)
        .await
        .json();
    let signed = Api::Responses
        .request_message(&server, "go", Delivery::Whole)
        .await
        .json();
    let plain = Api::Responses
        .send(&server, &plain, Delivery::Whole)
        .await
        .json();

    assert_eq!(request["output"][0]["encrypted_content"], "c2NyaXB0ZWQ=");
    assert_eq!(signed["output"][2]["encrypted_content"], "c2ln");
    assert_eq!(plain["output"][0].get("encrypted_content"), None);
    let summary = json!([{"type": "summary_text", "text": "hm"}]);
    assert_eq!(plain["output"][0]["summary"], summary);
}

#[tokio::test]
async fn hidden_thoughts_have_no_summary() {
    let response = streamed(Api::Responses, ScriptedMessage::new().thinks("")).await;

    let events = response.events();
    assert_eq!(
        events[2..4],
        ["response.output_item.added", "response.output_item.done"]
    );
    assert_eq!(response.chunks()[3]["item"]["summary"], json!([]));
}

#[tokio::test]
async fn interleaved_call_chunks_are_identified_by_index() {
    let calls = ScriptedMessage::new()
        .uses_tool("shell", json!("abcdef"))
        .uses_tool("read", json!("12"))
        .says("hm")
        .uses_tool("shell", json!("x"))
        .in_pieces_of(3);

    let response = streamed(Api::Chat, calls).await;

    let fragments: Vec<String> = response
        .chunks()
        .iter()
        .filter_map(|chunk| {
            let delta = &chunk["choices"][0]["delta"];
            let call = &delta["tool_calls"][0];
            let function = &call["function"];
            match (&delta["content"], function["name"].as_str()) {
                (Value::String(text), _) => Some(format!("says {text}")),
                (_, Some(name)) => Some(format!("{} is {name}", call["index"])),
                _ => Some(format!(
                    "{} {}",
                    call["index"],
                    function["arguments"].as_str()?
                )),
            }
        })
        .collect();
    assert_eq!(
        fragments,
        [
            "says ",
            "0 is shell",
            "1 is read",
            "0 \"ab",
            "1 \"12",
            "0 cde",
            "1 \"",
            "0 f\"",
            "says hm",
            "2 is shell",
            "2 \"x\"",
        ]
    );
}

#[tokio::test]
async fn sends_streamed_usage_only_on_request() {
    let server = OpenAiServer::start([read_and_search(), read_and_search()]);
    let mut plain = Api::Chat.prompt("go", Delivery::Stream);
    plain.as_object_mut().unwrap().remove("stream_options");

    let requested = Api::Chat
        .request_message(&server, "go", Delivery::Stream)
        .await;
    let plain = Api::Chat.send(&server, &plain, Delivery::Stream).await;

    let last = requested.chunks().pop().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["prompt_tokens"], 10);
    assert!(
        plain
            .chunks()
            .iter()
            .all(|chunk| chunk.get("usage").is_none())
    );
    for response in [requested, plain] {
        assert_eq!(response.data().last(), Some(&"[DONE]"));
    }
}

#[tokio::test]
async fn answer_ends_with_scripted_stop_reason() {
    let stops = |reason| ScriptedMessage::new().says("hm").stops(reason);
    for (message, status, reason, finish) in [
        (ScriptedMessage::new().says("hm"), "completed", None, "stop"),
        (
            stops(MessageStopReason::StopSequence),
            "completed",
            None,
            "stop",
        ),
        (
            ScriptedMessage::new().uses_tool("shell", json!({})),
            "completed",
            None,
            "tool_calls",
        ),
        (
            stops(MessageStopReason::MaxTokens),
            "incomplete",
            Some("max_output_tokens"),
            "length",
        ),
        (
            stops(MessageStopReason::Refusal),
            "incomplete",
            Some("content_filter"),
            "content_filter",
        ),
        (
            stops(MessageStopReason::Other("odd".into())),
            "incomplete",
            Some("odd"),
            "odd",
        ),
    ] {
        let response = unstreamed(Api::Responses, message.clone()).await;
        assert_eq!(response["status"], status);
        assert_eq!(response["incomplete_details"]["reason"].as_str(), reason);
        let events = streamed(Api::Responses, message.clone()).await;
        let last = format!("response.{status}");
        assert_eq!(events.events().last().copied(), Some(last.as_str()));

        let completion = unstreamed(Api::Chat, message.clone()).await;
        assert_eq!(completion["choices"][0]["finish_reason"], finish);
        let chunks = streamed(Api::Chat, message).await.chunks();
        let end = &chunks[chunks.len() - 2]["choices"][0];
        assert_eq!(
            (&end["finish_reason"], &end["delta"]),
            (&json!(finish), &json!({}))
        );
    }
}

#[tokio::test]
async fn raw_blocks_are_sent_unchanged() {
    let item = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let search = || {
        ScriptedMessage::new()
            .with_raw_block(item.clone())
            .says("found")
    };
    assert_eq!(
        unstreamed(Api::Responses, search()).await["output"][0],
        item
    );
    let events = streamed(Api::Responses, search()).await.chunks();
    assert_eq!((&events[2]["item"], &events[3]["item"]), (&item, &item));

    let refused = || ScriptedMessage::new().with_raw_block(json!({"refusal": "no"}));
    let message = &unstreamed(Api::Chat, refused()).await["choices"][0]["message"];
    assert_eq!(message["refusal"], "no");
    let chunks = streamed(Api::Chat, refused()).await.chunks();
    assert_eq!(chunks[1]["choices"][0]["delta"], json!({"refusal": "no"}));
}

#[tokio::test]
async fn an_invalid_json_input_is_sent_as_text() {
    let broken = || ScriptedMessage::new().uses_tool_with_text("shell", "{broken");

    let response = unstreamed(Api::Responses, broken()).await;
    assert_eq!(response["output"][0]["arguments"], "{broken");
    let completion = unstreamed(Api::Chat, broken()).await;
    let call = &completion["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], "{broken");
}

#[tokio::test]
async fn a_conversation_continues_with_the_answer_of_the_model() {
    let server = OpenAiServer::start([
        ScriptedMessage::new()
            .thinks("hm")
            .signed("c2ln")
            .uses_tool("shell", json!({"command": "ls"})),
        ScriptedMessage::new().says("done"),
    ]);
    let first = Api::Responses
        .request_message(&server, "go", Delivery::Whole)
        .await
        .json();
    let mut input = vec![json!({"role": "user", "content": "go"})];
    input.extend(first["output"].as_array().unwrap().clone());
    let call_id = &first["output"][1]["call_id"];
    input.push(json!({"type": "function_call_output", "call_id": call_id, "output": "a.txt"}));
    let mut second = Api::Responses.prompt("go", Delivery::Whole);
    second["input"] = input.into();

    Api::Responses.send(&server, &second, Delivery::Whole).await;

    let request = server.log().main_requests().remove(1);
    assert_eq!(request.signatures(), ["c2ln"]);
    let results = request.tool_results();
    assert_eq!(results[0].tool_use_id, call_id.as_str().unwrap());
    assert_eq!(results[0].text, "a.txt");
    let thought = PromptBlock::Thinking {
        text: "hm".into(),
        signature: Some("c2ln".into()),
    };
    assert_eq!(request.messages[1].content, [thought]);
}

#[tokio::test]
async fn both_apis_take_turns_of_one_script() {
    let server = OpenAiServer::start([Turn::text("one"), Turn::text("two")]);

    let first = Api::Responses
        .request_message(&server, "go", Delivery::Stream)
        .await;
    let second = Api::Chat
        .request_message(&server, "go", Delivery::Stream)
        .await;

    assert_eq!(Api::Responses.text(&first, Delivery::Stream), "one");
    assert_eq!(Api::Chat.text(&second, Delivery::Stream), "two");
}

#[tokio::test]
async fn completions_may_be_at_another_place_and_models_are_listed() {
    let server = OpenAiServer::start([Turn::text("done")]);
    assert_eq!(server.api_url(), format!("{}/v1", server.url()));
    let body = Api::Chat.prompt("go", Delivery::Whole).to_string();

    let response = send(&server, "POST", "/api/v3/chat/completions", &body).await;
    let models = send(&server, "GET", "/v1/models", "").await;

    assert_eq!(Api::Chat.text(&response, Delivery::Whole), "done");
    assert_eq!(models.json()["object"], "list");
    assert_eq!(server.log().exchanges()[1].answer, ServerAnswer::Fixed);
}
