//! Tools by which an agent sets outputs, and sends signals and verdicts.

use std::sync::Arc;

use autonoe_core::time::SessionKey;
use autonoe_core::tool::{
    JudgeVerdict, ToolErrorCode, Toolbox, VERDICT_TOOL, VerdictSlot, verdict_tool,
};
use autonoe_core::{RunId, Tool, ToolContext, ToolError};
use autonoe_flow::completion::CompletionNeeds;
use autonoe_flow::definition::{Behavior, VariableName};
use autonoe_flow::progress::AgentSignal;
use autonoe_flow::run::{IterationReport, IterationSlot, SET_OUTPUTS, SIGNAL, iteration_tools};
use serde_json::{Value, json};

fn names(names: &[&str]) -> Vec<VariableName> {
    let names = names.iter().map(|name| name.parse());
    names.collect::<Result<_, _>>().expect("names")
}

fn needs(completion: Value) -> CompletionNeeds {
    let behavior: Behavior = serde_json::from_value(completion).expect("a behaviour");
    behavior.completion.needs()
}

fn done_or_stuck() -> CompletionNeeds {
    needs(
        json!({"completionType": "composite", "completionConfig": {"mode": "any", "conditions": [
            {"name": "done", "type": "structuredSignal",
             "config": {"signal": "done", "requiredFields": ["summary"]}},
            {"name": "stuck", "type": "structuredSignal", "config": {"signal": "stuck"}},
            {"name": "said", "type": "keywordSignal", "config": {"keywords": ["DONE"]}},
        ]}}),
    )
}

async fn call(tools: &[Arc<dyn Tool>], name: &str, input: Value) -> Result<(), ToolError> {
    let session = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let toolbox = Toolbox::new(tools.iter().cloned());
    let called = toolbox.call(name, input, ToolContext::new(session)).await;
    called.map(|_| ())
}

#[tokio::test]
async fn outputs_are_values_of_any_type_and_the_later_one_counts() {
    let slot = IterationSlot::default();
    let tools = iteration_tools(&names(&["verdict", "score", "files"]), &[], &slot);

    call(
        &tools,
        SET_OUTPUTS,
        json!({"verdict": "reject", "score": 2}),
    )
    .await
    .expect("taken");
    call(
        &tools,
        SET_OUTPUTS,
        json!({"verdict": "approve", "files": ["a.rs"]}),
    )
    .await
    .expect("taken");

    let expected = json!({"verdict": "approve", "score": 2, "files": ["a.rs"]});
    assert_eq!(Value::Object(slot.take().outputs), expected);
    assert_eq!(slot.take(), IterationReport::default());
}

#[tokio::test]
async fn an_output_that_the_step_does_not_declare_is_refused_and_nothing_is_set() {
    let slot = IterationSlot::default();
    let tools = iteration_tools(&names(&["verdict"]), &[], &slot);
    let too_long = "x".repeat(70_000);
    for input in [
        json!({"verdict": "approve", "other": 1}),
        json!({"verdict": null}),
        json!({}),
        json!([]),
        json!({"verdict": too_long}),
    ] {
        // Even if a backend does not check the schema.
        let session = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let direct = tools[0]
            .call(input.clone(), &ToolContext::new(session))
            .await;
        let error = direct.expect_err("refused");
        assert_eq!(error.code, ToolErrorCode::VALIDATION_ERROR);
        call(&tools, SET_OUTPUTS, input).await.expect_err("refused");
    }
    assert_eq!(slot.take(), IterationReport::default());
}

#[tokio::test]
async fn an_agent_gets_only_the_tools_that_the_step_and_the_flow_need() {
    let slot = IterationSlot::default();
    for (outputs, signals, expected) in [
        (&[][..], Vec::new(), &[][..]),
        (&["a"], Vec::new(), &[SET_OUTPUTS]),
        (&[], done_or_stuck().signals, &[SIGNAL]),
        (&["a"], done_or_stuck().signals, &[SET_OUTPUTS, SIGNAL]),
    ] {
        let tools = iteration_tools(&names(outputs), &signals, &slot);
        let tool_names: Vec<&str> = tools
            .iter()
            .map(|tool| tool.definition().name.as_str())
            .collect();
        assert_eq!(tool_names, expected);
    }
}

#[tokio::test]
async fn an_expected_signal_is_accepted_with_its_fields() {
    let slot = IterationSlot::default();
    let tools = iteration_tools(&[], &done_or_stuck().signals, &slot);

    call(&tools, SIGNAL, json!({"name": "stuck"}))
        .await
        .expect("taken");
    let fields = json!({"summary": "all of it", "count": 3});
    call(&tools, SIGNAL, json!({"name": "done", "fields": fields}))
        .await
        .expect("taken");

    let done = AgentSignal::new("done")
        .with_field("summary", "all of it")
        .with_field("count", 3);
    assert_eq!(slot.take().signals, [AgentSignal::new("stuck"), done]);
}

#[tokio::test]
async fn unexpected_signal_is_refused_with_the_reason() {
    let slot = IterationSlot::default();
    let tools = iteration_tools(&[], &done_or_stuck().signals, &slot);
    let session = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let context = ToolContext::new(session);
    for (input, message) in [
        (
            json!({"name": "done"}),
            "the signal done lacks the fields summary",
        ),
        (
            json!({"name": "done", "fields": {"summary": null}}),
            "the signal done lacks the fields summary",
        ),
        (
            json!({"name": "finished"}),
            "there is no signal finished; known signals: done with the fields summary; stuck",
        ),
    ] {
        let error = tools[0].call(input, &context).await.expect_err("refused");
        assert_eq!(error.message, message);
    }
    tools[0]
        .call(json!({"fields": {}}), &context)
        .await
        .expect_err("it has no name");
    tools[0]
        .call(json!({"name": "stuck", "why": "?"}), &context)
        .await
        .expect_err("a field more");
    assert_eq!(slot.take(), IterationReport::default());
}

#[tokio::test]
async fn a_verdict_is_accepted_once_and_only_with_a_reason() {
    let slot = VerdictSlot::default();
    let tools = [verdict_tool(&slot)];
    assert_eq!(slot.take(), None);

    for wrong in [
        json!({"passed": true}),
        json!({"reason": "it is fine"}),
        json!({"passed": true, "reason": "  "}),
        json!({"passed": "maybe", "reason": "it is fine"}),
    ] {
        call(&tools, VERDICT_TOOL, wrong)
            .await
            .expect_err("no verdict");
    }
    let verdict = json!({"passed": false, "reason": "two tests fail"});
    call(&tools, VERDICT_TOOL, verdict.clone())
        .await
        .expect("taken");
    call(&tools, VERDICT_TOOL, verdict)
        .await
        .expect("it says the same");
    let other = json!({"passed": true, "reason": "on second thoughts"});
    call(&tools, VERDICT_TOOL, other)
        .await
        .expect_err("it was given");

    let expected = JudgeVerdict {
        passed: false,
        reason: "two tests fail".to_owned(),
    };
    assert_eq!(slot.take(), Some(expected));
}

#[test]
fn keywords_and_signals_are_collected_from_all_conditions() {
    let needs = done_or_stuck();

    assert_eq!(needs.keywords.into_iter().collect::<Vec<_>>(), ["DONE"]);
    let signals: Vec<&str> = needs.signals.iter().map(|it| it.signal.as_str()).collect();
    assert_eq!(signals, ["done", "stuck"]);
}
