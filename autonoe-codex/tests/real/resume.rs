//! Resumed conversations.

use std::fs;
use std::sync::Arc;

use autonoe_codex::{CodexBackend, CodexHome};
use autonoe_core::agent::{AgentErrorKind, SessionField, TokenUsage};
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::{ModelScript, Turn};

use crate::fixture::{Fixture, collect_events};

/// The place of kept conversations.
#[derive(Clone, Copy, PartialEq)]
enum Keeper {
    /// A kept home folder.
    Home,
    /// The directory for conversations of a session.
    Session,
}

#[tokio::test]
async fn a_conversation_is_resumed_from_a_persistent_home_and_guarded_as_before() {
    resume(Keeper::Home).await;
}

#[tokio::test]
async fn a_conversation_is_resumed_from_its_directory_and_guarded_as_before() {
    resume(Keeper::Session).await;
}

async fn resume(keeper: Keeper) {
    let script = ModelScript::new([
        Turn::text("I keep the word walnut."),
        crate::model::shell("touch trace.txt"),
        Turn::text("The word was walnut."),
    ]);
    let fixture = match keeper {
        Keeper::Home => Fixture::new(script),
        Keeper::Session => Fixture::new(script).sandboxed(),
    };
    let (persistent, mut spec, mut options) = match keeper {
        Keeper::Home => (
            fixture.folder.join("kept"),
            fixture.spec([]),
            fixture.options(),
        ),
        Keeper::Session => {
            let directory = fixture.project().join(".autonoe/conversations/flow");
            let mut spec = fixture.spec([]);
            spec.conversations = Some(directory.clone());
            (directory.join("codex"), spec, fixture.options())
        }
    };
    if keeper == Keeper::Home {
        options.home = CodexHome::Persistent(persistent.clone());
    }
    let agents = CodexBackend::new(options);

    let mut first = agents.create(spec.clone()).expect("it can be made");
    let (events, error) = collect_events(first.as_mut(), "Keep the word walnut.").await;
    first.dispose().await.expect("it ends");
    assert!(error.is_none(), "{error:?} {events:?}");
    let Some(StreamEvent::Started { session, .. }) = events.first() else {
        panic!("{events:?}");
    };
    let spent = used(&events);
    fixture.assert_nothing_is_left();

    spec.gate = autonoe_core::gate::Gate::new(
        autonoe_core::gate::ProjectPaths::new(fixture.project()),
        autonoe_core::gate::Grants::none(),
    );
    spec.resume = Some(session.clone());
    let mut second = agents.create(spec).expect("it can be made");
    let (events, error) = collect_events(second.as_mut(), "Which word was it?").await;
    second.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    assert!(
        events.contains(&StreamEvent::text("The word was walnut.")),
        "{events:?}"
    );
    assert_eq!(
        events.first(),
        Some(&StreamEvent::started(
            session.clone(),
            Some("gpt-5.5".into())
        ))
    );
    assert!(!fixture.file("trace.txt").exists());
    // Two model calls with the same usage: earlier usage is not counted again.
    assert_eq!(used(&events).total(), 2 * spent.total(), "{events:?}");
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
    assert!(persistent.join("sessions").exists());
}

fn used(events: &[StreamEvent]) -> TokenUsage {
    let used = events.iter().filter_map(|event| match event {
        StreamEvent::Usage { tokens, .. } => Some(*tokens),
        _ => None,
    });
    used.fold(TokenUsage::default(), |sum, tokens| sum + tokens)
}

#[tokio::test]
async fn a_conversation_that_was_not_stored_is_not_resumed() {
    let fixture = Fixture::new(ModelScript::from_fn(|_| Turn::text("Hello."))).unverified();
    let mut spec = fixture.spec([]);
    spec.resume = Some(autonoe_core::time::AgentSessionId::new("gone"));
    let agents: Arc<dyn AgentClientFactory> = Arc::new(fixture.agents());

    let refused = agents.create(spec).expect_err("nothing was kept");

    assert_eq!(
        refused.kind(),
        AgentErrorKind::Unclaimed(SessionField::Resume)
    );
}

/// A later user of the folder, outside of the sandbox, would start what its configuration names.
#[tokio::test]
async fn an_agent_in_a_sandbox_cannot_write_the_configuration_of_a_persistent_folder() {
    // Not in the temporary folder, which is a different one in the sandbox.
    let persistent = tempfile::tempdir_in("/var/tmp").expect("a directory can be made");
    fs::write(persistent.path().join("auth.json"), "{}").expect("writable");
    fs::write(persistent.path().join("config.toml"), "# a person's").expect("writable");
    let place = persistent.path().display();
    let commands = [
        format!("echo evil > {place}/config.toml"),
        format!("rm -f {place}/config.toml"),
        format!("mkdir {place}/rules"),
        format!("mv {place}/sessions {place}/rules"),
    ];
    let script = commands
        .iter()
        .map(|command| crate::model::shell(command))
        .chain([Turn::text("That was all.")]);
    let fixture = Fixture::new(ModelScript::new(script)).sandboxed();
    let mut options = fixture.options();
    options.home = CodexHome::Persistent(persistent.path().into());
    let mut client = CodexBackend::new(options)
        .create(fixture.spec([]))
        .expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Do it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let mut names: Vec<_> = fs::read_dir(persistent.path())
        .expect("it is there")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["auth.json", "config.toml", "sessions"]);
    let config = fs::read_to_string(persistent.path().join("config.toml"));
    assert_eq!(config.expect("it is there"), "# a person's");
    let conversations = fs::read_dir(persistent.path().join("sessions")).expect("it is there");
    assert_eq!(conversations.count(), 1, "the conversation is kept");
    fixture.assert_nothing_is_left();
}
