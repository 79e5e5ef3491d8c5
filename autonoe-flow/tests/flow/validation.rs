//! Findings of validation.

use std::collections::BTreeSet;
use std::fmt::Write;

use autonoe_flow::validate::FindingKind;
use autonoe_flow::{FlowDefinition, FlowError, ValidationReport, load, validate};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::mistakes::{completed, gateway, mistakes, with_prompt};
use crate::support::{Folder, agent, definition, one_step, step, validated, validated_step};

#[test]
fn every_mistake_is_reported_with_its_place_and_a_hint() {
    let mut listed = String::new();
    for (label, report) in mistakes() {
        let message = report.to_string().replace('\n', "\n    ");
        let _ = writeln!(listed, "{label}\n    {message}");
    }

    insta::assert_snapshot!(listed);
}

#[test]
fn failure_variable_exists_only_in_escalation_steps() {
    let reason = |ask: Value| {
        let mut a = step("end");
        a["escalation"] = json!({"escalateTo": "ask", "returnFlow": "resume"});
        let part = json!({"type": "subStep", "prompt": "prompts/why.md"});
        let steps = json!({"a": a, "ask": ask, "part": part, "b": step("end")});
        let flow = definition(agent(json!({})), json!({"entryStep": "a", "steps": steps}));
        validate(&flow.with_prompt("prompts/why.md", "Why: {uv-failure}"))
    };
    let kinds = |report: &ValidationReport| -> Vec<FindingKind> {
        report.errors.iter().map(|finding| finding.kind).collect()
    };
    let from = |place: &str| {
        let mut a = step("end");
        a["variables"] = json!({"why": {"from": place}});
        validated(json!({"entryStep": "a", "steps": {"a": a}}))
    };

    let called = reason(json!({"prompt": "prompts/why.md", "subSteps": ["part"]}));
    let strict = json!({"prompts": {"strictVariables": true}});
    let not_called = with_prompt("{uv-topic} {uv-failure}", strict);

    assert!(called.is_valid(), "{called}");
    assert_eq!(kinds(&not_called), [FindingKind::UndefinedVariable]);
    assert_eq!(kinds(&from("/context/failure")), [FindingKind::UnknownData]);
    for place in ["/context/failure", "/context/response"] {
        let branch = json!({"when": {"data": place, "exists": true}, "next": "a"});
        let report = gateway(json!({"branches": [branch], "default": "end"}));

        assert_eq!(kinds(&report), [FindingKind::UnknownData], "{report}");
        assert!(
            report.errors[0].message.contains("is not set here"),
            "{report}"
        );
    }
}

#[test]
fn a_number_that_is_too_large_is_reported_with_its_bound() {
    let registry = json!({
        "entryStep": "a",
        "steps": {"a": step("end")},
        "limits": {"maxVisits": 5_000_000_000_u64},
    });

    let folder = Folder::new();
    folder.write("steps_registry.json", &registry.to_string());

    let error = load(&folder.dir).expect_err("too large");

    let message = "expected a whole number from 0 to 4294967295, found the number 5000000000";
    assert!(error.to_string().contains(message), "{error}");
}

// Shows: flows/validation/texts
#[test]
fn every_finding_has_a_file_a_pointer_a_sentence_and_a_hint() {
    for (label, report) in mistakes() {
        assert!(
            !report.errors.is_empty() || !report.warnings.is_empty(),
            "{label}"
        );
        for finding in report.errors.iter().chain(&report.warnings) {
            assert!(!finding.pointer.is_empty(), "{label}: {finding}");
            assert!(
                !finding.message.is_empty() && !finding.hint.is_empty(),
                "{label}: {finding}"
            );
            let file = finding.file.to_str().expect("text");
            assert!(
                ["agent.json", "steps_registry.json"].contains(&file),
                "{label}: {finding}"
            );
        }
    }
}

/// Findings of loading are tested there, and so are two kinds that only a loaded folder has.
#[test]
fn every_kind_of_validation_finding_is_covered() {
    let covered: BTreeSet<FindingKind> = mistakes()
        .into_iter()
        .flat_map(|(_, report)| report.errors.into_iter().chain(report.warnings))
        .map(|finding| finding.kind)
        .collect();
    let of_loading = [
        FindingKind::NotFound,
        FindingKind::Unreadable,
        FindingKind::OutsideFolder,
        FindingKind::Syntax,
        FindingKind::Shape,
    ];

    let missing: Vec<_> = FindingKind::ALL
        .iter()
        .filter(|kind| !covered.contains(kind) && !of_loading.contains(kind))
        .collect();

    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_definition_is_valid_exactly_when_there_are_no_errors() {
    for (label, report) in mistakes() {
        let written = serde_json::to_value(&report).expect("JSON");

        assert_eq!(report.is_valid(), report.errors.is_empty(), "{label}");
        assert_eq!(written["valid"], report.errors.is_empty(), "{label}");
    }
}

// Shows: flows/load/valid
#[test]
fn only_a_valid_definition_can_be_built_from() {
    let valid = definition(agent(json!({})), one_step()).validated();
    let invalid = definition(agent(json!({})), json!({"entryStep": "z", "steps": {}})).validated();

    assert!(valid.is_ok());
    let error = FlowError::from(invalid.expect_err("it is not valid"));
    assert_eq!(error.code(), "configuration_validation");
}

#[test]
fn warnings_do_not_keep_a_flow_from_being_built() {
    let registry = json!({"entryStep": "a", "steps": {"a": step("end"), "b": step("end")}});

    let flow = definition(agent(json!({})), registry)
        .validated()
        .expect("valid");

    assert_eq!(flow.warnings()[0].kind, FindingKind::UnreachableStep);
}

// Shows: flows/retry/fallback-step
#[test]
fn a_policy_that_falls_back_needs_a_fallback_of_its_step_in_any_place() {
    let policy = json!({"onExhausted": "fallback"});
    let check = json!({"type": "keyword", "keywords": ["OK"], "onFail": {"fallback": "c"}});
    for fields in [
        json!({"transition": {"next": "b", "fallback": "c"}, "retry": policy}),
        json!({"transition": {"next": "b"}, "check": check, "retry": policy}),
        json!({"transition": {"next": "b"},
               "retry": {"onExhausted": "fallback", "fallbackStep": "c"}}),
    ] {
        assert_eq!(
            validated_step(fields.clone()),
            ValidationReport::default(),
            "{fields}"
        );
    }
}

// Shows: flows/transitions/loops
#[test]
fn a_loop_between_steps_is_allowed_when_it_can_be_left() {
    let report = validated(json!({"entryStep": "a", "steps": {
        "a": step("b"),
        "b": {"prompt": "prompts/a.md", "check": {"type": "keyword", "keywords": ["OK"],
              "onPass": {"next": "end"}, "onFail": {"next": "a"}}},
    }}));

    assert_eq!(report, ValidationReport::default());
}

// Shows: flows/transitions/loops
#[test]
fn accepts_a_cycle_if_another_condition_completes_the_flow() {
    let circle = json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("a")}});
    for (kind, config) in [
        ("keywordSignal", json!({"keywords": ["DONE"]})),
        ("iterationBudget", json!({"maxIterations": 50})),
        ("deliverables", json!({})),
        (
            "externalState",
            json!({"source": {"type": "named", "name": "closed"}}),
        ),
        ("structuredSignal", json!({"signal": "done"})),
    ] {
        let report = completed(kind, config, circle.clone());

        assert_eq!(report, ValidationReport::default(), "{kind}");
    }
}

#[test]
fn outputs_of_earlier_steps_are_variables_of_later_ones_and_not_the_other_way() {
    let registry = json!({"entryStep": "a", "steps": {
        "a": {"prompt": "prompts/a.md", "outputs": ["draft"], "transition": {"next": "b"}},
        "b": {"prompt": "prompts/b.md", "transition": {"next": "end"}},
    }});
    let with = |a: &str, b: &str| {
        let definition = definition(agent(json!({})), registry.clone());
        let definition = definition
            .with_prompt("prompts/a.md", a)
            .with_prompt("prompts/b.md", b);
        validate(&definition).warnings.len()
    };

    assert_eq!(with("Write.", "Read {uv-draft}."), 0);
    assert_eq!(with("Write {uv-draft}.", "Read."), 1);
}

#[test]
fn a_variable_that_nothing_sets_is_a_warning_and_in_strict_mode_an_error() {
    for (strict, errors, warnings) in [(false, 0, 1), (true, 1, 0)] {
        let report = with_prompt(
            "{uv-topic} {uv-mood}",
            json!({"prompts": {"strictVariables": strict}}),
        );

        assert_eq!(
            (report.errors.len(), report.warnings.len()),
            (errors, warnings)
        );
        let findings = report.errors.iter().chain(&report.warnings);
        let kinds: Vec<FindingKind> = findings.map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::UndefinedVariable]);
    }
}

#[test]
fn a_value_that_only_checks_have_is_undefined_in_the_prompt_of_its_step() {
    for (path, in_step, in_check) in [
        ("/context/retry", 1, 0),
        ("/context/response", 1, 0),
        ("/context/visit", 0, 0),
    ] {
        for strict in [false, true] {
            let report = |step: &str, check: &str| {
                let a = json!({
                    "prompt": "prompts/step.md",
                    "variables": {"topic": {"from": path}},
                    "check": {"type": "prompt", "prompt": "prompts/check.md",
                              "onPass": {"next": "end"}},
                });
                let fields = json!({"prompts": {"strictVariables": strict}});
                let registry = json!({"entryStep": "a", "steps": {"a": a}});
                let flow = definition(agent(fields), registry)
                    .with_prompt("prompts/step.md", step)
                    .with_prompt("prompts/check.md", check);
                let report = validate(&flow);
                let findings = if strict {
                    report.errors
                } else {
                    report.warnings
                };
                findings.iter().map(|it| it.kind).collect::<Vec<_>>()
            };

            let of_step = report("Write about {uv-topic}.", "Is it good?");
            let of_check = report("Write.", "Is it about {uv-topic}?");

            let undefined = [FindingKind::UndefinedVariable];
            assert_eq!(of_step, undefined[..in_step], "{path}");
            assert_eq!(of_check, undefined[..in_check], "{path}");
        }
    }
}

#[test]
fn a_variable_that_is_allowed_to_be_undefined_is_not_reported() {
    for strict in [false, true] {
        let report = with_prompt(
            "{uv-topic} {uv-mood}",
            json!({"prompts": {"strictVariables": strict, "allowUndefined": ["mood"]}}),
        );

        assert_eq!(report, ValidationReport::default());
    }
}

#[test]
fn a_large_flow_is_judged_in_time() {
    let mut steps = serde_json::Map::new();
    for number in 0..400 {
        let mut one = step(&format!("s{}", (number + 1) % 400));
        one["transition"]["fallback"] = format!("s{}", (number + 199) % 400).into();
        one["transition"]["retry"] = true.into();
        steps.insert(format!("s{number}"), one);
    }
    let registry = json!({"entryStep": "s0", "steps": steps});

    let circle = validated(registry.clone());
    let counted = completed(
        "iterationBudget",
        json!({"maxIterations": 100_000}),
        registry,
    );

    assert_eq!(circle.errors[0].kind, FindingKind::CycleWithoutExit);
    // There are more states than are explored, which is reported.
    assert_eq!(counted.errors, []);
    assert_eq!(counted.warnings[0].kind, FindingKind::Limit);
}

proptest! {
    #[test]
    fn validation_never_panics_and_is_deterministic(
        targets in prop::collection::vec("[a-e]|end|x", 5),
        subs in prop::collection::vec(prop::collection::vec("[a-e]", 0..3), 5),
        kinds in prop::collection::vec("normal|subStep", 5),
    ) {
        let mut steps = serde_json::Map::new();
        for (number, id) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
            steps.insert(id.to_owned(), json!({
                "type": kinds[number], "prompt": "prompts/a.md", "subSteps": subs[number],
                "transition": {"next": targets[number]},
            }));
        }
        let definition: FlowDefinition =
            definition(agent(json!({})), json!({"entryStep": "a", "steps": steps}));

        prop_assert_eq!(validate(&definition), validate(&definition));
    }
}

#[test]
fn a_step_that_follows_itself_is_visited_in_a_row_even_if_it_can_call_another() {
    let a = json!({
        "prompt": "prompts/a.md",
        "transition": {"next": "a"},
        "escalation": {"escalateTo": "lead", "returnFlow": "abort"},
    });
    let flow = |step_loop: u32| {
        let budget =
            json!({"completionType": "iterationBudget", "completionConfig": {"maxIterations": 5}});
        let steps = json!({"a": a, "lead": {"prompt": "prompts/a.md"}});
        let registry = json!({"entryStep": "a", "steps": steps, "limits": {"stepLoop": step_loop}});
        validate(&definition(agent(json!({"behavior": budget})), registry))
    };

    assert!(!flow(1).is_valid());
    assert!(flow(5).is_valid(), "{}", flow(5));
}
