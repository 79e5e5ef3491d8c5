//! Flows that were killed.

use serde_json::json;

use super::examples::steps;
use super::setting::{backend, calls, flow, npm_fails, project, result, speaks};
use crate::runs::support::autonoe::Ended;
use crate::runs::support::killed::UnderWay;
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, hangs, says};

const BUG: [&str; 2] = ["--bug", "it crashes at midnight"];

/// Kills `fix-bug` in its third try.
fn killed() -> Project {
    killed_with(&[])
}

/// The same with these options.
fn killed_with(options: &[&str]) -> Project {
    let project = project();
    npm_fails(&project, 99);
    let script = Script::new()
        .session(speaks("It was the cache."))
        .session(speaks("It was the clock."))
        .session([says("I look once more."), hangs()]);
    let option = backend(&project, &script);
    let words = [&["fix-bug", &option], options, &BUG].concat();
    let command = flow(&project, &words);
    UnderWay::until_journal_has(command, &project, "\"number\":3").kill();
    project
}

/// Tries often enough.
fn tries() -> Script {
    (0..9).fold(Script::new(), |script, _| {
        script.session(speaks("Now it is right."))
    })
}

fn goes_on(project: &Project, words: &[&str]) -> Ended {
    let option = backend(project, &tries());
    let words = [&["fix-bug", "--json", &option], words, &BUG].concat();
    Ended::of(flow(project, &words))
}

#[test]
fn a_killed_flow_goes_on_at_its_step_and_its_tries_are_counted() {
    let project = killed();

    let ended = goes_on(&project, &[]);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let result = result(&ended);
    // Five tries in all, of which two had come to their end.
    assert_eq!(steps(&result), ["fix"; 5], "{result:#}");
    assert_eq!(project.read("tested").lines().count(), 5);
    for told in ["resuming the interrupted run", "of the flow fix-bug;"] {
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
    let told = "Flow fix-bug goes on (";
    assert!(ended.stderr.contains(told), "{ended:?}");
    assert!(!ended.stderr.contains("Flow fix-bug started"), "{ended:?}");
    assert!(ended.stderr.contains("Step fix, try 3"), "{ended:?}");
    assert!(!ended.stderr.contains("Step fix, try 2"), "{ended:?}");
}

#[test]
fn limits_are_those_of_the_first_start_unless_others_are_given() {
    for (options, code, iterations) in [
        // A quarter of a dollar for each try that came to its end.
        (&[][..], 6, 3),
        (&["--wait-for-quota"], 6, 3),
        (&["--max-time", "99h"], 6, 3),
        (&["--max-cost", "1.00"], 6, 4),
        (&["--max-cost", "9"], 1, 5),
    ] {
        let project = killed_with(&["--max-cost", "0.75"]);

        let ended = goes_on(&project, options);

        assert_eq!(ended.code, Some(code), "{options:?}: {ended:?}");
        assert_eq!(steps(&result(&ended)).len(), iterations, "{options:?}");
    }
}

#[test]
fn a_dry_run_tells_that_it_would_go_on() {
    let project = killed();
    let before = project.read(".autonoe/journal.jsonl");

    let words = [&["fix-bug", "--dry-run"][..], &BUG].concat();
    let ended = Ended::of(flow(&project, &words));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("goes on with"), "{ended:?}");
    assert_eq!(project.read(".autonoe/journal.jsonl"), before);
}

#[test]
fn a_dry_run_tells_the_step_at_which_it_would_go_on_and_why_it_would_not() {
    let project = project();
    npm_fails(&project, 0);
    let changes = json!({"changes": "fixed: the clock", "breaking": false});
    let script = Script::new()
        .session(calls("set_outputs", changes))
        .session([says("I write it."), hangs()]);
    let option = backend(&project, &script);
    let words = |release| ["--release", release, "--since", "v1.3.2"];
    let command = flow(
        &project,
        &[&["prepare-release", &option][..], &words("1.4.0")].concat(),
    );
    UnderWay::until_journal_has(command, &project, "\"number\":2").kill();
    let dry_run = |release| {
        let words = [&["prepare-release", "--dry-run"][..], &words(release)].concat();
        Ended::of(flow(&project, &words))
    };

    let (same, other) = (dry_run("1.4.0"), dry_run("2.0.0"));

    assert!(same.stdout.contains("goes on with"), "{same:?}");
    assert!(same.stdout.contains("at the step"), "{same:?}");
    assert!(same.stdout.contains(" changelog"), "{same:?}");
    assert!(!same.stdout.contains("first step"), "{same:?}");
    assert!(!other.stdout.contains("goes on with"), "{other:?}");
    assert!(other.stdout.contains("cannot go on"), "{other:?}");
    assert!(
        other.stdout.contains("it had other parameters"),
        "{other:?}"
    );
}

#[test]
fn a_flow_that_is_under_way_is_not_said_to_have_broken_off() {
    let project = project();
    npm_fails(&project, 0);
    let script = Script::new().session([says("I look."), hangs()]);
    let option = backend(&project, &script);
    let command = flow(&project, &[&["fix-bug", &option][..], &BUG].concat());
    let under_way = UnderWay::until_journal_has(command, &project, "\"number\":1");

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
        let other = Ended::of(flow(&project, words));

        assert_eq!(other.code, Some(1), "{other:?}");
        assert!(other.stderr.contains("is held by another run"), "{other:?}");
        assert!(!other.stderr.contains("interrupted run"), "{other:?}");
    }
    under_way.kill();
}

#[test]
fn another_definition_or_other_parameters_are_not_gone_on_with() {
    let project = killed();
    let file = ".autonoe/flows/fix-bug/steps_registry.json";
    let changed = project
        .read(file)
        .replace("\"maxRetries\": 4", "\"maxRetries\": 8");
    let option = backend(&project, &tries());
    let other = ["fix-bug", &option, "--bug", "it crashes at noon each day"];

    let parameters = Ended::of(flow(&project, &other));
    project.write(file, &changed);
    let definition = goes_on(&project, &[]);
    let anew = goes_on(&project, &["--anew"]);

    for (ended, told) in [
        (&parameters, "it had other parameters"),
        (&definition, "its definition was changed since"),
    ] {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
        assert!(ended.stderr.contains("--anew"), "{ended:?}");
    }
    assert_eq!(steps(&result(&anew)), ["fix"; 9], "{anew:?}");
}

#[test]
fn what_is_left_behind_is_told() {
    let project = killed();
    let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);

    let run = crate::runs::support::autonoe::scripted(&project, &script, &["run"]);
    let anew = goes_on(&project, &[]);

    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("the interrupted run "), "{run:?}");
    let told = " of the flow fix-bug is left as it is; a new run begins";
    assert!(run.stderr.contains(told), "{run:?}");
    // The run came after it, so that the flow is not the last one any more.
    assert!(!anew.stderr.contains("interrupted run"), "{anew:?}");
    assert_eq!(steps(&result(&anew)), ["fix"; 5], "{anew:?}");
}
