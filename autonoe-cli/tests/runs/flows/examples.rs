//! Runs of the flows in `examples/flows`.

use serde_json::{Value, json};

use super::fixture::{backend, calls, flow, npm_fails, project, result, scripted, text_session};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::script::Script;
use crate::runs::telemetry::spans::exported_tree;

/// Returns the steps in the order of their prompts.
pub(super) fn steps(result: &Value) -> Vec<&str> {
    let iterations = result["iterations"].as_array().expect("a list");
    let steps = iterations.iter().map(|it| it["step"].as_str());
    steps.map(|step| step.expect("a step")).collect()
}

fn verdict(passed: bool) -> [Value; 3] {
    calls("verdict", json!({"passed": passed, "reason": "So it is."}))
}

fn review(verdict: &str) -> [Value; 3] {
    let outputs = json!({"verdict": verdict, "remarks": "1. The second step is missing."});
    calls("set_outputs", outputs)
}

#[test]
fn a_bug_is_fixed_until_the_tests_pass() {
    let project = project();
    npm_fails(&project, 2);
    let script = Script::new()
        .session(text_session("I think that it was the cache."))
        .session(text_session("It was the clock."))
        .session(text_session("It was the cache and the clock."));

    let ended = scripted(
        &project,
        "fix-bug",
        &script,
        &["--bug", "it crashes at midnight"],
    );

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    assert_eq!(result["complete"], true, "{result:#}");
    assert_eq!(steps(&result), ["fix", "fix", "fix"]);
    assert_eq!(project.read("tested"), "test\ntest\ntest\n");
}

#[test]
fn a_flow_is_received_as_one_tree() {
    let project = project();
    npm_fails(&project, 0);
    let script = Script::new().session(text_session("It was the clock."));
    let backend = backend(&project, &script);
    let bug = "it crashes at midnight";
    let command = flow(&project, &["fix-bug", &backend, "--bug", bug]);

    let tree = exported_tree(command);

    assert_eq!(tree, ["invoke_workflow fix-bug", "  invoke_agent fix"]);
}

#[test]
fn a_document_passes_fallback_review_escalation_and_approval() {
    let project = project();
    let script = Script::new()
        .session(text_session("A draft."))
        .session(verdict(false))
        .session(text_session("The same draft."))
        .session(verdict(false))
        .session(text_session("A document along an outline."))
        .session(review("revise"))
        .session(text_session("1. I do not think so."))
        .session(verdict(false))
        .session(text_session("1. I still do not think so."))
        .session(verdict(false))
        .session(text_session("The reviewer is right, and it is settled."))
        .session(text_session("1. It is there now."))
        .session(verdict(true))
        .session(review("approve"));

    let words = ["--topic", "how to restore a backup"];
    let ended = scripted(&project, "reviewed-document", &script, &words);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    assert_eq!(
        steps(&result),
        [
            "draft", "draft", "outline", "review", "revise", "revise", "settle", "revise", "review"
        ]
    );
    assert_eq!(result["steps"]["review"]["outputs"]["verdict"], "approve");
    let log = CommandOutput::run(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    for output in [&ended.stderr, &log.stdout] {
        assert_eq!(
            output.matches("Escalation to settle: ").count(),
            1,
            "{output}"
        );
        assert!(output.contains("Step revise, visit 2"), "{output}");
    }
}

#[test]
fn an_unapproved_document_lists_its_open_points() {
    let project = project();
    let mut script = Script::new()
        .session(text_session("A draft."))
        .session(verdict(true));
    for _ in 0..3 {
        script = script
            .session(review("revise"))
            .session(text_session("1. Done."))
            .session(verdict(true));
    }
    let script = script
        .session(review("revise"))
        .session(text_session("The open points are in the file."));

    let words = [
        "--topic=how to restore a backup",
        "--file",
        "docs/restore.md",
    ];
    let ended = scripted(&project, "reviewed-document", &script, &words);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(steps(&result(&ended)).last(), Some(&"hand-over"));
}

fn survey(breaking: bool) -> [Value; 3] {
    let changes = "fixed: the clock is right at midnight";
    calls(
        "set_outputs",
        json!({"changes": changes, "breaking": breaking}),
    )
}

fn signs_off() -> [Value; 3] {
    let fields = json!({"version": "1.4.0", "summary": "The clock is right."});
    calls("signal", json!({"name": "release-ready", "fields": fields}))
}

const RELEASE: [&str; 4] = ["--release", "1.4.0", "--since", "v1.3.2"];

#[test]
fn a_release_is_prepared_when_all_conditions_hold() {
    for (breaking, way) in [
        (
            false,
            &["survey", "changelog", "version", "documents", "sign-off"][..],
        ),
        (
            true,
            &[
                "survey",
                "changelog",
                "version",
                "documents",
                "migration",
                "sign-off",
            ],
        ),
    ] {
        let project = project();
        npm_fails(&project, 0);
        let mut script = Script::new().session(survey(breaking));
        for _ in 0..way.len() - 2 {
            script = script.session(text_session("It is written."));
        }
        let script = script.session(signs_off());

        let ended = scripted(&project, "prepare-release", &script, &RELEASE);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result = result(&ended);
        assert_eq!(steps(&result), way);
        let states = json!({"prepared": true, "signed off": true, "all steps done": true});
        assert_eq!(result["states"], states, "{result:#}");
    }
}

#[test]
fn release_without_sign_off_fails() {
    let project = project();
    npm_fails(&project, 0);
    let mut script = Script::new().session(survey(false));
    for _ in 0..6 {
        script = script.session(text_session("The changelog misses something."));
    }

    let ended = scripted(&project, "prepare-release", &script, &RELEASE);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    assert_eq!(result["failure"]["code"], "step_failed", "{result:#}");
    assert_eq!(result["states"]["signed off"], false, "{result:#}");
}
