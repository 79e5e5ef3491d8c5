//! Backends that tell observers something wrong.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentError, Events, MessageStream, ModelAnswer, ModelAsked, ModelMessages, Prompt,
    RunEventKind, SessionControl, SessionSpec, Support, TokenUsage, ToldEvents,
};
use autonoe_testkit::conformance::agent_client;
use serde_json::json;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

const CLAIM: &str = "observers are told what the backend claims, and no more";
const PLACE: &str = "each call of a model has a place of its own and one end";
const PIECES: &str = "the pieces of a model's answer make the answer";
const USAGE: &str = "what the calls of models used is what the session used";
const TOKENS: &str = "tokens are told where the backend claims it";
const NOTES: &str = "progress that is shown is hidden";

/// Tells something of its own at the start of every turn.
struct Tells<F>(F);

impl<F: Fn(&Events) + Clone + Send + Sync + 'static> Fault for Tells<F> {
    fn wraps(&self, client: Box<dyn AgentClient>, spec: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Telling {
            client,
            events: spec.events.clone(),
            tell: self.0.clone(),
        })
    }
}

struct Telling<F> {
    client: Box<dyn AgentClient>,
    events: Events,
    tell: F,
}

#[async_trait]
impl<F: Fn(&Events) + Send + Sync> AgentClient for Telling<F> {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        (self.tell)(&self.events);
        self.client.query(prompt)
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.client.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.client.dispose().await
    }
}

fn asks(then: impl FnOnce(&ModelAsked<'_>)) {
    then(&ModelAsked::new(
        "a-model",
        ModelMessages::new(1, &|| json!([])),
    ));
}

fn answer(input: u64) -> ModelAnswer<'static> {
    let tokens = TokenUsage {
        input,
        ..TokenUsage::default()
    };
    ModelAnswer::new("Hello.", tokens)
}

fn telling(tell: impl Fn(&Events) + Clone + Send + Sync + 'static) -> ScriptedHarness {
    ScriptedHarness::with(Tells(tell)).asking_models()
}

// Shows: framework/callbacks/what-backend-cannot-tell
#[tokio::test(start_paused = true)]
async fn a_backend_that_claims_to_tell_and_does_not_is_found() {
    let told = ToldEvents::default()
        .with_model_calls(Support::Yes)
        .with_model_chunks(Support::Yes);
    let harness = ScriptedHarness::claiming(move |it| it.with_events(told));

    assert_fails(&agent_client(&harness).await, &[CLAIM, PIECES, USAGE]);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_claims_to_tell_tokens_and_does_not_is_found() {
    let harness = ScriptedHarness::default().telling_no_tokens();

    assert_fails(&agent_client(&harness).await, &[TOKENS]);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_tells_what_it_does_not_claim_is_found() {
    let harness = ScriptedHarness::claiming(|it| it.with_events(ToldEvents::default()));

    assert_fails(&agent_client(&harness.asking_models()).await, &[CLAIM]);
}

#[tokio::test(start_paused = true)]
async fn a_call_told_in_another_tree_is_found() {
    let harness = telling(|events| {
        let elsewhere = events.child().child();
        asks(|asked| elsewhere.model_call(asked).ended(&answer(0)));
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_end_is_found() {
    let harness = telling(|events| {
        asks(|asked| {
            events.child().emit(RunEventKind::ModelStarted { asked });
        });
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn two_calls_at_one_place_are_found() {
    let harness = telling(|events| {
        let place = events.child();
        for _ in 0..2 {
            asks(|asked| place.emit(RunEventKind::ModelStarted { asked }));
            let answer = answer(0);
            place.emit(RunEventKind::ModelEnded { answer: &answer });
        }
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn an_end_of_no_call_is_found() {
    let harness = telling(|events| {
        let answer = answer(0);
        events.emit(RunEventKind::ModelEnded { answer: &answer });
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_tokens_the_session_does_not_count_is_found() {
    let harness = telling(|events| {
        asks(|asked| events.model_call(asked).ended(&answer(7)));
    });

    assert_fails(&agent_client(&harness).await, &[USAGE]);
}

#[tokio::test(start_paused = true)]
async fn a_note_that_is_never_hidden_is_found() {
    let harness = telling(|events| {
        events.emit(RunEventKind::ProgressShown { message: "busy" });
    });

    assert_fails(&agent_client(&harness).await, &[NOTES]);
}
