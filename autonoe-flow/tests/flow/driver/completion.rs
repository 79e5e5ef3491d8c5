//! Completion conditions of running flows.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{LedgerStore, deliverable_tools};
use autonoe_core::spec::{SpecContext, SpecError};
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::tool::Toolbox;
use autonoe_core::{RunId, ToolContext};
use autonoe_flow::completion::{CompletionContext, CompletionResult};
use autonoe_flow::completion::{ExternalStates, probe_fn};
use autonoe_flow::{CompletionHandler, CompletionSpec, FlowEnd, FlowError};
use autonoe_testkit::SessionScript;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::steps::{Ends, completing, one_after_the_other};
use super::{Fixture, checked, codes, text_session};
use crate::support::{definition, step};

#[tokio::test(start_paused = true)]
async fn every_way_of_being_complete_completes_a_flow() {
    let signal = || {
        SessionScript::new("signals")
            .uses_tool(
                "mcp__autonoe__signal",
                json!({"name": "done", "fields": {"why": "it is"}}),
            )
            .ends()
    };
    let circle = || json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("a")}});
    let with_phase = || {
        let mut registry = circle();
        registry["steps"]["b"]["phase"] = "ready".into();
        registry
    };
    let with_check = || {
        let mut registry = circle();
        registry["steps"]["b"] = checked("a", json!({"type": "keyword", "keywords": ["two"]}));
        registry
    };
    for (kind, config, registry, scripts) in [
        (
            "stepMachine",
            json!({}),
            one_after_the_other(),
            vec![text_session("one"), text_session("two")],
        ),
        (
            "iterationBudget",
            json!({"maxIterations": 2}),
            circle(),
            vec![text_session("one"), text_session("two")],
        ),
        (
            "checkBudget",
            json!({"maxChecks": 1}),
            with_check(),
            vec![text_session("one"), text_session("two")],
        ),
        (
            "keywordSignal",
            json!({"keywords": ["two"]}),
            circle(),
            vec![text_session("one"), text_session("two")],
        ),
        (
            "structuredSignal",
            json!({"signal": "done", "requiredFields": ["why"]}),
            circle(),
            vec![text_session("one"), signal()],
        ),
        (
            "phaseCompletion",
            json!({"terminalPhases": ["ready"]}),
            with_phase(),
            vec![text_session("one"), text_session("two")],
        ),
        (
            "externalState",
            json!({"source": {"type": "named", "name": "released"}}),
            circle(),
            vec![text_session("one")],
        ),
        (
            "externalState",
            json!({"source": {"type": "command", "command": ["exit", "0"]}}),
            circle(),
            vec![text_session("one")],
        ),
        (
            "custom",
            json!({"type": "flow-tests-said", "text": "two"}),
            circle(),
            vec![text_session("one"), text_session("two")],
        ),
    ] {
        let fixture = Fixture::new(scripts);
        let options = fixture
            .options()
            .commands(Arc::new(Ends))
            .states(ExternalStates::default().with("released", probe_fn(|| true)));

        let result = fixture
            .run_with(definition(completing(kind, config), registry), options)
            .await;

        match result.end {
            FlowEnd::Complete { reason, .. } => assert!(!reason.is_empty(), "{kind}"),
            end => panic!("{kind}: {end:?}"),
        }
    }
}

/// Adds a deliverable to the ledger, as an earlier run would have.
async fn plan(fixture: &Fixture) {
    let store = LedgerStore::new(fixture.repository.clone(), fixture.clock.clone(), Epoch(1));
    let tools = Toolbox::new(deliverable_tools(&store, &InstructionName::Initializer));
    let planned = json!({"deliverables": [
        {"id": "DL-001", "description": "a thing", "acceptanceCriteria": ["it works"]},
    ]});
    let key = SessionKey {
        run: RunId::new("earlier"),
        number: 1,
    };
    let created = tools.call("create", planned, ToolContext::new(key)).await;
    created.expect("it is created");
}

#[tokio::test(start_paused = true)]
async fn deliverables_of_the_ledger_complete_a_flow() {
    let passes = SessionScript::new("passes")
        .uses_tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        )
        .ends();
    let fixture = Fixture::new([text_session("I begin"), passes]);
    plan(&fixture).await;
    let sessions = fixture.builder().repository(fixture.repository.clone());
    let options = fixture.options_of(sessions.build_sessions().expect("parts fit"));
    let circle = json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("a")}});
    let flow = definition(completing("deliverables", json!({})), circle);

    let result = fixture.run_with(flow, options).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(result.iterations(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_empty_ledger_completes_nothing() {
    let fixture = Fixture::new([text_session("I begin")]);
    let sessions = fixture.builder().repository(fixture.repository.clone());
    let options = fixture.options_of(sessions.build_sessions().expect("parts fit"));
    let flow = definition(
        completing("deliverables", json!({})),
        json!({"entryStep": "a", "steps": {"a": step("end")}}),
    );

    let result = fixture.run_with(flow, options).await;

    assert_eq!(codes(&result), ["ended_incomplete"]);
}

#[tokio::test(start_paused = true)]
async fn composite_reports_the_state_of_each_condition() {
    let fixture = Fixture::new([text_session("one"), text_session("two")]);
    let composite = json!({"mode": "all", "conditions": [
        {"name": "long", "type": "iterationBudget", "config": {"maxIterations": 2}},
        {"name": "said", "type": "keywordSignal", "config": {"keywords": ["two"]}},
    ]});
    let circle = json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("a")}});

    let result = fixture
        .run(definition(completing("composite", composite), circle))
        .await;

    assert!(result.is_success(), "{result:?}");
    let states: Vec<(&str, bool)> = result
        .states
        .iter()
        .map(|(n, s)| (n.as_str(), *s))
        .collect();
    assert_eq!(states, [("long", true), ("said", true)]);
}

/// A custom condition that holds at once, with a blank reason.
#[derive(Debug, Serialize, Deserialize)]
struct Silent {}

#[typetag::serde(name = "flow-tests-silent")]
impl CompletionSpec for Silent {
    fn build(&self, _: &SpecContext) -> Result<Box<dyn CompletionHandler>, SpecError> {
        Ok(Box::new(SilentHandler))
    }
}

struct SilentHandler;

#[async_trait::async_trait]
impl CompletionHandler for SilentHandler {
    async fn check(&mut self, _: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        Ok(CompletionResult::Complete {
            reason: " ".to_owned(),
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_blank_reason_of_a_custom_condition_is_replaced() {
    let fixture = Fixture::new([text_session("one")]);
    let completion = completing("custom", json!({"type": "flow-tests-silent"}));

    let result = fixture
        .run(definition(completion, one_after_the_other()))
        .await;

    match result.end {
        FlowEnd::Complete { reason, .. } => assert_eq!(reason, "the condition holds"),
        end => panic!("{end:?}"),
    }
}
