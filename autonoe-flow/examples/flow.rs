//! A flow of two steps in a program. A check repeats the second step until the answer contains a
//! word.
//!
//! Run it with `cargo run -p autonoe-flow --example flow`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use autonoe_core::{Budget, CostUsd, RunControl};
use autonoe_flow::definition::WorkStep;
use autonoe_flow::{FlowBuilder, FlowEvent, FlowLimits, FlowRun};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // In your program: a `Project`, and the agents of a backend.
    let project = TempProject::new();
    let agents = ScriptedBackend::new([
        SessionScript::new("drafts").says("Hello.").ends(),
        SessionScript::new("forgets").says("Hello, you!").ends(),
        SessionScript::new("polishes").says("Hello, Ada!").ends(),
    ]);

    // Steps have the same JSON as in `steps_registry.json`.
    let polish: WorkStep = serde_json::from_value(json!({"check": {
        "type": "keyword",
        "keywords": ["Ada"],
        "onPass": {"next": "end"},
        "onFail": {"retry": true, "maxRetries": 2},
    }}))?;
    let flow = FlowBuilder::new("greeting")
        .step("draft", "Write a greeting.", WorkStep::default())
        .step("polish", "Polish it, and address it to Ada.", polish)
        .build()?
        .validated()?;

    let limits = FlowLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(500)),
        ..FlowLimits::default()
    };
    let result = FlowRun::new(project.project().clone(), flow, agents)
        .options(move |options| {
            options.limits(limits).observer(|event: &FlowEvent<'_>| {
                if let FlowEvent::PromptSent { iteration, .. } = event {
                    println!("prompt {iteration}");
                }
            })
        })
        .run(&RunControl::new())
        .await?;

    println!(
        "success: {}, prompts: {}",
        result.is_success(),
        result.iterations()
    );
    Ok(())
}
