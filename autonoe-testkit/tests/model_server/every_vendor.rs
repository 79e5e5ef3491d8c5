//! Common behaviour of the servers of all vendors: one script, one log, the same strictness.

use autonoe_testkit::model_server::{
    MainRequests, MessageStopReason, ModelScript, Refusal, ScriptedMessage, ServerAnswer, Turn,
};
use serde_json::json;

use crate::model_server::api::{ALL, Api, Delivery};
use crate::model_server::client::send;

#[tokio::test]
async fn one_script_is_played_by_every_vendor_with_and_without_a_stream() {
    let long = "I look around, in more than forty characters.";
    for api in ALL {
        for delivery in [Delivery::Whole, Delivery::Stream] {
            let script = ModelScript::new([Turn::text("one")])
                .then_fn(|prompt| Turn::text(format!("you said {}", prompt.user_texts()[0])))
                .then(ScriptedMessage::new().says(long).in_pieces_of(7));
            let server = api.start(script);

            let mut texts = Vec::new();
            for word in ["a", "b", "c"] {
                let response = api.request_message(&server, word, delivery).await;
                assert_eq!(response.status, 200, "{api:?}: {response:?}");
                texts.push(api.text(&response, delivery));
            }

            assert_eq!(texts, ["one", "you said b", long], "{api:?} {delivery:?}");
            server.verify();
        }
    }
}

#[tokio::test]
async fn log_contains_the_whole_request() {
    for api in ALL {
        let server = api.start([Turn::text("done")]);

        api.request_message(&server, "go", Delivery::Stream).await;

        let seen = server.log().exchanges().remove(0);
        assert_eq!((seen.number, seen.method.as_str()), (1, "POST"));
        assert_eq!(seen.path, api.path(Delivery::Stream));
        assert_eq!(seen.headers.get("user-agent"), Some("test/1"));
        assert_eq!(seen.headers.credential(), Some(api.credential().1));
        assert!(!format!("{seen:?}").contains("hunter2"), "{api:?}");
        assert_eq!(seen.answer, ServerAnswer::Turn(1));
        let request = server.log().main_requests().remove(0);
        assert_eq!(request.model, "x-1");
        assert!(request.stream, "{api:?}");
        assert_eq!(request.system_texts(), ["Be brief."]);
        assert_eq!(request.user_texts(), ["go"]);
        assert_eq!(request.tool("Bash").unwrap().input_schema["type"], "object");
        assert_eq!(request.raw, api.prompt("go", Delivery::Stream));
    }
}

#[tokio::test]
async fn a_request_after_the_last_turn_fails_loudly() {
    for api in ALL {
        let server = api.start([Turn::text("done")]).unverified();
        api.request_message(&server, "go", Delivery::Stream).await;

        let response = api
            .request_message(&server, "and now?", Delivery::Stream)
            .await;

        assert_eq!(response.status, 418, "{api:?}");
        assert_eq!(
            response.json()["error"]["message"],
            "the scripted model server has no answer: the script ends after 1 turns"
        );
        assert_eq!(server.problems().len(), 1);
    }
}

#[tokio::test]
async fn a_body_that_is_no_request_is_unanswered_and_takes_no_turn() {
    for api in ALL {
        let server = api.start([Turn::text("done")]).unverified();

        let response = api.send(&server, &json!({}), Delivery::Stream).await;

        assert_eq!(response.status, 418, "{api:?}");
        assert_eq!(server.log().unanswered().len(), 1);
        assert_eq!(
            api.request_message(&server, "go", Delivery::Whole)
                .await
                .status,
            200
        );
    }
}

#[tokio::test]
async fn a_path_that_the_vendor_does_not_have_is_not_found_and_takes_no_turn() {
    for (api, method, path) in [
        (Api::Messages, "POST", "/v1/responses"),
        (Api::Responses, "POST", "/v1/messages"),
        (Api::Responses, "GET", "/v1/responses"),
        (Api::Chat, "GET", "/v1/chat/completions"),
        (Api::Gemini, "POST", "/v1/responses"),
        (Api::Gemini, "GET", "/v1beta/models/x-1:generateContent"),
        (Api::Gemini, "POST", "/v1beta/models/x-1:embedContent"),
        (Api::Gemini, "POST", "/v1beta/models/x-1"),
    ] {
        let server = api.start([Turn::text("done")]);

        let response = send(&server, method, path, "{}").await;

        assert_eq!(response.status, 404, "{api:?} {path}");
        let message = format!("the scripted model server has no {method} {path}");
        assert_eq!(response.json()["error"]["message"], message.as_str());
        let seen = server.log().exchanges().remove(0);
        assert_eq!(seen.answer, ServerAnswer::NotFound, "{api:?} {path}");
        assert_eq!(
            api.request_message(&server, "go", Delivery::Whole)
                .await
                .status,
            200
        );
    }
}

#[tokio::test]
async fn a_request_without_tools_is_a_side_request_unless_all_are_main() {
    for api in ALL {
        let mut title = api.prompt("A title, please.", Delivery::Whole);
        title.as_object_mut().unwrap().remove("tools");
        let script = || ModelScript::new([Turn::text("done")]);

        let strict = api.start(script().with_side_answer(Turn::text("A title")));
        let response = api.send(&strict, &title, Delivery::Whole).await;
        assert_eq!(api.text(&response, Delivery::Whole), "A title", "{api:?}");
        assert_eq!(strict.log().exchanges()[0].answer, ServerAnswer::Side);
        api.request_message(&strict, "go", Delivery::Whole).await;

        let all = api.start(script().with_main_requests(MainRequests::All));
        let response = api.send(&all, &title, Delivery::Whole).await;
        assert_eq!(api.text(&response, Delivery::Whole), "done", "{api:?}");
    }
}

#[tokio::test]
async fn unsupported_content_leaves_request_unanswered() {
    let paused = || {
        ScriptedMessage::new()
            .says("hm")
            .stops(MessageStopReason::PauseTurn)
    };
    let signed = || ScriptedMessage::new().says("hm").signed("c2ln");
    let broken = || ScriptedMessage::new().uses_tool_with_text("Bash", "{broken");
    for (api, message, reason) in [
        (Api::Responses, paused(), "the Responses API does not pause"),
        (Api::Chat, paused(), "Chat Completions do not pause"),
        (Api::Gemini, paused(), "Gemini does not pause"),
        (
            Api::Messages,
            signed(),
            "the Messages API signs thinking only",
        ),
        (
            Api::Responses,
            signed(),
            "the Responses API encrypts reasoning only",
        ),
        (Api::Chat, signed(), "Chat Completions sign nothing"),
        (
            Api::Gemini,
            broken(),
            "Gemini sends JSON, and the input of Bash is text",
        ),
    ] {
        for delivery in [Delivery::Whole, Delivery::Stream] {
            let server = api.start([message.clone()]).unverified();

            let response = api.request_message(&server, "go", delivery).await;

            assert_eq!(response.status, 418, "{api:?} {delivery:?}");
            let unanswered = server.log().unanswered();
            assert_eq!(unanswered[0].unanswered(), Some(reason), "{delivery:?}");
        }
    }
}

#[test]
fn a_turn_that_is_left_over_fails_the_test_on_drop() {
    for api in ALL {
        let server = api.start([Turn::from(Refusal::overloaded())]);

        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(server)));

        let panic = dropped.expect_err("it is strict");
        let message = panic.downcast_ref::<String>().unwrap();
        let problem = "the last 1 of 1 turns were not requested";
        assert!(message.contains(problem), "{api:?}: {message}");
    }
}
