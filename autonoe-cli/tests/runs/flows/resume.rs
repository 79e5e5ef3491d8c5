//! Resuming killed flows.

use serde_json::json;

use super::examples::steps;
use super::fixture::{backend, calls, flow, npm_fails, project, result, text_session};
use crate::runs::support::autonoe::{CommandOutput, RunningCommand};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, hangs, text_step};

const BUG: [&str; 2] = ["--bug", "it crashes at midnight"];

/// Kills `fix-bug` in its third attempt.
fn killed() -> Project {
    killed_with(&[])
}

/// Kills `fix-bug` in its third attempt, with these options.
fn killed_with(options: &[&str]) -> Project {
    let project = project();
    npm_fails(&project, 99);
    let script = Script::new()
        .session(text_session("It was the cache."))
        .session(text_session("It was the clock."))
        .session([text_step("I look once more."), hangs()]);
    let option = backend(&project, &script);
    let words = [&["fix-bug", &option], options, &BUG].concat();
    let command = flow(&project, &words);
    RunningCommand::until_journal_has(command, &project, "\"number\":3").kill();
    project
}

/// A script with enough attempts.
fn tries() -> Script {
    (0..9).fold(Script::new(), |script, _| {
        script.session(text_session("Now it is right."))
    })
}

fn resume(project: &Project, words: &[&str]) -> CommandOutput {
    let option = backend(project, &tries());
    let words = [&["fix-bug", "--json", &option], words, &BUG].concat();
    CommandOutput::run(flow(project, &words))
}

#[test]
fn a_killed_flow_resumes_at_its_step_and_counts_its_attempts() {
    let project = killed();

    let ended = resume(&project, &[]);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    // Five attempts in all, two of which had finished before the kill.
    assert_eq!(steps(&result), ["fix"; 5], "{result:#}");
    assert_eq!(project.read("tested").lines().count(), 5);
    for expected in ["resuming the run ", " of the flow fix-bug;"] {
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
    let expected = "Flow fix-bug resumed (";
    assert!(ended.stderr.contains(expected), "{ended:?}");
    assert!(!ended.stderr.contains("Flow fix-bug started"), "{ended:?}");
    assert!(ended.stderr.contains("Step fix, try 3"), "{ended:?}");
    assert!(!ended.stderr.contains("Step fix, try 2"), "{ended:?}");
}

#[test]
fn a_resumed_flow_keeps_its_limits_unless_others_are_passed() {
    for (options, code, iterations) in [
        // Each finished attempt costs a quarter of a dollar.
        (&[][..], 6, 3),
        (&["--wait-for-quota"], 6, 3),
        (&["--max-time", "99h"], 6, 3),
        (&["--max-cost", "1.00"], 6, 4),
        (&["--max-cost", "9"], 1, 5),
    ] {
        let project = killed_with(&["--max-cost", "0.75"]);

        let ended = resume(&project, options);

        assert_eq!(ended.code, Some(code), "{options:?}: {ended:?}");
        assert_eq!(steps(&result(&ended)).len(), iterations, "{options:?}");
    }
}

#[test]
fn a_dry_run_reports_that_it_would_resume() {
    let project = killed();
    let before = project.read(".autonoe/journal.jsonl");

    let words = [&["fix-bug", "--dry-run"][..], &BUG].concat();
    let ended = CommandOutput::run(flow(&project, &words));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("resumes"), "{ended:?}");
    assert_eq!(project.read(".autonoe/journal.jsonl"), before);
}

#[test]
fn a_dry_run_prints_the_step_to_resume_or_the_reason_against_resuming() {
    let project = project();
    npm_fails(&project, 0);
    let changes = json!({"changes": "fixed: the clock", "breaking": false});
    let script = Script::new()
        .session(calls("set_outputs", changes))
        .session([text_step("I write it."), hangs()]);
    let option = backend(&project, &script);
    let words = |release| ["--release", release, "--since", "v1.3.2"];
    let command = flow(
        &project,
        &[&["prepare-release", &option][..], &words("1.4.0")].concat(),
    );
    RunningCommand::until_journal_has(command, &project, "\"number\":2").kill();
    let dry_run = |release| {
        let words = [&["prepare-release", "--dry-run"][..], &words(release)].concat();
        CommandOutput::run(flow(&project, &words))
    };

    let (same, other) = (dry_run("1.4.0"), dry_run("2.0.0"));

    assert!(same.stdout.contains("resumes"), "{same:?}");
    assert!(same.stdout.contains("at step"), "{same:?}");
    assert!(same.stdout.contains(" changelog"), "{same:?}");
    assert!(!same.stdout.contains("first step"), "{same:?}");
    assert!(!other.stdout.contains("resumes"), "{other:?}");
    assert!(other.stdout.contains("cannot resume"), "{other:?}");
    assert!(
        other.stdout.contains("its parameters were different"),
        "{other:?}"
    );
    assert_eq!((same.code, other.code), (Some(0), Some(1)));
    let words = [&["prepare-release", &option][..], &words("2.0.0")].concat();
    let refused = CommandOutput::run(flow(&project, &words));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!refused.stderr.contains("resuming the run"), "{refused:?}");
}

#[test]
fn a_running_flow_is_not_reported_as_interrupted() {
    let project = project();
    npm_fails(&project, 0);
    let script = Script::new().session([text_step("I look."), hangs()]);
    let option = backend(&project, &script);
    let command = flow(&project, &[&["fix-bug", &option][..], &BUG].concat());
    let under_way = RunningCommand::until_journal_has(command, &project, "\"number\":1");

    for words in [
        &["fix-bug", &option, BUG[0], BUG[1]][..],
        &[
            "prepare-release",
            &option,
            "--release",
            "1.0.0",
            "--since",
            "v0",
        ],
    ] {
        let other = CommandOutput::run(flow(&project, words));

        assert_eq!(other.code, Some(1), "{other:?}");
        assert!(other.stderr.contains("is held by another run"), "{other:?}");
        for absent in ["resuming the run", "is not resumed"] {
            assert!(!other.stderr.contains(absent), "{other:?}");
        }
    }
    under_way.kill();
}

#[test]
fn a_flow_does_not_resume_with_another_definition_or_parameters() {
    let project = killed();
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let changed = project
        .read(file)
        .replace("\"maxRetries\": 4", "\"maxRetries\": 8");
    let option = backend(&project, &tries());
    let other = ["fix-bug", &option, "--bug", "it crashes at noon each day"];

    let parameters = CommandOutput::run(flow(&project, &other));
    project.write(file, &changed);
    let definition = resume(&project, &[]);
    let restarted = resume(&project, &["--restart"]);

    for (ended, expected) in [
        (&parameters, "its parameters have changed since"),
        (&definition, "its definition has changed since"),
    ] {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        assert!(ended.stderr.contains("--restart"), "{ended:?}");
    }
    assert_eq!(steps(&result(&restarted)), ["fix"; 9], "{restarted:?}");
}

#[test]
fn run_reports_interrupted_flow_it_does_not_resume() {
    let project = killed();
    let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);

    let run = crate::runs::support::autonoe::scripted(&project, &script, &["run"]);
    let second = resume(&project, &[]);

    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("the unfinished run "), "{run:?}");
    let expected = " of the flow fix-bug is not resumed; starting a new run";
    assert!(run.stderr.contains(expected), "{run:?}");
    // The run came later, so the flow is no longer the last one.
    for absent in ["resuming the run", "is not resumed"] {
        assert!(!second.stderr.contains(absent), "{second:?}");
    }
    assert_eq!(steps(&result(&second)), ["fix"; 5], "{second:?}");
}
