//! Conversations that are resumed in another session.

use std::time::Duration;

use autonoe_acp::{AcpBackend, HomeFolder};
use autonoe_core::agent::{AgentErrorKind, OuterSandbox, Sandbox, SessionField, SessionOutcome};
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::{ModelScript, Turn};

use crate::fixture::{Fixture, collect_events, within};

#[tokio::test]
async fn a_resumed_conversation_does_not_repeat_its_history() {
    let fixture = Fixture::new(ModelScript::new([
        Turn::text("First."),
        Turn::text("Second."),
    ]));
    let mut options = fixture.options();
    options.home = HomeFolder::Persistent(fixture.folder.join("home"));
    options.history_limit = Duration::from_secs(10);
    let agents = AcpBackend::new(options);
    let mut client = agents.create(fixture.spec()).expect("it can be made");
    let (events, _) = collect_events(client.as_mut(), "Remember the sunflower.").await;
    within(client.dispose()).await.expect("it ends");
    let Some(StreamEvent::Started { session, .. }) = events.first() else {
        panic!("{events:?}");
    };
    let mut spec = fixture.spec();
    spec.resume = Some(session.clone());

    let mut client = agents.create(spec).expect("it can be made");
    let (events, error) = collect_events(client.as_mut(), "What was it?").await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["Second."], "{events:?}");
    assert_eq!(
        events.last(),
        Some(&StreamEvent::end(SessionOutcome::Completed, None))
    );
    let requests = fixture.server.log().main_requests();
    let prompt = requests
        .last()
        .expect("there are some")
        .user_texts()
        .concat();
    assert!(prompt.contains("sunflower"), "{prompt}");
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_conversation_is_resumed_twice_within_a_minute_from_its_directory() {
    let answers = ["First.", "Second.", "Third."].map(Turn::text);
    let fixture = Fixture::new(ModelScript::new(answers));
    let agents = fixture.agents();
    let mut spec = fixture.spec();
    spec.sandbox = Sandbox::Required;
    spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    spec.conversations = Some(fixture.project().join(".autonoe/conversations/flow"));
    for prompt in ["Remember the sunflower.", "And the tulip.", "What was it?"] {
        let mut client = agents.create(spec.clone()).expect("it can be made");
        let (events, error) = collect_events(client.as_mut(), prompt).await;
        within(client.dispose()).await.expect("it ends");

        assert!(error.is_none(), "{error:?}");
        let Some(StreamEvent::Started { session, .. }) = events.first() else {
            panic!("{events:?}");
        };
        spec.resume = Some(session.clone());
    }

    let requests = fixture.server.log().main_requests();
    let last = requests.last().expect("there are some");
    let prompt = last.user_texts().concat();
    for word in ["sunflower", "tulip", "What was it?"] {
        assert!(prompt.contains(word), "{word}: {prompt}");
    }
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn resuming_without_a_persistent_home_is_refused() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let mut spec = fixture.spec();
    spec.resume = Some(autonoe_core::time::AgentSessionId::new("some"));

    let error = fixture.agents().create(spec).expect_err("it cannot");

    assert_eq!(
        error.kind(),
        AgentErrorKind::Unclaimed(SessionField::Resume)
    );
}
