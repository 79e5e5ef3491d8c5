//! Results of our tools: what the model receives, and what a tool knows of its call.

use autonoe_core::StreamEvent;
use autonoe_testkit::model_server::{Script, Turn};
use autonoe_testkit::program::Camera;
use serde_json::{Value, json};

use crate::build::{Build, on_both_builds};
use crate::setting::{Setting, events_of};

fn photo(input: Value) -> Turn {
    Turn::tool("mcp__autonoe__photo", input)
}

// Shows: framework/tools/result.attachments, framework/tools/context-session-id-message-id
async fn a_picture_of_a_tool_reaches_the_model(build: Build) {
    let setting = Setting::new(build, Script::new([photo(json!({})), Turn::text("Seen.")]));
    let camera = Camera::new();
    let mut client = setting.client(setting.spec([camera.clone() as _]));

    let (events, error) = events_of(client.as_mut(), "Take a photo.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let requests = setting.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    let parts = results[0].content.as_array().expect("a list of parts");
    let picture = parts.iter().find(|part| part["type"] == "image");
    let source = &picture.unwrap_or_else(|| panic!("{parts:?}"))["source"];
    assert_eq!(
        (&source["media_type"], &source["data"]),
        (&json!("image/png"), &json!(Camera::BASE64))
    );
    let [context] = camera.contexts().try_into().expect("one call");
    let invoked = events.iter().find_map(|event| match event {
        StreamEvent::ToolInvocation { call_id, .. } => Some(call_id.as_str()),
        _ => None,
    });
    assert_eq!(context.call_id.as_deref(), invoked);
    assert!(context.message_id.is_some(), "{context:?}");
    setting.server.verify();
}

/// The API of the model accepts only text in a failed result.
async fn a_failed_call_names_its_picture(build: Build) {
    let turns = [photo(json!({"fails": true})), Turn::text("Seen.")];
    let setting = Setting::new(build, Script::new(turns));
    let mut client = setting.client(setting.spec([Camera::new() as _]));

    let (_, error) = events_of(client.as_mut(), "Take a photo.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let requests = setting.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    let (text, is_error) = (&results[0].text, results[0].is_error);
    assert!(is_error, "{text}");
    assert!(text.contains("the film is full after this photo"), "{text}");
    assert!(text.contains("photo.png"), "{text}");
    setting.server.verify();
}

on_both_builds!(
    a_picture_of_a_tool_reaches_the_model,
    a_failed_call_names_its_picture,
);
