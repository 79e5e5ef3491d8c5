//! Wire format of the Gemini API.

use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::{
    MessageStopReason, Request, ScriptedMessage, ServerAnswer, Turn, Usage,
};
use serde_json::{Value, json};

use crate::model_server::api::{Api, Delivery};
use crate::model_server::client::{Response, send, without_server};

fn read_and_search() -> ScriptedMessage {
    ScriptedMessage::new()
        .thinks("Where am I?")
        .says("I look around, in more than forty characters.")
        .uses_tool("shell", json!({"command": "ls"}))
        .uses_tool_as("call-2", "read", json!({"path": "/a"}))
        .with_usage(Usage::new(7, 5).with_cache_read(3).with_reasoning(2))
}

async fn unstreamed(message: ScriptedMessage) -> Value {
    let server = GeminiServer::start([message]);
    Api::Gemini
        .request_message(&server, "go", Delivery::Whole)
        .await
        .json()
}

async fn streamed(message: ScriptedMessage) -> Response {
    let server = GeminiServer::start([message]);
    Api::Gemini
        .request_message(&server, "go", Delivery::Stream)
        .await
}

/// Returns the parts of all chunks.
fn parts(response: &Response) -> Vec<Value> {
    let chunks = response.chunks();
    let parts = chunks.iter().map(|chunk| {
        let parts = &chunk["candidates"][0]["content"]["parts"];
        parts.as_array().expect("it has parts").clone()
    });
    parts.flatten().collect()
}

#[tokio::test]
async fn a_message_is_streamed_as_chunks() {
    let response = streamed(read_and_search()).await;

    assert_eq!(
        response.body.matches("\r\n\r\n").count(),
        response.data().len()
    );
    assert_eq!(response.events().len(), 0);
    insta::assert_snapshot!(without_server(&response.body.replace("\r\n", "\n")));
}

#[tokio::test]
async fn a_message_without_streaming_is_one_document() {
    let server = GeminiServer::start([read_and_search()]);

    let response = Api::Gemini
        .request_message(&server, "go", Delivery::Whole)
        .await;

    let whole: Value = serde_json::from_str(&without_server(&response.body)).unwrap();
    insta::assert_json_snapshot!(whole);
}

#[tokio::test]
async fn a_signature_is_on_the_part_that_it_signs() {
    let signed = || {
        ScriptedMessage::new()
            .thinks("hm")
            .signed("czE=")
            .says("I look around.")
            .signed("czI=")
            .uses_tool("shell", json!({}))
            .uses_tool("read", json!({}))
            .signed("czQ=")
            .in_pieces_of(10)
    };
    let on = |parts: &[Value]| -> Vec<Option<String>> {
        let parts = parts.iter();
        let signature = |part: &Value| part["thoughtSignature"].as_str().map(str::to_owned);
        parts.map(signature).collect()
    };
    let some = |text: &str| Some(text.to_owned());

    let whole = unstreamed(signed()).await;
    let whole = whole["candidates"][0]["content"]["parts"]
        .as_array()
        .unwrap();
    let calls = [some("c2NyaXB0ZWQ="), some("czQ=")];
    assert_eq!(
        on(whole),
        [&[some("czE="), some("czI=")], &calls[..]].concat()
    );

    // The text arrives in two pieces, and the last chunk has an empty one.
    let streamed = on(&parts(&streamed(signed()).await));
    let texts = [some("czE="), None, some("czI=")];
    assert_eq!(streamed, [&texts[..], &calls[..], &[None]].concat());
}

#[tokio::test]
async fn a_conversation_continues_with_the_answer_of_the_model() {
    let server = GeminiServer::start([
        ScriptedMessage::new()
            .thinks("hm")
            .uses_tool("shell", json!({"command": "ls"})),
        ScriptedMessage::new().says("done"),
    ]);
    let first = Api::Gemini
        .request_message(&server, "go", Delivery::Whole)
        .await
        .json();
    let mut second = Api::Gemini.prompt("go", Delivery::Whole);
    let result = json!({"functionResponse": {"name": "shell", "response": {"error": "no"}}});
    let contents = second["contents"].as_array_mut().unwrap();
    contents.push(first["candidates"][0]["content"].clone());
    contents.push(json!({"role": "user", "parts": [result]}));

    Api::Gemini.send(&server, &second, Delivery::Whole).await;

    let request = server.log().main_requests().remove(1);
    assert_eq!(request.signatures(), ["c2NyaXB0ZWQ="]);
    assert_eq!(request.user_texts(), ["go"]);
    let result = request.tool_results()[0];
    assert_eq!(result.name.as_deref(), Some("shell"));
    assert_eq!((result.text.as_str(), result.is_error), ("no", true));
}

#[tokio::test]
async fn message_ends_with_scripted_finish_reason() {
    let stops = |reason| ScriptedMessage::new().says("hm").stops(reason);
    for (message, finish) in [
        (ScriptedMessage::new(), "STOP"),
        (ScriptedMessage::new().uses_tool("shell", json!({})), "STOP"),
        (stops(MessageStopReason::StopSequence), "STOP"),
        (stops(MessageStopReason::MaxTokens), "MAX_TOKENS"),
        (stops(MessageStopReason::Refusal), "SAFETY"),
        (
            stops(MessageStopReason::Other("MALFORMED_FUNCTION_CALL".into())),
            "MALFORMED_FUNCTION_CALL",
        ),
    ] {
        let response = unstreamed(message.clone()).await;
        assert_eq!(response["candidates"][0]["finishReason"], finish);
        let chunks = streamed(message).await.chunks();
        let finished = chunks
            .iter()
            .map(|chunk| chunk["candidates"][0]["finishReason"].as_str());
        let finished: Vec<_> = finished.collect();
        let (last, before) = finished.split_last().unwrap();
        assert_eq!(*last, Some(finish));
        assert!(before.iter().all(Option::is_none), "{finished:?}");
    }
}

#[tokio::test]
async fn script_sets_model_and_raw_parts() {
    let part = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let message = ScriptedMessage::new()
        .with_raw_block(part.clone())
        .with_model("x-2");

    let response = unstreamed(message).await;

    assert_eq!(response["candidates"][0]["content"]["parts"], json!([part]));
    assert_eq!(response["modelVersion"], "x-2");
}

#[tokio::test]
async fn a_stream_without_events_is_not_understood() {
    let server = GeminiServer::start([Turn::text("done")]).unverified();
    let body = Api::Gemini.prompt("go", Delivery::Stream).to_string();

    for query in ["", "?alt=json", "?malt=sse"] {
        let path = format!("/v1beta/models/x-1:streamGenerateContent{query}");
        let response = send(&server, "POST", &path, &body).await;

        assert_eq!(response.status, 418, "{query}");
    }
    let reason = server.log().unanswered()[0].unanswered().map(str::to_owned);
    let expected = "a stream is requested without alt=sse";
    assert_eq!(reason.as_deref(), Some(expected));
}

#[tokio::test]
async fn token_counts_do_not_use_the_script_and_a_key_in_the_path_is_not_recorded() {
    let server = GeminiServer::start([Turn::text("done")]);
    let body = Api::Gemini.prompt("go", Delivery::Whole).to_string();

    let path = "/v1/models/x-1:countTokens?key=hunter2";
    let response = send(&server, "POST", path, &body).await;
    Api::Gemini
        .request_message(&server, "go", Delivery::Whole)
        .await;

    assert_eq!(response.json()["totalTokens"], body.len() / 4);
    let seen = server.log().exchanges().remove(0);
    assert_eq!(seen.answer, ServerAnswer::Fixed);
    assert_eq!(seen.path, "/v1/models/x-1:countTokens?key=[redacted]");
    assert!(matches!(&*seen.request, Request::CountTokens(prompt) if prompt.model == "x-1"));
}

#[tokio::test]
async fn raw_turns_can_block_a_prompt() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let stream = format!("data: {blocked}\r\n\r\n");
    let server = GeminiServer::start([
        Turn::raw("application/json", blocked.to_string()),
        Turn::raw("text/event-stream", stream),
    ]);

    let whole = Api::Gemini
        .request_message(&server, "go", Delivery::Whole)
        .await
        .json();
    let chunks = Api::Gemini
        .request_message(&server, "go", Delivery::Stream)
        .await
        .chunks();

    assert_eq!((whole, chunks), (blocked.clone(), vec![blocked]));
}
