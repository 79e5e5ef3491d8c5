//! Results of our tools for the model, and the context of a tool's call.

use std::sync::Arc;

use autonoe_core::StreamEvent;
use autonoe_core::gate::{Gate, ProjectPaths};
use autonoe_testkit::model_server::{ModelScript, PromptToolResult, Turn};
use autonoe_testkit::program::PhotoTool;
use serde_json::{Value, json};

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, collect_events};

/// Calls the camera once. Returns the result that the model received, and the events of the stream.
async fn photo(
    build: Build,
    camera: &Arc<PhotoTool>,
    input: Value,
) -> (PromptToolResult, Vec<StreamEvent>) {
    let turns = [
        Turn::tool("mcp__autonoe__photo", input),
        Turn::text("Seen."),
    ];
    let fixture = Fixture::new(build, ModelScript::new(turns));
    let mut client = fixture.client(fixture.spec([camera.clone() as _]));

    let (events, error) = collect_events(client.as_mut(), "Take a photo.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let requests = fixture.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    let result = results[0].clone();
    fixture.server.verify();
    (result, events)
}

// Shows: framework/tools/result.attachments
async fn a_picture_of_a_tool_reaches_the_model(build: Build) {
    let (result, _) = photo(build, &PhotoTool::new(), json!({})).await;

    let parts = result.content.as_array().expect("a list of parts");
    let picture = parts.iter().find(|part| part["type"] == "image");
    let source = &picture.unwrap_or_else(|| panic!("{parts:?}"))["source"];
    assert_eq!(
        (&source["media_type"], &source["data"]),
        (&json!("image/png"), &json!(PhotoTool::BASE64))
    );
}

// Shows: framework/tools/pictures-of-failures
/// The API of the model accepts only text in a failed result.
async fn a_failed_call_names_its_picture(build: Build) {
    let (result, _) = photo(build, &PhotoTool::new(), json!({"fails": true})).await;

    let text = &result.text;
    assert!(result.is_error, "{text}");
    assert!(text.contains("the film is full after this photo"), "{text}");
    assert!(text.contains("photo.png"), "{text}");
}

// Shows: framework/tools/llm-assist-required-with-prompt
async fn a_request_for_a_model_reaches_the_agent_with_its_prompt(build: Build) {
    let (result, _) = photo(build, &PhotoTool::new(), json!({"needs_model": true})).await;

    let text = &result.text;
    assert!(result.is_error, "{text}");
    for part in ["LLM_ASSIST_REQUIRED", "Describe the photo."] {
        assert!(text.contains(part), "{text}");
    }
}

// Shows: framework/tools/context-session-id-message-id
async fn a_tool_gets_the_ids_of_its_call_and_turn(build: Build) {
    let camera = PhotoTool::new();

    let (_, events) = photo(build, &camera, json!({})).await;

    let contexts = camera.contexts();
    assert_eq!(contexts.len(), 1);
    let invoked = events.iter().find_map(|event| match event {
        StreamEvent::ToolInvocation { call_id, .. } => Some(call_id.as_str()),
        _ => None,
    });
    assert!(invoked.is_some(), "{events:?}");
    assert_eq!(contexts[0].call_id.as_deref(), invoked);
    assert!(contexts[0].message_id.is_some(), "{contexts:?}");
    assert_eq!(contexts[0].agent, None);
}

/// Marks the prompt of the sub-agent.
const ASSIGNMENT: &str = "Photograph the garden.";

// Shows: framework/tools/context-session-id-message-id
async fn a_tool_knows_the_sub_agent_that_calls_it(build: Build) {
    let camera = PhotoTool::new();
    let script = ModelScript::from_fn(|prompt| {
        let is_sub_agent = prompt
            .user_texts()
            .iter()
            .any(|text| text.contains(ASSIGNMENT));
        match (is_sub_agent, prompt.tool_results().is_empty()) {
            (true, true) => Turn::tool("mcp__autonoe__photo", json!({})),
            (false, true) => Turn::tool(
                "Agent",
                json!({
                    "description": "take a photo",
                    "prompt": ASSIGNMENT,
                    "subagent_type": "general-purpose",
                }),
            ),
            _ => Turn::text("Seen."),
        }
    });
    let fixture = Fixture::new(build, script);
    let mut spec = fixture.spec([camera.clone() as _]);
    let agent = "Agent".parse().expect("a rule");
    let grants = spec.gate.grants().clone().with_rules([agent]);
    spec.gate = Gate::new(ProjectPaths::new(fixture.project()), grants);
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Delegate it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let contexts = camera.contexts();
    assert_eq!(contexts.len(), 1, "{events:?}");
    assert_eq!(contexts[0].agent.as_deref(), Some("general-purpose"));
    assert!(contexts[0].call_id.is_some(), "{contexts:?}");
}

on_both_builds!(
    a_picture_of_a_tool_reaches_the_model,
    a_failed_call_names_its_picture,
    a_request_for_a_model_reaches_the_agent_with_its_prompt,
    a_tool_gets_the_ids_of_its_call_and_turn,
    a_tool_knows_the_sub_agent_that_calls_it,
);
