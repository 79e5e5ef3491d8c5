//! Tests of requests and connections.

use std::time::Duration;

use autonoe_model::ModelRequest;
use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_testkit::model_server::Ending;
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, FaultPosition, MainRequests, ModelScript, ScriptedMessage, StreamFault, Turn,
};
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

use crate::providers::raw_server::{ENDED, MESSAGE_START, RawServer, stream};
use crate::providers::support::{KEY, anthropic, call, model};

fn hello() -> ModelRequest {
    ModelRequest::prompt("Hello.")
}

fn script(turns: impl IntoIterator<Item = Turn>) -> ModelScript {
    ModelScript::new(turns).with_main_requests(MainRequests::All)
}

#[tokio::test]
async fn a_request_is_json_with_a_key_and_the_headers_of_the_caller() {
    let answer = || vec![stream(&format!("{MESSAGE_START}{ENDED}"))];
    let server = RawServer::start([answer()]).await;
    let spec = provider_spec(&json!({
        "type": "anthropic",
        "baseUrl": format!("{}/gateway/", server.url()),
        "headers": {
            "X-Team": "blue",
            "anthropic-version": "2099-01-01",
            "x-gateway-key": {"env": "GATEWAY_KEY"},
            "x-none": "none",
            "x-unset": {"env": "UNSET_IS_AN_ERROR"},
        },
    }))
    .expect("a spec");
    let context = |unset: &str| {
        ProviderContext::new("a").with_environment([
            ("ANTHROPIC_API_KEY".into(), KEY.into()),
            ("GATEWAY_KEY".into(), "gw-1".into()),
            (unset.into(), "set".into()),
        ])
    };
    let error = spec.build(&context("OTHER")).expect_err("it is not set");
    assert!(error.message.contains("UNSET_IS_AN_ERROR"), "{error}");
    let provider = spec
        .build(&context("UNSET_IS_AN_ERROR"))
        .expect("it builds");

    call(&provider.model("model-x").expect("a model"), &hello())
        .await
        .1
        .expect("it answers");

    let [request] = server.requests().try_into().expect("one request");
    assert!(
        request
            .head
            .starts_with("POST /gateway/v1/messages HTTP/1.1\r\n"),
        "{}",
        request.head
    );
    let agent = concat!("autonoe/", env!("CARGO_PKG_VERSION"));
    for (name, value) in [
        ("content-type", Some("application/json")),
        ("accept", Some("text/event-stream")),
        ("accept-encoding", Some("identity")),
        ("user-agent", Some(agent)),
        ("x-api-key", Some(KEY)),
        ("x-team", Some("blue")),
        ("x-gateway-key", Some("gw-1")),
        // The caller's header wins.
        ("anthropic-version", Some("2099-01-01")),
        // As a text, it is a literal value.
        ("x-none", Some("none")),
    ] {
        assert_eq!(request.header(name), value, "{name}");
    }
    let body: Value = serde_json::from_str(&request.body).expect("JSON");
    assert_eq!(body["model"], "model-x");
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = RawServer::once([stream(&format!("{MESSAGE_START}{ENDED}"))]).await;
    let model = model("anthropic", &server.url(), &json!({"key": "none"}));

    call(&model, &hello()).await.1.expect("it answers");

    assert_eq!(server.requests()[0].header("x-api-key"), None);
}

#[tokio::test]
async fn a_connection_serves_one_call_after_the_other() {
    let answer = || vec![stream(&format!("{MESSAGE_START}{ENDED}"))];
    let server = RawServer::start([answer(), answer(), answer()]).await;
    let model = anthropic(&server.url());

    for _ in 0..3 {
        call(&model, &hello()).await.1.expect("it answers");
    }

    let connections: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.connection)
        .collect();
    assert_eq!(connections, [0, 0, 0]);
}

#[tokio::test]
async fn request_is_sent_only_when_polled() {
    let answer = || vec![stream(&format!("{MESSAGE_START}{ENDED}"))];
    let server = RawServer::start([answer(), answer()]).await;
    let model = anthropic(&server.url());

    let ignored = model.stream(&ModelRequest::prompt("Ignore me."));
    call(&model, &hello()).await.1.expect("it answers");
    drop(ignored);
    call(&model, &hello()).await.1.expect("it answers");

    let requests = server.requests();
    let ignored = requests
        .iter()
        .filter(|request| request.body.contains("Ignore"));
    assert_eq!((requests.len(), ignored.count()), (2, 0));
}

#[tokio::test]
async fn several_calls_run_concurrently() {
    let server = AnthropicServer::start(
        ModelScript::from_fn(|request| {
            Turn::text(request.user_texts().concat()).after(Duration::from_millis(20))
        })
        .with_main_requests(MainRequests::All),
    );
    let model = anthropic(&server.url());

    let calls = (0..20).map(|number| {
        let model = model.clone();
        async move {
            call(&model, &ModelRequest::prompt(format!("number {number}")))
                .await
                .1
        }
    });
    let replies = futures::future::join_all(calls).await;

    for (number, reply) in replies.into_iter().enumerate() {
        let text = reply.expect("it answers").message.to_text();
        assert_eq!(text, format!("number {number}"));
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_call() {
    let silent = Turn::hang();
    let pausing = ScriptedMessage::new()
        .says("One moment.")
        .breaks(FaultPosition::InBlock(0), StreamFault::Hang);
    for (number, turn) in [silent, pausing.into()].into_iter().enumerate() {
        let server = AnthropicServer::start(script([turn]));
        let model = anthropic(&server.url());
        let mut stream = model.stream(&hello());

        // The first call is silent, the second has sent a word.
        let waited = tokio::time::timeout(Duration::from_secs(60), async {
            match number {
                0 => loop {
                    assert!(stream.next().now_or_never().is_none(), "it says nothing");
                    if !server.log().exchanges().is_empty() {
                        break;
                    }
                    tokio::task::yield_now().await;
                },
                _ => assert!(matches!(stream.next().await, Some(Ok(_)))),
            }
        });
        waited.await.expect("the request is under way");
        drop(stream);

        let left = server.log().wait_for(Duration::from_secs(60), |seen| {
            seen.ending == Some(Ending::PeerLeft)
        });
        left.await.expect("the server sees that nobody listens");
    }
}
