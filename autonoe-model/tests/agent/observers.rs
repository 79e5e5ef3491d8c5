//! Tests of events about the model.

use std::sync::{Arc, Mutex};

use autonoe_core::agent::ModelPart;
use autonoe_core::event::Events;
use autonoe_core::time::SeededIds;
use autonoe_core::{AgentClientFactory, Budget, RunEvent, RunEventKind, RunObserver};
use autonoe_model::{ModelError, ModelErrorCode};
use autonoe_testkit::VirtualClock;

use crate::agent::fixture::{Answer, ScriptedModel, agents, spec, text_reply, turn_of, used};

#[tokio::test(start_paused = true)]
async fn each_call_of_a_model_has_a_place_below_the_session_and_one_end() {
    let failed = ModelError::new(ModelErrorCode::NetworkError, "cut off").with_usage(used(3));
    let model = ScriptedModel::new([Answer::Fails(failed), text_reply("Hello.")]);
    let agents = agents(&model, [], |_| {});
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
        let summary = match &event.kind {
            RunEventKind::ModelStarted { request } => {
                let provider = request.provider.unwrap_or_default();
                let messages = request.messages.to_json();
                let count = messages.as_array().map(Vec::len);
                assert_eq!(count, Some(request.messages.count()), "{messages}");
                assert_eq!(messages[0]["role"], "system");
                format!(
                    "asked {provider}/{} with {}",
                    request.model,
                    request.messages.count()
                )
            }
            RunEventKind::ModelChunk {
                part: ModelPart::Text,
                text,
            } => format!("heard {text}"),
            RunEventKind::ModelEnded { answer } => {
                format!(
                    "ended {} after {} tokens",
                    answer.text,
                    answer.tokens.total()
                )
            }
            RunEventKind::ModelFailed { error, tokens } => {
                format!("failed {} after {} tokens", error.code, tokens.total())
            }
            _ => return,
        };
        notes.lock().expect("no panic").push((event.span, summary));
    });
    let mut spec = spec(Budget::default());
    let (clock, ids) = (Arc::new(VirtualClock::new()), Arc::new(SeededIds::new(1)));
    spec.events = Events::new(vec![observer], clock, ids);
    let session = *spec.events.span();

    let mut client = agents.create(spec).expect("it can be made");
    turn_of(client.as_mut(), "Say hello.").await;

    let seen = seen.lock().expect("no panic");
    let summaries: Vec<_> = seen.iter().map(|(_, summary)| summary.as_str()).collect();
    assert_eq!(
        summaries,
        [
            "asked scripted/model with 2",
            "failed NETWORK_ERROR after 6 tokens",
            "asked scripted/model with 2",
            "heard Hello.",
            "ended Hello. after 20 tokens",
        ]
    );
    for (span, summary) in seen.iter() {
        assert_eq!(
            (span.trace, span.parent),
            (session.trace, Some(session.span)),
            "{summary}"
        );
    }
    assert_eq!(seen[0].0, seen[1].0, "one place for the first call");
    assert_eq!(seen[2].0, seen[4].0, "one place for the second call");
    assert_ne!(seen[0].0, seen[2].0);
}
