//! Tests of resumed conversations.

use std::path::Path;

use autonoe_core::agent::{AgentErrorKind, SessionField, SessionOutcome};
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentClientFactory, Budget, SessionSpec, StreamEvent};
use autonoe_model::contract::AssistantMessage;
use autonoe_model::{Message, ModelError, ModelErrorCode, ModelRequest};
use serde_json::json;

use crate::agent::fixture::{
    Answer, ScriptedModel, Turn, agents, calls, echo, spec, text_reply, turn_in, turn_of,
};

fn in_directory(directory: &Path, resume: Option<AgentSessionId>) -> SessionSpec {
    let mut spec = spec(Budget::default());
    spec.conversations = Some(directory.to_owned());
    spec.resume = resume;
    spec
}

fn id_of(turn: &Turn) -> AgentSessionId {
    match turn.events.first() {
        Some(StreamEvent::Started { session, .. }) => session.clone(),
        other => panic!("{other:?}"),
    }
}

fn users(request: &ModelRequest) -> Vec<&str> {
    let texts = request.messages.iter().filter_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_conversation_is_resumed_by_another_session_with_calls_and_instructions() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = ScriptedModel::new([
        calls(&[("1", "Echo", json!({"text": "green"}))]),
        text_reply("It is green."),
        text_reply("Still green."),
    ]);
    let agents = agents(&model, [echo()], |_| {});

    let first = turn_in(&agents, in_directory(dir.path(), None), "Which colour?").await;
    let resumed = in_directory(dir.path(), Some(id_of(&first)));
    let second = turn_in(&agents, resumed, "And now?").await;

    assert_eq!(id_of(&second), id_of(&first));
    assert_eq!(second.texts(), ["Still green."]);
    let requests = model.requests();
    let (before, added) = requests[2].messages.split_at(3);
    assert_eq!(before, requests[1].messages);
    let answer = Message::from(AssistantMessage::text("It is green."));
    assert_eq!(added, [answer, Message::user("And now?")]);
}

#[tokio::test]
async fn all_turns_of_a_session_have_one_id_and_can_be_resumed() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = ScriptedModel::new([text_reply("1"), text_reply("2"), text_reply("3")]);
    let agents = agents(&model, [], |_| {});
    let mut client = agents
        .create(in_directory(dir.path(), None))
        .expect("it can be made");

    let first = turn_of(client.as_mut(), "one").await;
    let second = turn_of(client.as_mut(), "two").await;
    client.dispose().await.expect("it ends");
    let resumed = in_directory(dir.path(), Some(id_of(&first)));
    turn_in(&agents, resumed, "three").await;

    assert_eq!(id_of(&first), id_of(&second));
    assert_eq!(users(&model.requests()[2]), ["one", "two", "three"]);
}

#[tokio::test]
async fn a_conversation_with_a_failed_last_turn_is_resumed() {
    let dir = tempfile::tempdir().expect("a directory");
    let failure = ModelError::new(ModelErrorCode::AuthenticationError, "no");
    let model = ScriptedModel::new([
        calls(&[("1", "Echo", json!({"text": "x"}))]),
        Answer::Fails(failure),
        text_reply("Done."),
    ]);
    let agents = agents(&model, [echo()], |_| {});

    let first = turn_in(&agents, in_directory(dir.path(), None), "Do it.").await;
    let resumed = in_directory(dir.path(), Some(id_of(&first)));
    let second = turn_in(&agents, resumed, "Go on.").await;

    assert_ne!(first.outcome(), Some(&SessionOutcome::Completed));
    assert_eq!(second.outcome(), Some(&SessionOutcome::Completed));
    assert_eq!(users(&model.requests()[2]), ["Do it.", "Go on."]);
}

#[tokio::test]
async fn without_a_directory_a_conversation_is_not_resumed() {
    let agents = agents(&ScriptedModel::new([]), [], |_| {});
    let mut spec = spec(Budget::default());
    spec.resume = Some(AgentSessionId::new("model-1"));

    let refused = agents.create(spec).expect_err("refused");

    assert_eq!(
        refused.kind(),
        AgentErrorKind::Unclaimed(SessionField::Resume)
    );
}

#[tokio::test]
async fn a_lost_conversation_fails_the_turn_without_a_request() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = ScriptedModel::new([]);
    let agents = agents(&model, [], |_| {});
    let lost = in_directory(dir.path(), Some(AgentSessionId::new("model-1")));

    let turn = turn_in(&agents, lost, "And now?").await;

    let error = turn.error.expect("it fails");
    assert!(error.is_retryable(), "{error}");
    assert!(error.to_string().contains("model-1"), "{error}");
    assert_eq!(turn.events, [], "a start would say that it was resumed");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_conversation_that_cannot_be_saved_is_a_warning() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    let model = ScriptedModel::new([text_reply("Hello.")]);
    let agents = agents(&model, [], |_| {});

    let turn = turn_in(&agents, in_directory(&file, None), "Hello?").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    let warnings = turn.warnings();
    assert!(
        warnings[0].starts_with("the conversation cannot be resumed later"),
        "{warnings:?}"
    );
}
