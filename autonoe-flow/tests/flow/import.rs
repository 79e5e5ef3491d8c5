//! Imports of climpt flows: the result, and the listed notes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use autonoe_flow::import;
use autonoe_flow::validate::FindingKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::upstream::{Upstream, addressed, composite, json_file, newer, notes};

#[test]
fn an_agent_of_the_newer_shape_becomes_a_valid_flow() {
    let upstream = newer();

    let imported = upstream.import();

    assert_eq!(imported.name.as_str(), "auditor");
    insta::assert_snapshot!("newer_agent", imported.files[Path::new("agent.json")]);
    insta::assert_snapshot!(
        "newer_steps",
        imported.files[Path::new("steps_registry.json")]
    );
    let prompts: BTreeMap<_, _> = imported
        .files
        .iter()
        .filter(|(file, _)| file.extension().is_some_and(|it| it == "md"))
        .collect();
    insta::assert_debug_snapshot!("newer_prompts", prompts);
    assert_eq!(upstream.findings(&imported), Vec::<String>::new());
}

#[test]
fn all_that_an_import_changes_and_drops_is_listed_with_its_place() {
    insta::assert_snapshot!("newer_notes", notes(&newer().import()));
}

#[test]
fn steps_with_addresses_become_a_valid_flow() {
    let upstream = addressed();

    let imported = upstream.import();

    insta::assert_snapshot!(
        "addressed_steps",
        imported.files[Path::new("steps_registry.json")]
    );
    insta::assert_snapshot!("addressed_notes", notes(&imported));
    assert_eq!(upstream.findings(&imported), Vec::<String>::new());
}

#[test]
fn an_agent_of_the_older_shape_repeats_its_continuation_within_its_budget() {
    let agent = json!({
        "version": "1.10.0",
        "name": "auditor",
        "behavior": {
            "systemPromptPath": "prompts/system.md",
            "completionType": "externalState",
            "completionConfig": {"maxIterations": 30},
            "allowedTools": ["Read"],
            "permissionMode": "acceptEdits",
        },
        "prompts": {"registry": "steps_registry.json", "fallbackDir": "prompts/"},
        "github": {"enabled": true},
        "worktree": {"enabled": true},
    });
    let registry = json!({
        "agentId": "auditor",
        "version": "1.0.0",
        "userPromptsBase": ".agent/auditor/texts",
        "steps": {
            "continuation.plain": {"stepId": "continuation.plain", "promptPath": "continuation/plain.md",
                                   "fallbackKey": "continuation_plain"},
            "initial.plain": {"stepId": "initial.plain", "promptPath": "initial/plain.md"},
            "section.extra": {"stepId": "section.extra", "promptPath": "section/extra.md"},
        },
    });
    let upstream = Upstream::new(&agent, &registry);
    upstream.write("prompts/system.md", "You audit.");
    upstream.write("texts/initial/plain.md", "Begin.");
    upstream.write("texts/continuation/plain.md", "Go on.");

    let imported = upstream.import();

    assert_eq!(upstream.findings(&imported), Vec::<String>::new());
    assert_eq!(
        json_file(&imported, "steps_registry.json"),
        json!({
            "version": "1.0.0",
            "limits": {"stepLoop": 30, "maxVisits": 30},
            "entryStep": "initial.plain",
            "steps": {
                "continuation.plain": {"prompt": "texts/continuation/plain.md",
                                       "transition": {"next": "continuation.plain"}},
                "initial.plain": {"prompt": "texts/initial/plain.md",
                                  "transition": {"next": "continuation.plain"}},
            },
        })
    );
    let behavior = &json_file(&imported, "agent.json")["behavior"];
    assert_eq!(behavior["completionType"], "iterationBudget");
    assert_eq!(behavior["completionConfig"], json!({"maxIterations": 30}));
    insta::assert_snapshot!("older_notes", notes(&imported));
}

#[test]
fn steps_in_our_format_are_imported_unchanged() {
    let agent = json!({
        "version": "1",
        "name": "auditor",
        "behavior": {"completionType": "stepMachine"},
    });
    let registry = json!({
        "entryStep": "draft",
        "steps": {
            "draft": {
                "name": "Draft",
                "prompt": {"c1": "write", "c2": "draft", "c3": "text"},
                "check": {"type": "keyword", "keywords": ["DONE"]},
                "transition": {"next": "end", "retry": true, "maxRetries": 2},
            },
        },
    });
    let upstream = Upstream::new(&agent, &registry);
    let text = "Write.\n\n---\nSay DONE at the end.";
    upstream.write("prompts/write/draft/text/f_default.md", text);

    let imported = upstream.import();

    assert_eq!(json_file(&imported, "steps_registry.json"), registry);
    let prompt = Path::new("prompts/write/draft/text/f_default.md");
    assert_eq!(imported.files[prompt], text);
    assert_eq!(imported.notes, []);
    assert_eq!(upstream.findings(&imported), Vec::<String>::new());

    let mut validated = registry.clone();
    validated["validators"] = json!({"tests": {"command": "make", "successWhen": "exitCode:0"}});
    validated["validationSteps"] = json!({
        "draft": {"validationConditions": [{"validator": "tests"}]},
    });
    upstream.write("steps_registry.json", &validated.to_string());
    let imported = upstream.import();
    assert_eq!(json_file(&imported, "steps_registry.json"), registry);
    assert_eq!(
        notes(&imported),
        "dropped steps_registry.json /validationSteps/draft: the step has the format of flows, \
         with its own `check`\n\
         dropped steps_registry.json /validators/tests: no step uses it\n"
    );
}

#[test]
fn completions_have_the_same_meaning_under_both_of_their_names() {
    let steps = json!({"entryStep": "a", "steps": {
        "a": {"prompt": "prompts/a.md", "transition": {"next": "end"}},
    }});
    for (names, config, kind, expected) in [
        (
            ["iterationBudget", "count:iteration"],
            json!({"maxIterations": 5}),
            "iterationBudget",
            json!({"maxIterations": 5}),
        ),
        (
            ["checkBudget", "count:check"],
            json!({"maxChecks": 4}),
            "checkBudget",
            json!({"maxChecks": 4}),
        ),
        (
            ["keywordSignal", "detect:keyword"],
            json!({"completionKeyword": "DONE"}),
            "keywordSignal",
            json!({"keywords": ["DONE"]}),
        ),
        (
            ["structuredSignal", "detect:structured"],
            json!({"signalType": "verdict", "requiredFields": ["why"], "maxIterations": 9}),
            "structuredSignal",
            json!({"signal": "verdict", "requiredFields": ["why"]}),
        ),
        (
            ["structuredSignal", "detect:structured"],
            json!({"signalType": "verdict", "requiredFields": {"why": "string"}}),
            "structuredSignal",
            json!({"signal": "verdict", "requiredFields": ["why"]}),
        ),
        (
            ["stepMachine", "detect:graph"],
            json!({"entryStep": "a"}),
            "stepMachine",
            Value::Null,
        ),
        (
            ["composite", "meta:composite"],
            json!({"operator": "or", "conditions": [
                {"type": "count:iteration", "config": {"maxIterations": 5}},
                {"type": "keywordSignal", "config": {"verdictKeyword": "DONE"}},
            ]}),
            "composite",
            json!({"mode": "any", "conditions": [
                {"type": "iterationBudget", "config": {"maxIterations": 5}},
                {"type": "keywordSignal", "config": {"keywords": ["DONE"]}},
            ]}),
        ),
        (
            ["custom", "meta:custom"],
            json!({"handlerPath": "./done.ts"}),
            "stepMachine",
            Value::Null,
        ),
    ] {
        for name in names {
            let agent = json!({"version": "1", "name": "auditor", "behavior": {
                "completionType": name, "completionConfig": config,
            }});
            let upstream = Upstream::new(&agent, &steps);
            upstream.write("prompts/a.md", "Go. Say DONE.");

            let imported = upstream.import();

            let behavior = &json_file(&imported, "agent.json")["behavior"];
            assert_eq!(behavior["completionType"], kind, "{name}");
            assert_eq!(behavior["completionConfig"], expected, "{name}");
            let weaker =
                "/requiredFields: only the names are required; their values are not compared";
            assert_eq!(
                notes(&imported).contains(weaker),
                config["requiredFields"].is_object(),
                "{name}"
            );
        }
    }
}

#[test]
fn conditions_of_one_type_get_names() {
    let upstream = composite(&json!([
        {"type": "keywordSignal", "config": {"verdictKeyword": "DONE"}},
        {"type": "iterationBudget", "config": {"maxIterations": 1}},
        {"type": "keywordSignal", "config": {"verdictKeyword": "FINISHED"}},
        {"type": "detect:keyword", "config": {"verdictKeyword": "OVER"}},
    ]));

    let imported = upstream.import();

    assert_eq!(upstream.findings(&imported), Vec::<String>::new());
    assert_eq!(
        json_file(&imported, "agent.json")["behavior"]["completionConfig"]["conditions"],
        json!([
            {"type": "keywordSignal", "config": {"keywords": ["DONE"]}},
            {"type": "iterationBudget", "config": {"maxIterations": 1}},
            {"name": "keywordSignal-2", "type": "keywordSignal", "config": {"keywords": ["FINISHED"]}},
            {"name": "keywordSignal-3", "type": "keywordSignal", "config": {"keywords": ["OVER"]}},
        ])
    );
}

#[test]
fn conditions_that_become_one_type_get_names() {
    let upstream = composite(&json!([
        {"type": "externalState", "config": {"type": "issueClose"}},
        {"type": "custom", "config": {"handlerPath": "./done.ts"}},
    ]));

    let imported = upstream.import();

    assert_eq!(upstream.findings(&imported), Vec::<String>::new());
    assert_eq!(
        json_file(&imported, "agent.json")["behavior"]["completionConfig"]["conditions"],
        json!([
            {"type": "stepMachine", "config": {}},
            {"name": "stepMachine-2", "type": "stepMachine", "config": {}},
        ])
    );
}

#[test]
fn a_renamed_flow_has_its_name_in_its_file() {
    let imported = newer().import().rename("second".parse().expect("a name"));

    assert_eq!(imported.name.as_str(), "second");
    assert_eq!(json_file(&imported, "agent.json")["name"], "second");
}

#[test]
fn a_folder_without_an_agent_is_no_import() {
    let outer = tempfile::tempdir().expect("a folder");

    let error = import(outer.path()).expect_err("there is nothing");

    assert_eq!(error.finding().kind, FindingKind::NotFound);
}

#[cfg(unix)]
#[test]
fn no_file_outside_the_folder_is_imported() {
    let upstream = newer();
    let secret = upstream.outer.path().join("secret.md");
    fs::write(&secret, "secret").expect("writable");
    let link = upstream.dir().join("prompts/link.md");
    std::os::unix::fs::symlink(&secret, link).expect("writable");

    let imported = upstream.import();

    assert!(!imported.files.values().any(|text| text.contains("secret")));
    assert!(notes(&imported).contains("dropped prompts/link.md : "));

    let agent = json!({"name": "auditor", "prompts": {"registry": "../steps.json"}});
    upstream.write("agent.json", &agent.to_string());
    let error = import(&upstream.dir()).expect_err("it leads out");
    assert_eq!(error.finding().kind, FindingKind::OutsideFolder);
}

/// Arbitrary JSON, with the names of fields that are read.
fn any_json() -> impl Strategy<Value = Value> {
    const NAMES: &str = "name|behavior|runner|flow|verdict|boundaries|type|config|completionType|completionConfig|conditions|parameters|prompts|steps|a|initial.a|transitions|structuredGate|allowedIntents|target|validators|validationSteps|command|successWhen|c1|c2|userPromptsBase|entryStep|entryStepMapping|requiredFields|maxIterations|address|postLLMConditions|params|initial";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(composite|externalState|../x|/|a|initial.a|auditor/|\\PC{0,6})".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(NAMES, inner, 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_json_makes_an_import_panic_or_name_a_file_outside(agent in any_json(), steps in any_json()) {
        let upstream = Upstream::new(&agent, &steps);
        upstream.write("prompts/a.md", "---\nname: a\n---\nGo.");

        if let Ok(imported) = import(&upstream.dir()) {
            for file in imported.files.keys() {
                let mut parts = file.components();
                prop_assert!(parts.all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
