//! Lifecycle of a flow: defined in code, created, started, stopped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::run::QuotaBackoff;
use autonoe_core::{Budget, CostUsd};
use autonoe_flow::definition::WorkStep;
use autonoe_flow::{FlowBuilder, FlowDefinition, FlowEnd, FlowErrorKind, FlowEvent, FlowLimits};
use autonoe_testkit::SessionScript;
use serde_json::json;

use super::{Fixture, build, codes, text_session};
use crate::support::{agent, definition, one_step};

fn flow() -> FlowDefinition {
    definition(agent(json!({})), one_step())
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(start_paused = true)]
async fn a_built_flow_starts_runs_once_and_stops() {
    let fixture = Fixture::new([text_session("x")]);

    let created = build(flow(), fixture.options()).expect("everything is there");
    let mut started = is_send(created.start(fixture.start()))
        .await
        .expect("it starts");
    assert_eq!(started.machine().context().iteration(), 0);
    assert_eq!(started.machine().context().session_id(), None);
    assert_eq!(fixture.agents.prompts(), Vec::<String>::new());
    let end = is_send(started.run()).await;
    assert_eq!(started.machine().context().iteration(), 1);
    let second = started.run().await;
    let result = started.stop();

    let FlowEnd::Complete { reason, .. } = &end else {
        panic!("{end:?}");
    };
    assert_eq!(reason, "the flow reached the end of its steps");
    assert_eq!((&second, &result.end), (&end, &end));
    assert_eq!(fixture.agents.prompts(), ["Go on."]);
    assert_eq!(
        (fixture.agents.open_clients(), fixture.agents.disposed()),
        (0, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_stopped_before_its_end_was_interrupted() {
    let fixture = Fixture::new([]);
    let created = build(flow(), fixture.options()).expect("everything is there");

    let started = created.start(fixture.start()).await.expect("it starts");

    let result = started.stop();

    assert_eq!(codes(&result), ["interrupted"]);
    assert!(result.end.is_resumable(), "{result:?}");
}

fn two_steps() -> FlowDefinition {
    FlowBuilder::new("review")
        .step("draft", "Write a draft.", WorkStep::default())
        .step("polish", "Polish it.", WorkStep::default())
        .build()
        .expect("it can be built")
}

#[tokio::test(start_paused = true)]
async fn a_built_flow_runs_and_a_closure_observes_it() {
    let fixture = Fixture::new([
        SessionScript::new("draft").says("A draft.").ends(),
        SessionScript::new("polish").says("Polished.").ends(),
    ]);
    let prompts = Arc::new(Mutex::new(0));
    let counted = prompts.clone();
    let options = fixture.options().observer(move |event: &FlowEvent<'_>| {
        if let FlowEvent::PromptSent { .. } = event {
            *counted.lock().expect("not poisoned") += 1;
        }
    });

    let result = fixture.run_with(two_steps(), options).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(*prompts.lock().expect("not poisoned"), 2);
}

#[tokio::test]
async fn zero_limits_are_refused_with_the_name_of_their_setter() {
    for limits in [
        FlowLimits {
            budget: Budget::default().with_cost(CostUsd::ZERO),
            ..FlowLimits::default()
        },
        FlowLimits {
            quota_backoff: QuotaBackoff {
                first: Duration::ZERO,
                ..QuotaBackoff::default()
            },
            ..FlowLimits::default()
        },
    ] {
        let fixture = Fixture::new([]);

        let built = build(two_steps(), fixture.options().limits(limits));

        let error = built.expect_err("it is refused");
        assert_eq!(error.kind(), FlowErrorKind::ConfigurationValidation);
        assert!(error.to_string().starts_with(".limits(..): "), "{error}");
    }
}
