//! Runs that are looked at, paused, told something and cancelled.

use autonoe_core::{RunInstruction, RunPhase, RunView};

use super::cluster::{Cluster, with_runs};
use crate::commands::setting::Setting;

#[test]
fn how_a_run_stands_is_told_to_people() {
    let setting = with_runs(Setting::new());

    let held = setting.autonoe(&["engine", "status", "held"]);
    let ended = setting.autonoe(&["engine", "status", "shop-1"]);

    insta::assert_snapshot!(held.screen(), @r"
    exit 0
    --- stdout
    Run held: running
      project   shop (run)
      host      build-1
      progress  0%, session 0
      spent     $0.00, 0s
    --- stderr
    ");
    insta::assert_snapshot!(ended.screen(), @r"
    exit 0
    --- stdout
    Run shop-1: ended
      project   shop (run)
      host      build-1
      spent     $0.00, 0s
    Run shop-1 ended: all achievable deliverables passed
    1 of 1 deliverables passed; 2 iterations, 4s, $0.10
    --- stderr
    ");
}

#[test]
fn how_a_run_stands_is_told_to_programs() {
    let setting = with_runs(Setting::new());

    let said = setting.autonoe(&["engine", "status", "shop-1", "--output", "json"]);

    let view: RunView = serde_json::from_str(&said.stdout).expect("a view");
    assert_eq!(view.phase, RunPhase::Ended);
    assert_eq!(view.host.as_deref(), Some("build-1"));
    assert!(view.outcome.expect("it has ended").is_success());
}

#[test]
fn a_run_is_paused_told_something_resumed_and_cancelled() {
    let setting = with_runs(Setting::new());
    let cluster = Cluster::of(&setting);
    let run = || cluster.run("held").expect("it is there");

    let paused = setting.autonoe(&["engine", "pause", "held"]);
    let phase = run().phase;
    let said = setting.autonoe(&["engine", "say", "held", "Use tabs."]);
    let resumed = setting.autonoe(&["engine", "resume", "held"]);
    let cancelled = setting.autonoe(&["engine", "cancel", "held", "--reason", "enough"]);

    for done in [&paused, &said, &resumed, &cancelled] {
        assert_eq!(done.code, 0, "{}", done.screen());
        assert!(done.stdout.contains("held"), "{}", done.screen());
    }
    assert_eq!(phase, RunPhase::Paused);
    let told = [
        RunInstruction::Pause,
        RunInstruction::Say("Use tabs.".to_owned()),
        RunInstruction::Resume,
    ];
    assert_eq!(run().told, told);
    let outcome = autonoe_core::RunOutcome::cancelled("enough");
    assert_eq!(run().outcome, Some(outcome));
    let after = setting.autonoe(&["engine", "status", "held"]);
    assert!(
        after.stdout.contains("It was cancelled: enough\n"),
        "{}",
        after.screen()
    );
}

#[test]
fn a_run_that_has_ended_takes_nothing_more_and_stays_as_it_is() {
    let setting = with_runs(Setting::new());
    let cluster = Cluster::of(&setting);
    let before = cluster.run("shop-1");

    for words in [
        &["pause", "shop-1"][..],
        &["resume", "shop-1"],
        &["say", "shop-1", "Hello."],
        &["cancel", "shop-1"],
    ] {
        let said = setting.autonoe(&[&["engine"], words].concat());

        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{words:?}");
        let error = "error: the run shop-1 has ended\n  hint: `autonoe engine status shop-1` says";
        assert!(said.stderr.starts_with(error), "{}", said.screen());
    }

    assert_eq!(cluster.run("shop-1"), before);
}

#[test]
fn a_run_that_nobody_knows_is_wrong_usage() {
    let setting = with_runs(Setting::new());

    for words in [
        &["status", "nobody"][..],
        &["logs", "nobody"],
        &["logs", "nobody", "--follow"],
        &["pause", "nobody"],
        &["resume", "nobody"],
        &["say", "nobody", "Hello."],
        &["cancel", "nobody"],
    ] {
        let said = setting.autonoe_in_time(&[&["engine"], words].concat());

        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{words:?}");
        let error = "error: there is no run nobody\n  hint: `autonoe submit` prints";
        assert!(said.stderr.starts_with(error), "{}", said.screen());
    }
    let nothing = setting.autonoe(&["engine", "say", "held", " "]);
    assert_eq!(nothing.code, 2);
}
