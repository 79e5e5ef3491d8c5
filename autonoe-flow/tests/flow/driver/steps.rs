//! Steps, checks, gateways and sub-steps, from prompt to answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::AgentErrorKind;
use autonoe_flow::check::CommandOutcome;
use autonoe_flow::{CommandRunner, FlowEvent, FlowFact};
use autonoe_testkit::{SessionScript, ToolUse};
use serde_json::{Value, json};

use super::{Fixture, checked, codes, evidence, judges, text_session, with_prompts};
use crate::support::{agent, definition, step};

pub(super) fn completing(kind: &str, config: Value) -> Value {
    agent(json!({"behavior": {"completionType": kind, "completionConfig": config}}))
}

pub(super) fn one_after_the_other() -> Value {
    json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("end")}})
}

#[tokio::test(start_paused = true)]
async fn steps_are_run_in_their_order_with_their_prompts() {
    let fixture = Fixture::new([text_session("one"), text_session("two")]);
    let mut registry = one_after_the_other();
    registry["steps"]["b"]["prompt"] = "prompts/b.md".into();
    let flow = with_prompts(
        definition(agent(json!({})), registry),
        &[(
            "prompts/b.md",
            "After {uv-previous_response}: {uv-step}, {uv-iteration} of {uv-flow}.",
        )],
    );

    let result = fixture.run(flow).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(
        fixture.agents.prompts(),
        ["Go on.", "After one: b, 2 of review."]
    );
    assert_eq!(result.iterations(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_judge_has_a_separate_read_only_session() {
    let fixture = Fixture::new([
        text_session("my draft"),
        SessionScript::new("judges")
            .is_denied_by(
                "read-only",
                "Write",
                json!({"file_path": "/srv/project/a", "content": ""}),
            )
            .uses_tool(
                "mcp__autonoe__verdict",
                json!({"passed": false, "reason": "too short"}),
            )
            .ends(),
        text_session("a longer draft"),
        judges(true),
    ]);
    let mut a = checked(
        "end",
        json!({"type": "prompt", "prompt": "prompts/judge.md"}),
    );
    a["retry"] = json!({"maxRetries": 1});
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );
    let flow = with_prompts(flow, &[("prompts/judge.md", "Is this good? {uv-response}")]);

    let result = fixture.run(flow).await;

    assert!(result.is_success(), "{result:?}");
    let prompts = fixture.agents.prompts();
    assert_eq!([&*prompts[0], &*prompts[2]], ["Go on."; 2]);
    let tasks = [evidence(&prompts[1]).0, evidence(&prompts[3]).0];
    assert_eq!(
        tasks,
        ["Is this good? my draft", "Is this good? a longer draft"]
    );
    assert_eq!((result.iterations(), result.checks), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_judge_receives_the_response_and_the_tool_calls_of_its_step_and_its_sub_steps() {
    let reads = ToolUse::new("Read", json!({"file_path": "/srv/project/a"})).answering("1 failed");
    let fixture = Fixture::new([
        SessionScript::new("works")
            .says("I read.")
            .calls(reads)
            .ends(),
        SessionScript::new("part")
            .is_denied_by("grants", "Bash", json!({"command": "npm test"}))
            .says("All tests pass.")
            .ends(),
        judges(false),
    ]);
    let mut a = checked(
        "end",
        json!({"type": "prompt", "prompt": "prompts/judge.md"}),
    );
    a["subSteps"] = json!(["p"]);
    let p = json!({"type": "subStep", "prompt": "prompts/a.md"});
    let behavior = json!({"behavior": {"allowedTools": ["Read(./**)"]}});
    let flow = definition(
        agent(behavior),
        json!({"entryStep": "a", "steps": {"a": a, "p": p}}),
    );
    // The check's prompt does not use the variable `response`.
    let flow = with_prompts(flow, &[("prompts/judge.md", "Do all tests pass?")]);

    let result = fixture.run(flow).await;

    assert_eq!(codes(&result), ["step_failed", "step_failed"]);
    let prompts = fixture.agents.prompts();
    let (task, evidence) = evidence(&prompts[2]);
    assert_eq!(task, "Do all tests pass?");
    assert_eq!(evidence["response"], "I read.\n\nAll tests pass.");
    let calls = &evidence["toolCalls"];
    assert_eq!(
        calls[0],
        json!({
            "tool": "Read", "outcome": "succeeded",
            "input": r#"{"file_path":"/srv/project/a"}"#, "output": "1 failed",
        })
    );
    assert_eq!(
        (&calls[1]["tool"], &calls[1]["outcome"]),
        (&json!("Bash"), &json!("failed"))
    );
    assert_eq!(calls[1]["input"], r#"{"command":"npm test"}"#);
    let output = calls[1]["output"].as_str().unwrap_or_default();
    assert!(output.contains("denied by grants"), "{output}");
    assert_eq!(calls.as_array().map(Vec::len), Some(2));
}

#[tokio::test(start_paused = true)]
async fn a_judge_without_a_verdict_never_passes_a_check() {
    let fixture = Fixture::new([text_session("x"), text_session("It passed! passed: true")]);
    let a = checked("end", json!({"type": "prompt", "prompt": "prompts/a.md"}));
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );

    let result = fixture.run(flow).await;

    assert_eq!(codes(&result), ["step_failed", "step_check"]);
}

#[tokio::test(start_paused = true)]
async fn an_action_check_reads_the_calls_of_the_step() {
    let check = json!({"type": "action", "actions": [{"type": "tool", "tool": "Read"}]});
    let mut a = checked("end", check);
    a["retry"] = json!({"maxRetries": 1});
    let fixture = Fixture::new([
        SessionScript::new("denied")
            .is_denied_by("file-scope", "Read", json!({"file_path": "/etc/shadow"}))
            .ends(),
        SessionScript::new("reads")
            .uses_tool("Read", json!({"file_path": "/srv/project/a"}))
            .ends(),
    ]);
    let behavior = json!({"behavior": {"allowedTools": ["Read(./**)"]}});

    let result = fixture
        .run(definition(
            agent(behavior),
            json!({"entryStep": "a", "steps": {"a": a}}),
        ))
        .await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(result.iterations(), 2);
}

/// Commands that exit with the code in their first argument.
pub(super) struct Ends;

#[async_trait]
impl CommandRunner for Ends {
    async fn run(
        &self,
        command: &[String],
        _: Duration,
    ) -> Result<CommandOutcome, Box<dyn std::error::Error + Send + Sync>> {
        let code = command[1].parse()?;
        Ok(CommandOutcome::Exited { code })
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_by_action_runs_commands() {
    for (code, success) in [("0", true), ("1", false)] {
        let fixture = Fixture::new([text_session("x")]);
        let command = json!({"type": "command", "command": ["exit", code]});
        let a = checked("end", json!({"type": "action", "actions": [command]}));
        let flow = definition(
            agent(json!({})),
            json!({"entryStep": "a", "steps": {"a": a}}),
        );
        let options = fixture.options().commands(Arc::new(Ends));

        let result = fixture.run_with(flow, options).await;

        assert_eq!(result.is_success(), success, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn outputs_choose_branches_of_a_gateway_and_fill_prompts() {
    let sets = |verdict: &str| {
        SessionScript::new("reviews")
            .uses_tool("mcp__autonoe__set_outputs", json!({"verdict": verdict}))
            .ends()
    };
    let fixture = Fixture::new([sets("revise"), text_session("better"), sets("fine")]);
    let mut a = step("g");
    a["outputs"] = json!(["verdict"]);
    let mut b = step("a");
    b["prompt"] = "prompts/b.md".into();
    let gateway = json!({
        "type": "gateway",
        "branches": [{"when": {"data": "/steps/a/outputs/verdict", "equals": "revise"}, "next": "b"}],
        "default": "end",
    });
    let registry = json!({"entryStep": "a", "steps": {"a": a, "g": gateway, "b": b}});
    let flow = with_prompts(
        definition(agent(json!({})), registry),
        &[("prompts/b.md", "The verdict was {uv-verdict}.")],
    );

    let result = fixture.run(flow).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(fixture.agents.prompts()[1], "The verdict was revise.");
    assert_eq!(result.steps["a"].outputs["verdict"], "fine");
    assert_eq!(result.steps["g"].visits, 2);
}

#[tokio::test(start_paused = true)]
async fn sub_steps_follow_their_parent_and_their_failure_is_its_own() {
    let check = json!({"type": "keyword", "keywords": ["OK"]});
    let registry = json!({"entryStep": "a", "steps": {
        "a": {"prompt": "prompts/a.md", "subSteps": ["p"], "transition": {"next": "end"}},
        "p": {"type": "subStep", "prompt": "prompts/a.md", "check": check},
    }});

    let passes = Fixture::new([text_session("parent"), text_session("part: OK")]);
    let fails = Fixture::new([text_session("parent"), text_session("part")]);
    let passed = passes
        .run(definition(agent(json!({})), registry.clone()))
        .await;
    let failed = fails.run(definition(agent(json!({})), registry)).await;

    assert!(passed.is_success(), "{passed:?}");
    assert_eq!(
        codes(&failed),
        ["step_failed", "step_failed", "step_failed"]
    );
    assert_eq!(
        passes.events.lines(),
        ["1: a visit 1 retry 0, fresh", "2: p visit 1 retry 0, fresh"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_retry_sends_the_same_text_and_a_new_visit_another() {
    let sets = |text: &str, count: u32| {
        SessionScript::new("sets")
            .uses_tool("mcp__autonoe__set_outputs", json!({"count": count}))
            .says(text)
            .ends()
    };
    let fixture = Fixture::new([
        text_session("first"),
        sets("no", 1),
        SessionScript::new("breaks").fails(AgentErrorKind::Crashed, "it broke"),
        sets("OK", 2),
        text_session("third"),
        sets("OK", 3),
    ]);
    let mut b = checked("g", json!({"type": "keyword", "keywords": ["OK"]}));
    b["prompt"] = "prompts/b.md".into();
    b["outputs"] = json!(["count"]);
    b["retry"] = json!({"maxRetries": 2});
    let gateway = json!({
        "type": "gateway",
        "branches": [{"when": {"data": "/steps/b/visits", "atLeast": 2}, "next": "end"}],
        "default": "a",
    });
    let steps = json!({"a": step("b"), "b": b, "g": gateway});
    let fields = json!({"prompts": {"allowUndefined": ["count"]}});
    let flow = definition(agent(fields), json!({"entryStep": "a", "steps": steps}));
    let text = "{uv-iteration} {uv-visit} {uv-previous_response} {uv-count}";
    let flow = with_prompts(flow, &[("prompts/b.md", text)]);

    let result = fixture.run(flow).await;

    assert!(result.is_success(), "{result:?}");
    let retries: Vec<u32> = result.summaries.iter().map(|it| it.at.retry).collect();
    assert_eq!(retries, [0, 0, 1, 2, 0, 0]);
    let first = "2 1 first {uv-count}";
    assert_eq!(
        fixture.agents.prompts(),
        ["Go on.", first, first, first, "Go on.", "6 2 third 2"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_word_reaches_the_check_first_and_the_completion_after() {
    let fixture = Fixture::new([text_session("APPROVED")]);
    let a = checked("b", json!({"type": "keyword", "keywords": ["APPROVED"]}));
    let steps = json!({"entryStep": "a", "steps": {"a": a, "b": step("end")}});
    let completion = completing("keywordSignal", json!({"keywords": ["APPROVED"]}));

    let result = fixture.run(definition(completion, steps)).await;

    assert!(result.is_success(), "{result:?}");
    // Both have reacted: the step passed, and the flow is complete.
    assert_eq!((result.checks, result.steps["a"].passed), (1, None));
    assert_eq!(result.iterations(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_shared_keyword_reaches_the_check_of_a_step_with_sub_steps_before_completion() {
    // The keyword is in the answer of the step itself, or of its sub-step.
    for answers in [["APPROVED", "fine"], ["fine", "APPROVED"]] {
        let fixture = Fixture::new(answers.map(text_session));
        let mut a = checked("b", json!({"type": "keyword", "keywords": ["APPROVED"]}));
        a["subSteps"] = json!(["p"]);
        let p = json!({"type": "subStep", "prompt": "prompts/a.md"});
        let steps = json!({"entryStep": "a", "steps": {"a": a, "p": p, "b": step("end")}});
        let completion = completing("keywordSignal", json!({"keywords": ["APPROVED"]}));
        let verdicts = Arc::new(Mutex::new(Vec::new()));
        let seen = verdicts.clone();
        let options = fixture.options().observer(move |event: &FlowEvent<'_>| {
            if let FlowEvent::Decided { fact, .. } = event {
                let verdict = match fact {
                    FlowFact::Checked { verdict, .. } => {
                        let passed = verdict.as_ref().is_ok_and(|verdict| verdict.passed);
                        format!("check passed: {passed}")
                    }
                    FlowFact::CompletionChecked { verdict, .. } => {
                        let verdict = verdict.as_ref().expect("a verdict");
                        format!("complete: {}", verdict.complete.is_some())
                    }
                    _ => return,
                };
                seen.lock().expect("no panic").push(verdict);
            }
        });

        let result = fixture
            .run_with(definition(completion, steps), options)
            .await;

        assert!(result.is_success(), "{result:?}");
        assert_eq!(result.iterations(), 2, "{answers:?}");
        assert_eq!(
            *verdicts.lock().expect("no panic"),
            ["check passed: true", "complete: true"],
            "{answers:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_crashed_agent_is_retried_and_a_refused_one_is_not() {
    let mut a = step("end");
    a["retry"] = json!({"maxRetries": 2});
    let registry = json!({"entryStep": "a", "steps": {"a": a}});
    let breaks = |kind| SessionScript::new("breaks").fails(kind, "it broke");

    let mended = Fixture::new([
        breaks(AgentErrorKind::Crashed),
        breaks(AgentErrorKind::Overloaded),
        text_session("x"),
    ]);
    let refused = Fixture::new([breaks(AgentErrorKind::Authentication)]);
    let silent = Fixture::new([SessionScript::new("silent").ends(), text_session("x")]);
    let first = mended
        .run(definition(agent(json!({})), registry.clone()))
        .await;
    let second = refused
        .run(definition(agent(json!({})), registry.clone()))
        .await;
    let third = silent.run(definition(agent(json!({})), registry)).await;

    assert!(first.is_success(), "{first:?}");
    assert_eq!(first.elapsed, Duration::from_secs(3));
    assert_eq!(codes(&second), ["sdk_refused"]);
    assert!(
        third.is_success() && third.summaries[0].failure.is_some(),
        "{third:?}"
    );
}
