//! Resumed conversations.

use std::fs;

use autonoe_claude::{ClaudeBackend, ConfigFolder};
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events};

async fn a_conversation_is_resumed_by_its_id(build: Build) {
    let script = ModelScript::new([
        Turn::text("I keep the word walnut."),
        Turn::text("The word was walnut."),
    ]);
    let fixture = Fixture::new(build, script);
    let persistent = fixture.folder.join("kept");
    fs::create_dir(&persistent).expect("it can be made");
    let mut options = fixture.options();
    options.config = ConfigFolder::Persistent(persistent.clone());
    let agents = ClaudeBackend::new(options);

    let mut first = agents.create(fixture.spec([])).expect("it can be made");
    let (events, error) = collect_events(first.as_mut(), "Keep the word walnut.").await;
    first.dispose().await.expect("it ends");
    assert!(error.is_none(), "{error:?} {events:?}");
    let Some(StreamEvent::Started { session, .. }) = events.first() else {
        panic!("{events:?}");
    };
    fixture.assert_nothing_is_left();

    let mut spec = fixture.spec([]);
    spec.resume = Some(session.clone());
    let mut second = agents.create(spec).expect("it can be made");
    let (events, error) = collect_events(second.as_mut(), "Which word was it?").await;
    second.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert!(
        events.contains(&StreamEvent::text("The word was walnut.")),
        "{events:?}"
    );
    let requests = fixture.server.log().main_requests();
    let messages = format!("{:?}", requests[1].messages);
    let places = [
        "Keep the word walnut.",
        "I keep the word walnut.",
        "Which word was it?",
    ]
    .map(|text| messages.find(text));
    assert!(places.iter().all(Option::is_some), "{messages}");
    assert!(places.is_sorted(), "{messages}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    assert!(persistent.exists());
}

on_newer_build![a_conversation_is_resumed_by_its_id];
