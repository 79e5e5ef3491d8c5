//! Killed runs that are resumed with other limits.

use super::support::autonoe::RunningCommand;
use crate::runs::support::autonoe::{CommandOutput, autonoe, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, hangs, sets, text_step};

const IDS: [&str; 3] = ["DL-001", "DL-002", "DL-003"];

/// Two sessions that count, and a third one that hangs.
fn hanging() -> Script {
    Script::new()
        .plans(&IDS)
        .session([sets("DL-001", "passed"), ends()])
        .session([text_step("working"), hangs()])
}

/// The same plan, to its end.
fn complete_script() -> Script {
    Script::new()
        .plans(&IDS)
        .passes(&["DL-001"])
        .passes(&["DL-002"])
        .passes(&["DL-003"])
}

/// Starts a run with these options, and kills it in its third session.
fn killed_in_session_3(arguments: &[&str]) -> Project {
    let project = Project::new();
    let command = scripted_command(&project, &hanging(), arguments);
    let run = RunningCommand::until_journal_has(command, &project, "\"number\":3,\"instruction\"");
    run.kill();
    project
}

// Shows: beyond/limits-that-are-given-when
#[test]
fn new_limits_apply_and_the_counts_continue() {
    for (arguments, code, expected) in [
        (
            &["run", "-n", "3"][..],
            4,
            "2 of 3 deliverables passed; 3 iterations",
        ),
        (
            &["run", "-n", "2"],
            4,
            "1 of 3 deliverables passed; 2 iterations",
        ),
        (
            &["run", "--max-cost", "0.75"],
            6,
            "2 of 3 deliverables passed; 3 iterations",
        ),
        (
            &["run", "--max-cost", "0.50"],
            6,
            "1 of 3 deliverables passed; 2 iterations",
        ),
        (
            &["run", "--max-time", "1h"],
            0,
            "3 of 3 deliverables passed; 4 iterations",
        ),
        (
            &["run", "-n", "9", "--max-cost", "9"],
            0,
            "3 of 3 deliverables passed; 4 iterations",
        ),
        (&["run"], 0, "3 of 3 deliverables passed; 4 iterations"),
    ] {
        let project = killed_in_session_3(&["run"]);

        let ended = scripted(&project, &complete_script(), arguments);

        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
        assert!(ended.stdout.contains(expected), "{arguments:?}: {ended:?}");
        assert!(
            ended.stderr.contains("resuming the killed run"),
            "{ended:?}"
        );
    }
}

#[test]
fn a_resumed_run_keeps_its_limits_unless_others_are_passed() {
    let project = killed_in_session_3(&["run", "-n", "3"]);

    let ended = scripted(&project, &complete_script(), &["run", "--max-retries=1"]);

    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stdout.contains("3 iterations"), "{ended:?}");
}

#[test]
fn a_resumed_run_prints_all_limits_in_force() {
    let project = killed_in_session_3(&["run", "--max-cost=9", "--max-time=1h", "-n", "3"]);

    let ended = scripted(&project, &complete_script(), &["run", "-n", "4"]);

    let expected = "Limits: maxIterations 4, maxCost $9.00, maxTime 1h";
    assert!(ended.stderr.contains(expected), "{ended:?}");
    assert!(ended.stderr.contains(" resumed (run)"), "{ended:?}");
    assert!(!ended.stderr.contains(" started (run)"), "{ended:?}");
}

#[test]
fn a_limit_can_be_raised() {
    let project = killed_in_session_3(&["run", "-n", "3"]);

    let ended = scripted(&project, &complete_script(), &["run", "-n", "4"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn retries_that_are_used_up_under_the_new_limit_end_the_run() {
    let project = Project::new();
    let fails = |script: Script| script.session([serde_json::json!({"endsWithError": "no"})]);
    let script = fails(fails(Script::new().plans(&IDS))).session([text_step("working"), hangs()]);
    let command = scripted_command(&project, &script, &["run"]);
    RunningCommand::until_journal_has(command, &project, "\"number\":4,\"instruction\"").kill();

    let ended = scripted(&project, &complete_script(), &["run", "--max-retries", "1"]);

    assert_eq!(ended.code, Some(7), "{ended:?}");
}

#[test]
fn a_run_killed_twice_keeps_the_limits_of_its_resumption() {
    let project = killed_in_session_3(&["run"]);
    let command = scripted_command(&project, &hanging(), &["run", "-n", "3"]);
    RunningCommand::until_journal_has(command, &project, "session_lost").kill();

    let ended = scripted(&project, &complete_script(), &["run"]);

    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stdout.contains("3 iterations"), "{ended:?}");
    let log = CommandOutput::run(autonoe(&project, &["log"]));
    assert!(
        log.stdout.contains("Limits changed: max iterations 3"),
        "{log:?}"
    );
}

#[test]
fn a_resumed_run_uses_the_passed_model() {
    let project = killed_in_session_3(&["run", "--model=sonnet"]);

    let ended = scripted(&project, &complete_script(), &["run", "--model=opus"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("Session 3 started (coding, opus)"),
        "{ended:?}"
    );
}

#[test]
fn a_dry_run_of_a_killed_run_prints_the_effective_limits() {
    let project = killed_in_session_3(&["run", "--max-retries=7"]);

    let dry_run = scripted(
        &project,
        &complete_script(),
        &["run", "--dry-run", "-n", "3"],
    );
    let ends = scripted(
        &project,
        &complete_script(),
        &["run", "--dry-run", "-n", "2"],
    );

    let row = |name: &str| {
        let mut lines = dry_run.stdout.lines();
        let line = lines.find(|line| line.trim_start().starts_with(name));
        let words = line.unwrap_or_default().split_whitespace();
        words.skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("maxIterations"), ["3", "flag"], "{dry_run:?}");
    assert_eq!(row("maxRetries"), ["7", "journal"], "{dry_run:?}");
    assert_eq!(row("session"), ["3"], "{dry_run:?}");
    assert!(ends.stdout.contains("ends immediately"), "{ends:?}");
}

#[test]
fn a_sync_does_not_resume_a_run_and_prints_that() {
    let project = killed_in_session_3(&["run"]);
    let verify = |id: &str| {
        let input = serde_json::json!({"deliverableId": id});
        crate::runs::support::script::uses("mcp__autonoe__verify", input)
    };
    let script = Script::new()
        .session([text_step("nothing to change"), ends()])
        .session([verify("DL-001"), verify("DL-002"), verify("DL-003"), ends()]);

    let ended = scripted(&project, &script, &["sync"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("starting a new sync"), "{ended:?}");
    assert!(!ended.stderr.contains("going on with"), "{ended:?}");
}

#[test]
fn status_names_the_command_that_resumes_a_killed_run() {
    let project = killed_in_session_3(&["run"]);

    let status = CommandOutput::run(autonoe(&project, &["status"]));

    let expected = "The last run was killed: the next `autonoe run` resumes it.";
    assert!(status.stdout.contains(expected), "{status:?}");
}

#[test]
fn a_run_that_was_interrupted_and_then_killed_is_resumed() {
    let project = Project::new();
    let command = scripted_command(&project, &hanging(), &["run"]);
    let run = RunningCommand::until_journal_has(command, &project, "\"number\":3,\"instruction\"");
    run.kill();
    // The journal after a second interrupt has ended the program during a session.
    let journal = project.read(".autonoe/journal.jsonl");
    let last = journal.lines().last().expect("it has lines");
    let mut line: serde_json::Value = serde_json::from_str(last).expect("JSON");
    line["fact"] = serde_json::json!({"fact": "cancelled"});
    line["action"] = serde_json::json!({"action": "stop_session"});
    project.write(".autonoe/journal.jsonl", &format!("{journal}{line}\n"));

    let ended = scripted(&project, &complete_script(), &["run"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("3 of 3 deliverables passed"),
        "{ended:?}"
    );
}
