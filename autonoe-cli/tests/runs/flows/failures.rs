//! Flows that cannot start, and flows that fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use super::fixture::{
    backend, calls, flow, npm, npm_fails, project, result, scripted, text_session,
};
use crate::runs::support::autonoe::{CommandOutput, RunningCommand};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, hangs, text_step};

const BUG: [&str; 2] = ["--bug", "it crashes at midnight"];

fn fix_bug(project: &Project, script: &Script, words: &[&str]) -> Command {
    let backend = backend(project, script);
    flow(project, &[&["fix-bug", &backend], words, &BUG].concat())
}

fn text_sessions(times: u32) -> Script {
    (0..times).fold(Script::new(), |script, _| {
        script.session(text_session("Now it is right."))
    })
}

#[test]
fn a_step_without_tries_left_ends_the_flow_with_the_reason() {
    let project = project();
    npm_fails(&project, 99);

    let ended = CommandOutput::run(fix_bug(&project, &text_sessions(9), &[]));

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expected = "the command `npm` ended with exit code 1";
    assert!(ended.stdout.contains(expected), "{ended:?}");
    assert!(ended.stdout.contains("5 iterations, 5 checks"), "{ended:?}");
    assert!(ended.stderr.contains("Step fix, try 5"), "{ended:?}");
    assert_eq!(ended.stderr.matches("[FAIL] fix").count(), 5, "{ended:?}");
}

#[test]
fn missing_parts_are_reported_before_the_start() {
    let project = project();
    let wrong = ["fix-bug", "--bug", "no"];
    let unknown = ["fix-bugs"];
    let foreign = ["fix-bug", "--bug", "it crashes at midnight", "--speed", "9"];
    for (words, expected) in [
        (&["fix-bug"][..], "--bug: a value is required"),
        (&wrong, "--bug: its length is 2 and must be at least 10"),
        (&unknown, "unknown flow \"fix-bugs\""),
        (&foreign, "--speed: this flag does not exist"),
    ] {
        let ended = CommandOutput::run(flow(&project, words));

        assert_eq!(ended.code, Some(2), "{words:?}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{words:?}: {ended:?}");
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

    let ended = CommandOutput::run(fix_bug(&project, &text_sessions(1), &[]));

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
fn a_missing_program_of_a_check_is_reported_before_the_start() {
    let project = project();
    let mut command = fix_bug(&project, &text_sessions(1), &[]);
    command.env("PATH", "/nowhere");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("the program \"npm\" is not in the PATH of commands"),
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
    let backend = backend(&project, &text_sessions(1));
    let run = |name: &str, options: &[&str]| {
        let words = [&[name, &backend], options, &BUG].concat();
        CommandOutput::run(flow(&project, &words))
    };

    for (name, options) in [
        ("./flows/fix-bug", &[][..]),
        ("./flows/fix-bug", &["--dry-run"]),
        ("./flows/fix-bug", &["--no-sandbox"]),
        ("fix-bug", &[]),
    ] {
        let ended = run(name, options);

        assert_eq!(ended.code, Some(1), "{name}: {ended:?}");
        let expected = "its own agents could change it there";
        assert!(ended.stderr.contains(expected), "{name}: {ended:?}");
        assert!(ended.stderr.contains(home), "{name}: {ended:?}");
    }
    assert!(!project.path(".autonoe/journal.jsonl").exists());
    let validated = ["flow", "validate", "./flows/fix-bug"];
    let validated =
        CommandOutput::run(crate::runs::support::autonoe::autonoe(&project, &validated));
    assert_eq!(validated.code, Some(0), "{validated:?}");

    fs::rename(project.path(open), project.sibling_path("fix-bug")).expect("writable");
    let outside = project.sibling_path("fix-bug");
    let outside = run(outside.to_str().expect("a plain name"), &[]);
    assert_eq!(outside.code, Some(0), "{outside:?}");
}

#[test]
fn a_sandbox_that_cannot_be_created_is_reported_before_the_start() {
    let project = project();
    npm_fails(&project, 0);
    project.write(
        "bin/bwrap",
        "#!/bin/sh\necho 'no namespaces here' >&2\nexit 1\n",
    );
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path("bin/bwrap"), mode).expect("ours");

    let confined = CommandOutput::run(fix_bug(&project, &text_sessions(1), &[]));
    let without = CommandOutput::run(fix_bug(&project, &text_sessions(1), &["--no-sandbox"]));

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

    let stopped = CommandOutput::run(fix_bug(
        &project,
        &text_sessions(9),
        &["--max-cost", "0.50"],
    ));
    let second = CommandOutput::run(fix_bug(
        &project,
        &text_sessions(9),
        &["--max-cost", "0.50"],
    ));
    let log = CommandOutput::run(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    let resumed = CommandOutput::run(fix_bug(&project, &text_sessions(9), &["--max-cost", "5"]));

    assert_eq!(stopped.code, Some(6), "{stopped:?}");
    assert!(stopped.stdout.contains("2 iterations"), "{stopped:?}");
    let hint =
        "To resume it, run the same command with a higher limit; to start over, add --restart.";
    assert!(stopped.stdout.contains(hint), "{stopped:?}");
    assert_eq!(second.code, Some(6), "{second:?}");
    assert!(second.stdout.contains("2 iterations"), "{second:?}");
    assert!(log.stdout.contains("Stopped: the cost budget"), "{log:?}");
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
    let script = Script::new().session([text_step("I begin."), json!({"hitsQuota": null})]);

    let stopped = CommandOutput::run(fix_bug(&project, &script, &[]));
    let script = script.session(text_session("Done."));
    let resumed = CommandOutput::run(fix_bug(&project, &script, &[]));

    assert_eq!(stopped.code, Some(5), "{stopped:?}");
    let hint = "To resume it, run the same command; to start over, add --restart.";
    assert!(stopped.stdout.contains(hint), "{stopped:?}");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("1 iteration,"), "{resumed:?}");
}

#[test]
fn an_interrupt_stops_the_flow_and_the_same_command_resumes_it() {
    let project = project();
    npm_fails(&project, 0);
    let script = Script::new().session([text_step("I look."), hangs()]);
    let command = fix_bug(&project, &script, &[]);
    let run = RunningCommand::until_journal_has(command, &project, "\"number\":1");

    run.interrupt();
    let (code, written) = run.end();
    let script = Script::new()
        .session([text_step("I look.")])
        .session(text_session("Done."));
    let planned = CommandOutput::run(fix_bug(&project, &script, &["--dry-run"]));
    let resumed = CommandOutput::run(fix_bug(&project, &script, &[]));

    assert_eq!(code, Some(130), "{written}");
    assert!(planned.stdout.contains("resumes "), "{planned:?}");
    assert!(planned.stdout.contains("at step"), "{planned:?}");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("1 iteration,"), "{resumed:?}");
}

#[test]
fn a_step_fails_when_its_judge_gives_no_verdict() {
    let project = project();
    let mut script = Script::new();
    for _ in 0..8 {
        script = script.session(text_session("It passed, it is fine, PASSED: true."));
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
fn check_command_runs_sandboxed_without_keys() {
    let project = project();
    // Not in a folder for temporary files, which a sandbox hides anyway.
    let key_file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    let key_file = key_file.path();
    fs::write(key_file, "a key of a file").expect("writable");
    let models = json!({
        "providers": {"team": {"type": "openai", "key": {"file": key_file}}},
        "tools": {"variables": ["OPENAI_API_KEY", "AUTONOE_SIGNING_KEY_OPS", "COLOUR"]},
    });
    project.write(".autonoe/models.json", &models.to_string());
    let print_secrets = format!("(env; cat '{}') > seen 2>&1", key_file.display());
    npm(
        &project,
        &format!("{print_secrets}; echo x > ../escaped; true"),
    );
    let mut command = fix_bug(&project, &text_sessions(1), &[]);
    command
        .env("COLOUR", "blue")
        .env("OPENAI_API_KEY", "a key of a model")
        .env("ANTHROPIC_API_KEY", "a key of a model")
        .env("AUTONOE_SIGNING_KEY_OPS", "a key of a webhook");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let seen = project.read("seen");
    assert!(
        seen.contains("PATH=") && seen.contains("COLOUR=blue"),
        "{seen}"
    );
    assert!(!seen.contains("a key of"), "{seen}");
    assert!(
        !project.sibling_path("escaped").exists(),
        "it is outside of the sandbox"
    );
}

#[test]
fn log_shows_flow_steps_and_project_stays_usable() {
    let project = project();
    npm_fails(&project, 1);
    let script = Script::new()
        .session(text_session("So?"))
        .session(text_session("So."));
    assert_eq!(
        CommandOutput::run(fix_bug(&project, &script, &[])).code,
        Some(0)
    );

    let log = CommandOutput::run(crate::runs::support::autonoe::autonoe(&project, &["log"]));
    let second = scripted(
        &project,
        "prepare-release",
        &Script::new()
            .session(calls("set_outputs", json!({"changes": "x"})))
            .session([ends()]),
        &["--release", "1.0.0", "--since", "v0"],
    );

    let mut rest = log.stdout.as_str();
    for expected in [
        "Flow fix-bug started",
        "Step fix\n",
        "Session 1 completed",
        "[FAIL] fix: the command `npm` ended with exit code 1",
        "Step fix, try 2\n",
        "Session 2 completed",
        "[PASS] fix: every expected action happened",
        "completed: the flow reached the end of its steps",
    ] {
        let (_, after) = rest
            .split_once(expected)
            .unwrap_or_else(|| panic!("{expected}: {log:?}"));
        rest = after;
    }
    assert_ne!(second.code, Some(2), "{second:?}");
}

#[test]
fn log_shows_checks_even_if_the_definition_changed() {
    let project = project();
    npm_fails(&project, 99);
    let failed = CommandOutput::run(fix_bug(&project, &text_sessions(9), &[]));
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let changed = project
        .read(file)
        .replace("\"maxRetries\": 4", "\"maxRetries\": 8");
    project.write(file, &changed);

    let log = CommandOutput::run(crate::runs::support::autonoe::autonoe(&project, &["log"]));

    let expected = "[FAIL] the command `npm` ended with exit code 1";
    assert_eq!(log.stdout.matches(expected).count(), 5, "{log:?}");
    assert!(log.stdout.contains("failed at the step fix: "), "{log:?}");
}
