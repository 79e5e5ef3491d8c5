//! Results of our tools, which the agent calls over MCP.

use autonoe_testkit::model_server::{ModelScript, Turn};
use autonoe_testkit::program::PhotoTool;
use serde_json::{Value, json};

use super::{passing, planning, run_in};
use crate::fixture::Fixture;

fn photo(input: Value) -> Turn {
    Turn::tool("mcp_autonoe_photo", input)
}

/// Plays a run whose model takes two photos, one of which fails. Returns the tool results that the
/// model received.
async fn photos(fixture: &Fixture, camera: &std::sync::Arc<PhotoTool>) -> Vec<Value> {
    let camera = camera.clone();
    let run = run_in(fixture).configure(|run| run.tool(camera));
    let log = run.log();

    let (report, ended) = run.run().await;

    assert!(report.exit.is_success(), "{report} {ended:?}");
    log.json()
}

fn script() -> ModelScript {
    let photos = [photo(json!({})), photo(json!({"fails": true}))];
    ModelScript::new(photos.into_iter().chain(planning()).chain(passing()))
}

// Shows: framework/tools/call-ids-of-served-tools, framework/tools/message-id
#[tokio::test]
async fn a_served_tool_ends_with_its_title_and_code() {
    let fixture = Fixture::new(script());
    let camera = PhotoTool::new();

    let events = photos(&fixture, &camera).await;

    let ended: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "tool_ended")
        .filter(|event| event["tool"] == "mcp__autonoe__photo")
        .collect();
    let results: Vec<_> = ended
        .iter()
        .map(|event| json!([event["status"], event["title"], event["error"]]))
        .collect();
    assert_eq!(
        results,
        [
            json!(["ok", "Took a photo", null]),
            json!(["error", "Took the last photo", "FILM_FULL"]),
        ]
    );
    let contexts = camera.contexts();
    assert!(contexts.iter().all(|context| context.message_id.is_none()));
    let ids: Vec<_> = contexts
        .into_iter()
        .map(|context| json!(context.call_id))
        .collect();
    let ended_ids: Vec<_> = ended.iter().map(|event| event["callId"].clone()).collect();
    assert_eq!(ids, ended_ids);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

// Shows: framework/tools/result.attachments
#[tokio::test]
async fn a_picture_of_a_tool_reaches_the_model_and_that_of_a_failed_call_is_a_note() {
    let fixture = Fixture::new(script());

    photos(&fixture, &PhotoTool::new()).await;

    let requests = fixture.server.log().main_requests();
    let counts = [1, 2].map(|number| {
        let body = requests[number].raw.to_string();
        body.matches(PhotoTool::BASE64).count()
    });
    assert_eq!(counts, [1, 1], "the photo of the first call");
    let failed = requests[2].raw.to_string();
    assert!(
        failed.contains("[attached file photo.png (image/png)"),
        "{failed}"
    );
    fixture.assert_nothing_is_left();
}
