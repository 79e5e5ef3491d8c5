//! Assignment of scripted turns to requests.

use autonoe_testkit::model_server::ServerAnswer;
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, MainRequests, ModelScript, ScriptedMessage, Turn,
};
use serde_json::{Value, json};

use crate::model_server::client::{Response, prompt, request_message, send, streamed};

fn text(response: &Response) -> String {
    let body = response.json();
    body["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// A request for the title of a conversation: it offers no tools.
fn title() -> Value {
    json!({"model": "claude-x", "messages": [{"role": "user", "content": "A title, please."}]})
}

#[tokio::test]
async fn each_request_takes_the_next_turn() {
    let server = AnthropicServer::start([Turn::text("one"), Turn::text("two")]);

    assert_eq!(text(&request_message(&server, &prompt("a")).await), "one");
    assert_eq!(text(&request_message(&server, &prompt("b")).await), "two");
    let answers: Vec<ServerAnswer> = server
        .log()
        .exchanges()
        .into_iter()
        .map(|seen| seen.answer)
        .collect();
    assert_eq!(answers, [ServerAnswer::Turn(1), ServerAnswer::Turn(2)]);
    server.verify();
}

#[tokio::test]
async fn side_requests_take_no_turn() {
    let script = ModelScript::new([Turn::text("done")]).with_side_answer(Turn::text("A title"));
    let server = AnthropicServer::start(script);

    assert_eq!(text(&request_message(&server, &title()).await), "A title");
    assert_eq!(text(&request_message(&server, &prompt("go")).await), "done");
    assert_eq!(text(&request_message(&server, &title()).await), "A title");
    let main = server.log().main_requests();
    assert_eq!(main.len(), 1);
    assert_eq!(main[0].user_texts(), ["go"]);
}

#[tokio::test]
async fn a_program_without_tools_can_be_served_too() {
    let script = ModelScript::new([Turn::text("done")]).with_main_requests(MainRequests::All);
    let server = AnthropicServer::start(script);

    assert_eq!(text(&request_message(&server, &title()).await), "done");
}

#[tokio::test]
async fn script_functions_receive_the_request() {
    let script = ModelScript::new([Turn::text("first")])
        .then_fn(|request| Turn::text(format!("you said {}", request.user_texts()[0])))
        .then(Turn::text("third"))
        .rest_fn(|request| Turn::text(format!("{} again", request.user_texts()[0])));
    let server = AnthropicServer::start(script);

    let mut texts = Vec::new();
    for word in ["a", "b", "c", "d", "e"] {
        texts.push(text(&request_message(&server, &prompt(word)).await));
    }

    assert_eq!(
        texts,
        ["first", "you said b", "third", "d again", "e again"]
    );
    server.verify();
}

#[tokio::test]
async fn a_request_after_the_last_turn_fails_loudly() {
    let server = AnthropicServer::start([Turn::text("done")]).unverified();
    request_message(&server, &prompt("go")).await;

    let response = request_message(&server, &streamed("and now?")).await;

    assert_eq!(response.status, 418);
    let error = response.json();
    assert_eq!(
        error["error"]["message"],
        "the scripted model server has no answer: the script ends after 1 turns"
    );
    let unanswered = server.log().unanswered();
    assert_eq!(unanswered.len(), 1);
    assert_eq!(unanswered[0].number, 2);
    assert_eq!(
        unanswered[0].unanswered(),
        Some("the script ends after 1 turns")
    );
    assert_eq!(server.log().main_requests().len(), 2);
}

#[tokio::test]
async fn a_function_that_panics_leaves_the_request_unanswered_and_the_server_alive() {
    let script = ModelScript::new::<Turn>([])
        .then_fn(|request| panic!("no idea what {} means", request.user_texts()[0]))
        .then(Turn::text("still here"));
    let server = AnthropicServer::start(script).unverified();

    let failed = request_message(&server, &prompt("this")).await;
    let next = request_message(&server, &prompt("that")).await;

    assert_eq!(failed.status, 418);
    let reason = "the function of turn 1 panicked: no idea what this means";
    assert_eq!(server.log().unanswered()[0].unanswered(), Some(reason));
    assert_eq!(text(&next), "still here");
}

#[tokio::test]
async fn a_body_that_is_no_request_is_unanswered_and_takes_no_turn() {
    let server = AnthropicServer::start([Turn::text("done")]).unverified();

    for path in ["/v1/messages", "/v1/messages/count_tokens"] {
        assert_eq!(
            send(&server, "POST", path, "{}").await.status,
            418,
            "{path}"
        );
    }

    assert_eq!(server.log().unanswered().len(), 2);
    assert_eq!(text(&request_message(&server, &prompt("go")).await), "done");
}

#[tokio::test]
async fn an_input_that_is_no_json_needs_a_stream() {
    let broken = || ScriptedMessage::new().uses_tool_with_text("Bash", r#"{"command": "#);
    let server = AnthropicServer::start([broken(), broken()]).unverified();

    let streamed = request_message(&server, &streamed("go")).await;
    let whole = request_message(&server, &prompt("go")).await;

    assert!(
        streamed.body.contains(r#""partial_json":"{\"command\": ""#),
        "{}",
        streamed.body
    );
    assert_eq!(whole.status, 418);
    assert_eq!(server.log().unanswered().len(), 1);
}

#[tokio::test]
#[should_panic(expected = "the last 1 of 2 turns were not requested")]
async fn a_turn_that_is_left_over_fails_the_test_on_drop() {
    let server = AnthropicServer::start([Turn::text("one"), Turn::text("two")]);
    request_message(&server, &prompt("go")).await;
}

#[tokio::test]
#[should_panic(expected = "UNANSWERED, the script ends after 0 turns")]
async fn a_request_without_an_answer_fails_the_test_on_drop() {
    let server = AnthropicServer::start(ModelScript::new::<Turn>([]));
    request_message(&server, &prompt("go")).await;
}
