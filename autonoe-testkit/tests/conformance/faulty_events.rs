//! Backends that emit wrong events to observers.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{
    EventCapabilities, ModelAnswer, ModelCallRequest, ModelMessages, Prompt, SessionControl,
    Support, TokenUsage,
};
use autonoe_core::event::Events;
use autonoe_core::{AgentClient, AgentError, MessageStream, RunEventKind, SessionSpec};
use autonoe_testkit::conformance::agent_client;
use serde_json::json;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

const CLAIM: &str = "observers receive the events that the backend claims, and no others";
const PLACE: &str = "each model call has its own span and one end";
const PIECES: &str = "the parts of a model's answer add up to the answer";
const USAGE: &str = "the usage of the model calls is the usage of the session";
const TOKENS: &str = "tokens are reported where the backend claims it";
const NOTES: &str = "progress that is shown is hidden";

/// Emits an additional event at the start of every turn.
struct EmitsExtra<F>(F);

impl<F: Fn(&Events) + Clone + Send + Sync + 'static> Fault for EmitsExtra<F> {
    fn wrap_client(
        &self,
        client: Box<dyn AgentClient>,
        spec: &SessionSpec,
    ) -> Box<dyn AgentClient> {
        Box::new(EmittingClient {
            client,
            events: spec.events.clone(),
            emit: self.0.clone(),
        })
    }
}

struct EmittingClient<F> {
    client: Box<dyn AgentClient>,
    events: Events,
    emit: F,
}

#[async_trait]
impl<F: Fn(&Events) + Send + Sync> AgentClient for EmittingClient<F> {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        (self.emit)(&self.events);
        self.client.query(prompt)
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.client.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.client.dispose().await
    }
}

fn with_model_call(then: impl FnOnce(&ModelCallRequest<'_>)) {
    then(&ModelCallRequest::new(
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

fn emitting(emit: impl Fn(&Events) + Clone + Send + Sync + 'static) -> ScriptedHarness {
    ScriptedHarness::with(EmitsExtra(emit)).calling_models()
}

// Shows: framework/callbacks/what-backend-cannot-tell
#[tokio::test(start_paused = true)]
async fn finds_a_backend_that_claims_events_it_does_not_emit() {
    let capabilities = EventCapabilities::default()
        .with_model_calls(Support::Yes)
        .with_model_chunks(Support::Yes);
    let harness = ScriptedHarness::claiming(move |it| it.with_events(capabilities));

    assert_fails(&agent_client(&harness).await, &[CLAIM, PIECES, USAGE]);
}

#[tokio::test(start_paused = true)]
async fn finds_a_backend_that_claims_tokens_it_does_not_report() {
    let harness = ScriptedHarness::default().without_token_reports();

    assert_fails(&agent_client(&harness).await, &[TOKENS]);
}

#[tokio::test(start_paused = true)]
async fn finds_a_backend_that_emits_events_it_does_not_claim() {
    let harness = ScriptedHarness::claiming(|it| it.with_events(EventCapabilities::default()));

    assert_fails(&agent_client(&harness.calling_models()).await, &[CLAIM]);
}

#[tokio::test(start_paused = true)]
async fn model_call_in_wrong_span_is_found() {
    let harness = emitting(|events| {
        let detached = events.child().child();
        with_model_call(|request| detached.model_call(request).ended(&answer(0)));
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_end_is_found() {
    let harness = emitting(|events| {
        with_model_call(|request| {
            events.child().emit(RunEventKind::ModelStarted { request });
        });
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn two_calls_at_one_place_are_found() {
    let harness = emitting(|events| {
        let place = events.child();
        for _ in 0..2 {
            with_model_call(|request| place.emit(RunEventKind::ModelStarted { request }));
            let answer = answer(0);
            place.emit(RunEventKind::ModelEnded { answer: &answer });
        }
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn an_end_of_no_call_is_found() {
    let harness = emitting(|events| {
        let answer = answer(0);
        events.emit(RunEventKind::ModelEnded { answer: &answer });
    });

    assert_fails(&agent_client(&harness).await, &[PLACE]);
}

#[tokio::test(start_paused = true)]
async fn a_call_with_uncounted_tokens_is_reported() {
    let harness = emitting(|events| {
        with_model_call(|request| events.model_call(request).ended(&answer(7)));
    });

    assert_fails(&agent_client(&harness).await, &[USAGE]);
}

#[tokio::test(start_paused = true)]
async fn a_note_that_is_never_hidden_is_found() {
    let harness = emitting(|events| {
        events.emit(RunEventKind::ProgressStarted { message: "busy" });
    });

    assert_fails(&agent_client(&harness).await, &[NOTES]);
}
