//! Flows that are defined in code.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::run::QuotaBackoff;
use autonoe_core::{Budget, CostUsd};
use autonoe_flow::definition::WorkStep;
use autonoe_flow::{FlowBuilder, FlowDefinition, FlowErrorKind, FlowEvent, FlowLimits};
use autonoe_testkit::SessionScript;

use super::{Fixture, build};

fn two_steps() -> FlowDefinition {
    FlowBuilder::new("review")
        .step("draft", "Write a draft.", WorkStep::default())
        .step("polish", "Polish it.", WorkStep::default())
        .build()
        .expect("it can be built")
}

#[tokio::test(start_paused = true)]
async fn a_built_flow_runs_and_a_closure_observes_it() {
    let bench = Fixture::new([
        SessionScript::new("draft").says("A draft.").ends(),
        SessionScript::new("polish").says("Polished.").ends(),
    ]);
    let prompts = Arc::new(Mutex::new(0));
    let counted = prompts.clone();
    let options = bench.options().observer(move |event: &FlowEvent<'_>| {
        if let FlowEvent::PromptSent { .. } = event {
            *counted.lock().expect("not poisoned") += 1;
        }
    });

    let result = bench.run_with(two_steps(), options).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(*prompts.lock().expect("not poisoned"), 2);
}

#[tokio::test]
async fn limits_with_which_nothing_could_run_are_refused_by_the_name_of_their_call() {
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
        let bench = Fixture::new([]);

        let built = build(two_steps(), bench.options().limits(limits));

        let error = built.expect_err("it is refused");
        assert_eq!(error.kind(), FlowErrorKind::ConfigurationValidation);
        assert!(error.to_string().starts_with(".limits(..): "), "{error}");
    }
}
