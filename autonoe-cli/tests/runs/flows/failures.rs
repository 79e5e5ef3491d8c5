//! Flows that cannot begin or do not end well.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use super::setting::{backend, calls, flow, npm, npm_fails, project, result, scripted, speaks};
use crate::runs::support::autonoe::Ended;
use crate::runs::support::killed::UnderWay;
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, hangs, says};

const BUG: [&str; 2] = ["--bug", "it crashes at midnight"];

fn fix_bug(project: &Project, script: &Script, words: &[&str]) -> Command {
    let backend = backend(project, script);
    flow(project, &[&["fix-bug", &backend], words, &BUG].concat())
}

fn speaks_often(times: u32) -> Script {
    (0..times).fold(Script::new(), |script, _| {
        script.session(speaks("Now it is right."))
    })
}

#[test]
fn a_step_whose_tries_are_spent_ends_the_flow_with_its_reason() {
    let project = project();
    npm_fails(&project, 99);

    let ended = Ended::of(fix_bug(&project, &speaks_often(9), &[]));

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = "the command `npm` ended with exit code 1";
    assert!(ended.stdout.contains(told), "{ended:?}");
    assert!(ended.stdout.contains("5 iterations, 5 checks"), "{ended:?}");
    assert!(ended.stderr.contains("Step fix, try 5"), "{ended:?}");
    assert_eq!(ended.stderr.matches("[FAIL] fix").count(), 5, "{ended:?}");
}

#[test]
fn what_is_missing_is_told_before_anything_begins() {
    let project = project();
    let wrong = ["fix-bug", "--bug", "no"];
    let unknown = ["fix-bugs"];
    let foreign = ["fix-bug", "--bug", "it crashes at midnight", "--speed", "9"];
    for (words, told) in [
        (&["fix-bug"][..], "--bug: it must be given"),
        (&wrong, "--bug: its length is 2 and must be at least 10"),
        (&unknown, "there is no flow \"fix-bugs\""),
        (&foreign, "--speed: there is no such flag"),
    ] {
        let ended = Ended::of(flow(&project, words));

        assert_eq!(ended.code, Some(2), "{words:?}: {ended:?}");
        assert!(ended.stderr.contains(told), "{words:?}: {ended:?}");
    }
    assert!(!project.path(".autonoe/journal.jsonl").exists());
}

#[test]
fn a_flow_with_errors_is_not_run() {
    let project = project();
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let text = project
        .read(file)
        .replace("\"next\": \"end\"", "\"next\": \"done\"");
    project.write(file, &text);

    let ended = Ended::of(fix_bug(&project, &speaks_often(1), &[]));

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("there is no step `done`"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("steps_registry.json:12:29"),
        "{ended:?}"
    );
    assert!(!project.path(".autonoe/journal.jsonl").exists());
}

#[test]
fn a_program_that_a_check_needs_and_nobody_has_is_told_before_anything_begins() {
    let project = project();
    let mut command = fix_bug(&project, &speaks_often(1), &[]);
    command.env("PATH", "/nowhere");

    let ended = Ended::of(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("there is no program \"npm\""),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains("SIGNING_KEY"), "{ended:?}");
}

#[test]
fn a_flow_that_its_own_agents_could_change_is_not_run() {
    let project = project();
    npm_fails(&project, 0);
    let (home, open) = (".autonoe/flows/fix-bug", "flows/fix-bug");
    fs::create_dir(project.path("flows")).expect("writable");
    fs::rename(project.path(home), project.path(open)).expect("writable");
    std::os::unix::fs::symlink("../../flows/fix-bug", project.path(home)).expect("writable");
    let backend = backend(&project, &speaks_often(1));
    let run = |name: &str, options: &[&str]| {
        let words = [&[name, &backend], options, &BUG].concat();
        Ended::of(flow(&project, &words))
    };

    for (name, options) in [
        ("./flows/fix-bug", &[][..]),
        ("./flows/fix-bug", &["--dry-run"]),
        ("./flows/fix-bug", &["--no-sandbox"]),
        ("fix-bug", &[]),
    ] {
        let ended = run(name, options);

        assert_eq!(ended.code, Some(1), "{name}: {ended:?}");
        let told = "its own agents could change it there";
        assert!(ended.stderr.contains(told), "{name}: {ended:?}");
        assert!(ended.stderr.contains(home), "{name}: {ended:?}");
    }
    assert!(!project.path(".autonoe/journal.jsonl").exists());
    let validated = ["flow", "validate", "./flows/fix-bug"];
    let validated = Ended::of(crate::runs::support::autonoe::autonoe(&project, &validated));
    assert_eq!(validated.code, Some(0), "{validated:?}");

    fs::rename(project.path(open), project.beside("fix-bug")).expect("writable");
    let outside = project.beside("fix-bug");
    let outside = run(outside.to_str().expect("a plain name"), &[]);
    assert_eq!(outside.code, Some(0), "{outside:?}");
}

#[test]
fn a_sandbox_that_cannot_be_made_is_told_before_anything_begins() {
    let project = project();
    npm_fails(&project, 0);
    project.write(
        "bin/bwrap",
        "#!/bin/sh\necho 'no namespaces here' >&2\nexit 1\n",
    );
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path("bin/bwrap"), mode).expect("ours");

    let confined = Ended::of(fix_bug(&project, &speaks_often(1), &[]));
    let without = Ended::of(fix_bug(&project, &speaks_often(1), &["--no-sandbox"]));

    assert_eq!(confined.code, Some(1), "{confined:?}");
    assert!(
        confined.stderr.contains("must run in a sandbox"),
        "{confined:?}"
    );
    assert!(confined.stderr.contains("--no-sandbox"), "{confined:?}");
    assert_eq!(without.code, Some(0), "{without:?}");
}

#[test]
fn a_spent_budget_stops_the_flow_and_a_higher_one_resumes_it() {
    let project = project();
    npm_fails(&project, 2);

    let stopped = Ended::of(fix_bug(&project, &speaks_often(9), &["--max-cost", "0.50"]));
    let again = Ended::of(fix_bug(&project, &speaks_often(9), &["--max-cost", "0.50"]));
    let log = Ended::of(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    let resumed = Ended::of(fix_bug(&project, &speaks_often(9), &["--max-cost", "5"]));

    assert_eq!(stopped.code, Some(6), "{stopped:?}");
    assert!(stopped.stdout.contains("2 iterations"), "{stopped:?}");
    let hint = "The same command with a higher limit resumes it; --anew starts over.";
    assert!(stopped.stdout.contains(hint), "{stopped:?}");
    assert_eq!(again.code, Some(6), "{again:?}");
    assert!(again.stdout.contains("2 iterations"), "{again:?}");
    assert!(log.stdout.contains("Stopped: the money budget"), "{log:?}");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("3 iterations"), "{resumed:?}");
}

#[test]
fn a_spent_quota_stops_the_flow_and_the_same_command_resumes_it() {
    let project = project();
    npm_fails(&project, 0);
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let without = project
        .read(file)
        .replace("{ \"retry\": true, \"maxRetries\": 4 }", "{}");
    project.write(file, &without);
    let script = Script::new().session([says("I begin."), json!({"hitsQuota": null})]);

    let stopped = Ended::of(fix_bug(&project, &script, &[]));
    let script = script.session(speaks("Done."));
    let resumed = Ended::of(fix_bug(&project, &script, &[]));

    assert_eq!(stopped.code, Some(5), "{stopped:?}");
    let hint = "The same command resumes it; --anew starts over.";
    assert!(stopped.stdout.contains(hint), "{stopped:?}");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("1 iteration,"), "{resumed:?}");
}

#[test]
fn an_interrupt_stops_the_flow_and_the_same_command_resumes_it() {
    let project = project();
    npm_fails(&project, 0);
    let script = Script::new().session([says("I look."), hangs()]);
    let command = fix_bug(&project, &script, &[]);
    let run = UnderWay::until_journal_has(command, &project, "\"number\":1");

    run.interrupt();
    let (code, written) = run.end();
    let script = Script::new()
        .session([says("I look.")])
        .session(speaks("Done."));
    let planned = Ended::of(fix_bug(&project, &script, &["--dry-run"]));
    let resumed = Ended::of(fix_bug(&project, &script, &[]));

    assert_eq!(code, Some(130), "{written}");
    assert!(planned.stdout.contains("goes on with"), "{planned:?}");
    assert!(planned.stdout.contains("at the step"), "{planned:?}");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("1 iteration,"), "{resumed:?}");
}

#[test]
fn a_judge_that_gives_no_verdict_is_no_yes() {
    let project = project();
    let mut script = Script::new();
    for _ in 0..8 {
        script = script.session(speaks("It passed, it is fine, PASSED: true."));
    }

    let ended = scripted(
        &project,
        "reviewed-document",
        &script,
        &["--topic", "backups"],
    );

    assert_ne!(ended.code, Some(0), "{ended:?}");
    let result = result(&ended);
    assert_eq!(result["steps"]["draft"]["passed"], false, "{result:#}");
}

#[test]
fn the_command_of_a_check_stands_in_the_sandbox_without_keys() {
    let project = project();
    // Not among temporary files, which a sandbox does not show anyway.
    let key_file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    let key_file = key_file.path();
    fs::write(key_file, "a key of a file").expect("writable");
    let models = json!({
        "providers": {"team": {"type": "openai", "key": {"file": key_file}}},
        "tools": {"variables": ["OPENAI_API_KEY", "AUTONOE_SIGNING_KEY_OPS", "COLOUR"]},
    });
    project.write(".autonoe/models.json", &models.to_string());
    let look = format!("(env; cat '{}') > seen 2>&1", key_file.display());
    npm(&project, &format!("{look}; echo x > ../escaped; true"));
    let mut command = fix_bug(&project, &speaks_often(1), &[]);
    command
        .env("COLOUR", "blue")
        .env("OPENAI_API_KEY", "a key of a model")
        .env("ANTHROPIC_API_KEY", "a key of a model")
        .env("AUTONOE_SIGNING_KEY_OPS", "a key of a webhook");

    let ended = Ended::of(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let seen = project.read("seen");
    assert!(
        seen.contains("PATH=") && seen.contains("COLOUR=blue"),
        "{seen}"
    );
    assert!(!seen.contains("a key of"), "{seen}");
    assert!(
        !project.beside("escaped").exists(),
        "it is outside of the sandbox"
    );
}

#[test]
fn the_flow_is_told_by_the_log_and_leaves_the_project_free() {
    let project = project();
    npm_fails(&project, 1);
    let script = Script::new().session(speaks("So?")).session(speaks("So."));
    assert_eq!(Ended::of(fix_bug(&project, &script, &[])).code, Some(0));

    let log = Ended::of(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    let again = scripted(
        &project,
        "prepare-release",
        &Script::new()
            .session(calls("set_outputs", json!({"changes": "x"})))
            .session([ends()]),
        &["--release", "1.0.0", "--since", "v0"],
    );

    let mut rest = log.stdout.as_str();
    for told in [
        "Flow fix-bug started",
        "Step fix\n",
        "Session 1 completed",
        "[FAIL] fix: the command `npm` ended with exit code 1",
        "Step fix, try 2\n",
        "Session 2 completed",
        "[PASS] fix: every action was as expected",
        "ended: it is complete: the steps have come to their end",
    ] {
        let (_, after) = rest
            .split_once(told)
            .unwrap_or_else(|| panic!("{told}: {log:?}"));
        rest = after;
    }
    assert_ne!(again.code, Some(2), "{again:?}");
}

#[test]
fn the_log_tells_checks_also_when_the_definition_is_another_one_by_now() {
    let project = project();
    npm_fails(&project, 99);
    let failed = Ended::of(fix_bug(&project, &speaks_often(9), &[]));
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let changed = project
        .read(file)
        .replace("\"maxRetries\": 4", "\"maxRetries\": 8");
    project.write(file, &changed);

    let log = Ended::of(crate::runs::support::autonoe::autonoe(&project, &["log"]));

    let told = "[FAIL] the command `npm` ended with exit code 1";
    assert_eq!(log.stdout.matches(told).count(), 5, "{log:?}");
    assert!(
        log.stdout.contains("ended: it failed at the step fix: "),
        "{log:?}"
    );
}
