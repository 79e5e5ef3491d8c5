//! Results of our tools for the model, and the context of a tool's call.

use autonoe_core::StreamEvent;
use autonoe_core::tool::ToolStatus;
use autonoe_testkit::model_server::{ModelScript, Turn};
use autonoe_testkit::program::PhotoTool;
use serde_json::{Value, json};

use crate::fixture::{Fixture, collect_events};
use crate::model::autonoe_tool_call;

fn response(events: &[StreamEvent]) -> Option<(&str, ToolStatus)> {
    events.iter().find_map(|event| match event {
        StreamEvent::ToolResponse { output, status, .. } => Some((output.as_str(), *status)),
        _ => None,
    })
}

/// Calls the camera once, and returns the results that the model and the stream received.
async fn photo(input: Value) -> (Value, String, ToolStatus) {
    let fixture = Fixture::new(ModelScript::new([
        autonoe_tool_call("photo", &input),
        Turn::text("Seen."),
    ]));
    let mut client = fixture.client(fixture.spec([PhotoTool::new() as _]));

    let (events, error) = collect_events(client.as_mut(), "Take a photo.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let (output, status) = response(&events).unwrap_or_else(|| panic!("{events:?}"));
    let requests = fixture.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    let content = results[0].content.clone();
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    (content, output.to_owned(), status)
}

fn assert_has_picture(content: &Value) {
    let parts = content.as_array().expect("a list of parts");
    let url = parts.iter().find_map(|part| part["image_url"].as_str());
    let expected = format!("data:image/png;base64,{}", PhotoTool::BASE64);
    assert_eq!(url, Some(expected.as_str()), "{content}");
}

// Shows: framework/tools/result.attachments
#[tokio::test]
async fn a_picture_of_a_tool_reaches_the_model() {
    let (content, output, status) = photo(json!({})).await;

    assert_has_picture(&content);
    assert_eq!(content[0]["text"], "the photo is attached", "{content}");
    assert_eq!(status, ToolStatus::Ok, "{output}");
}

// Shows: framework/tools/result.attachments
#[tokio::test]
async fn a_picture_of_a_failed_call_reaches_the_model() {
    let (content, output, status) = photo(json!({"fails": true})).await;

    assert_has_picture(&content);
    assert_eq!(
        content[0]["text"], "the film is full after this photo",
        "{content}"
    );
    assert_eq!(status, ToolStatus::Error, "{output}");
}

// Shows: framework/tools/llm-assist-required-with-prompt
#[tokio::test]
async fn a_request_for_a_model_reaches_the_agent_with_its_prompt() {
    let (content, output, status) = photo(json!({"needs_model": true})).await;

    let text = content[0]["text"].as_str().or(content.as_str());
    let text = text.unwrap_or_default();
    for part in ["LLM_ASSIST_REQUIRED", "Describe the photo."] {
        assert!(text.contains(part), "{content}");
    }
    assert_eq!(status, ToolStatus::Error, "{output}");
}

// Shows: framework/tools/context-session-id-message-id, framework/tools/agent-name
// Shows: framework/tools/message-id
#[tokio::test]
async fn a_tool_gets_the_ids_of_its_call_and_turn() {
    let photo = || autonoe_tool_call("photo", &json!({}));
    let turns = [
        photo(),
        photo(),
        Turn::text("Two."),
        photo(),
        Turn::text("Three."),
    ];
    let fixture = Fixture::new(ModelScript::new(turns));
    let camera = PhotoTool::new();
    let spec = fixture.spec([camera.clone() as _]);
    let session = spec.key.clone();
    let mut client = fixture.client(spec);

    let mut events = Vec::new();
    for prompt in ["Take two.", "Take one more."] {
        let (turn_events, error) = collect_events(client.as_mut(), prompt).await;
        assert!(error.is_none(), "{error:?}");
        events.extend(turn_events);
    }
    client.dispose().await.expect("it ends");

    let invoked: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolInvocation { call_id, .. } => Some(call_id.as_str()),
            _ => None,
        })
        .collect();
    let contexts = camera.contexts();
    let called: Vec<_> = contexts
        .iter()
        .filter_map(|context| context.call_id.as_deref())
        .collect();
    assert_eq!(called.len(), 3);
    assert_eq!(called, invoked);
    let turns: Vec<_> = contexts
        .iter()
        .map(|context| context.message_id.as_deref().expect("the turn"))
        .collect();
    assert_eq!(turns[0], turns[1]);
    assert_ne!(turns[1], turns[2]);
    assert!(contexts.iter().all(|context| context.session == session));
    // Codex has no sub-agents in a session.
    assert!(contexts.iter().all(|context| context.agent.is_none()));
    fixture.assert_nothing_is_left();
}
