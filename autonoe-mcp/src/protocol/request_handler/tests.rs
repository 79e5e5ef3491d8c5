//! Tests of the request handler: versions, errors, calls, progress and cancellation.

use std::sync::Mutex;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode};
use autonoe_core::{RunId, Tool, ToolContext, ToolError, ToolOutput};
use proptest::prelude::*;
use tokio::sync::Notify;

use super::*;
use crate::protocol::message::parse_message;

/// Tool that behaves as its input requests.
struct Probe {
    definition: ToolDefinition,
    started: Arc<Notify>,
}

#[async_trait]
impl Tool for Probe {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        match input["do"].as_str().unwrap_or_default() {
            "answer" => Ok(ToolOutput::new("done")),
            "progress" => {
                context.progress("one");
                context.progress("two");
                Ok(ToolOutput::new("done"))
            }
            "wait" => {
                self.started.notify_one();
                std::future::pending().await
            }
            "panic" => panic!("as requested"),
            _ => Err(ToolError::new(
                ToolErrorCode::NOT_FOUND,
                "there is no such thing",
            )),
        }
    }
}

struct Fixture {
    handler: Arc<RequestHandler>,
    calls: Arc<Calls>,
    started: Arc<Notify>,
}

impl Fixture {
    fn new() -> Self {
        let started = Arc::new(Notify::new());
        let schema = json!({
            "type": "object",
            "properties": {"do": {"type": "string"}},
            "required": ["do"],
        });
        let probe = Probe {
            definition: ToolDefinition::new("probe", "Does it.", schema),
            started: started.clone(),
        };
        let session = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let tools = Toolbox::new([Arc::new(probe) as Arc<dyn Tool>]);
        Self {
            handler: Arc::new(RequestHandler::new(session, tools)),
            calls: Arc::default(),
            started,
        }
    }

    fn handle(&self, message: &Value) -> Reply {
        let incoming = parse_message(message.to_string().as_bytes()).expect("it is a message");
        self.handler.handle(&self.calls, incoming)
    }

    fn call(&self, params: &Value) -> Call {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        match self.handle(&message) {
            Reply::Call(call) => *call,
            _ => panic!("no call came of {message}"),
        }
    }
}

fn request(method: &str, params: &Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    match Fixture::new().handle(&message) {
        Reply::Answer(answer) => answer,
        Reply::Nothing => panic!("there is no answer to {method}"),
        Reply::Call(_) => panic!("{method} is no call"),
    }
}

#[test]
fn known_protocol_versions_are_accepted_and_others_get_the_latest() {
    for (requested, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("next", "2025-11-25"),
    ] {
        let answer = request("initialize", &json!({"protocolVersion": requested}));

        assert_eq!(
            answer["result"],
            json!({
                "protocolVersion": agreed,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "autonoe", "version": env!("CARGO_PKG_VERSION")},
            })
        );
    }
}

#[test]
fn unanswerable_requests_have_error_codes() {
    for (method, params, code) in [
        ("initialize", json!({}), -32602),
        ("resources/list", json!({}), -32601),
        ("server/discover", json!({}), -32601),
        ("tools/list", json!({"cursor": "2"}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 1}), -32602),
        (
            "tools/call",
            json!({"name": "probe", "arguments": []}),
            -32602,
        ),
    ] {
        let answer = request(method, &params);

        assert_eq!(answer["error"]["code"], json!(code), "{method} {params}");
    }
}

#[test]
fn tools_are_listed_and_a_ping_is_answered() {
    let list = request("tools/list", &json!({}));
    let ping = request("ping", &json!({}));

    assert_eq!(list["result"]["tools"][0]["name"], json!("probe"));
    assert_eq!(list["result"].as_object().map(|page| page.len()), Some(1));
    assert_eq!(ping["result"], json!({}));
}

#[tokio::test]
async fn a_call_is_answered_by_the_toolbox() {
    for (params, text, is_error) in [
        (
            json!({"name": "probe", "arguments": {"do": "answer"}}),
            "done",
            false,
        ),
        (
            json!({"name": "probe", "arguments": {"do": "fail"}}),
            "NOT_FOUND: there is no such thing",
            true,
        ),
        (
            json!({"name": "probe"}),
            "VALIDATION_ERROR: the arguments of probe do not match its schema: \"do\" is a \
             required property",
            true,
        ),
        (
            json!({"name": "probe", "arguments": {"do": "panic"}}),
            "UNKNOWN: the tool probe failed because of an internal error",
            true,
        ),
    ] {
        let fixture = Fixture::new();

        let answer = fixture.call(&params).run(|_| ()).await;

        let result = answer.expect("it is answered")["result"].take();
        assert_eq!(result["content"][0]["text"], json!(text));
        assert_eq!(result["isError"], json!(is_error));
        assert!(fixture.calls.is_idle());
    }
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_an_error_of_the_protocol() {
    let call = Fixture::new().call(&json!({"name": "prob"}));

    let answer = call.run(|_| ()).await.expect("it is answered");

    assert_eq!(answer["error"]["code"], json!(-32602));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("known tools are: probe"), "{message}");
}

#[tokio::test]
async fn progress_is_sent_to_clients_that_request_it() {
    for (meta, expected_count) in [(json!({"progressToken": 7}), 2), (json!({"other": 1}), 0)] {
        let notes: Arc<Mutex<Vec<Value>>> = Arc::default();
        let keep = notes.clone();
        let arguments = json!({"do": "progress"});
        let call =
            Fixture::new().call(&json!({"name": "probe", "arguments": arguments, "_meta": meta}));

        let answer = call
            .run(move |note| keep.lock().expect("not poisoned").push(note))
            .await;

        assert!(answer.is_some());
        let notes = notes.lock().expect("not poisoned");
        assert_eq!(notes.len(), expected_count);
        assert!(
            notes
                .iter()
                .all(|note| note["params"]["progressToken"] == json!(7))
        );
    }
}

#[tokio::test]
async fn a_call_that_its_client_cancels_ends_without_an_answer() {
    let fixture = Fixture::new();
    let call = fixture.call(&json!({"name": "probe", "arguments": {"do": "wait"}}));
    let answer = tokio::spawn(call.run(|_| ()));
    fixture.started.notified().await;

    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "enough"}});
    assert!(matches!(fixture.handle(&cancel), Reply::Nothing));

    assert_eq!(answer.await.expect("it ends"), None);
    assert!(fixture.calls.is_idle());
}

#[tokio::test]
async fn a_call_is_notified_when_the_session_ends() {
    let fixture = Fixture::new();
    let call = fixture.call(&json!({"name": "probe", "arguments": {"do": "wait"}}));
    let answer = tokio::spawn(call.run(|_| ()));
    fixture.started.notified().await;

    fixture.handler.close();

    let answer = answer.await.expect("it ends").expect("it is answered");
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    assert!(text.starts_with("CANCELLED"), "{text}");
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/_]{0,12}".prop_map(Value::from),
        Just(json!("tools/call")),
        Just(json!("probe")),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let name = prop_oneof![
            "[a-z]{1,8}",
            Just("name".to_owned()),
            Just("arguments".to_owned()),
            Just("_meta".to_owned()),
            Just("progressToken".to_owned()),
            Just("requestId".to_owned()),
            Just("protocolVersion".to_owned()),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_request_is_answered_with_its_id(
        method in prop_oneof![
            Just("initialize".to_owned()), Just("ping".to_owned()), Just("tools/list".to_owned()),
            Just("tools/call".to_owned()), "[a-z/]{0,20}",
        ],
        id in prop_oneof![any::<i64>().prop_map(Value::from), "[a-z]{0,4}".prop_map(Value::from)],
        params in anything(),
    ) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let fixture = Fixture::new();
        let answer = match parse_message(message.to_string().as_bytes()) {
            Err(refusal) => refusal,
            Ok(incoming) => match fixture.handler.handle(&fixture.calls, incoming) {
                Reply::Answer(answer) => answer,
                Reply::Nothing => return Err(TestCaseError::fail("no answer")),
                Reply::Call(call) => {
                    let answer = futures::executor::block_on(call.run(|_| ()));
                    answer.expect("it was not cancelled")
                }
            },
        };
        prop_assert_eq!(&answer["id"], &id);
        prop_assert!(answer.get("result").is_some() != answer.get("error").is_some());
    }
}
