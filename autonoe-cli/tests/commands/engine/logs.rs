//! Journals of other hosts.

use std::process::Stdio;

use autonoe_core::RunPhase;
use serde_json::json;

use super::cluster::{Cluster, done, journal, session_ended, with_runs, written};
use super::lines::Lines;
use crate::commands::setting::Setting;

#[test]
fn lines_are_told_as_on_their_host() {
    let setting = with_runs(Setting::new());
    let there = "cluster/build-1/shop";

    let logs = setting.autonoe(&["engine", "logs", "shop-1"]);
    let local = setting.autonoe(&["log", "--run", "shop-1", "-p", there]);
    let json = setting.autonoe(&["engine", "logs", "shop-1", "--json"]);
    let local_json = setting.autonoe(&["log", "--run", "shop-1", "--json", "-p", there]);

    assert_eq!((logs.code, json.code), (0, 0), "{}", logs.screen());
    let (lines, _) = local
        .stdout
        .split_once("It did not")
        .expect("it has no end there");
    let end = "Run shop-1 ended: all achievable deliverables passed\n\
        1 of 1 deliverables passed; 2 iterations, 4s, $0.10\n";
    assert_eq!(logs.stdout, format!("{lines}{end}"));
    assert!(
        logs.stdout.contains("[DENIED] Bash: rm -rf /"),
        "{}",
        logs.stdout
    );
    assert!(!logs.stdout.contains('\u{1b}'));
    assert_eq!(json.stdout, local_json.stdout);
    assert_eq!(json.stdout.lines().count(), 9);
}

#[test]
fn of_a_run_under_way_is_said_how_to_follow_it() {
    let setting = with_runs(Setting::new());

    let said = setting.autonoe(&["engine", "logs", "held"]);

    let hint = "It is under way; `autonoe engine logs held --follow` tells what comes.\n";
    assert!(said.stdout.ends_with(hint), "{}", said.screen());
}

#[test]
fn many_lines_come_in_pages() {
    let setting = with_runs(Setting::new());
    let cluster = Cluster::of(&setting);
    let long = "x".repeat(10_000);
    for number in 0..100 {
        let line = json!({"line": "denied", "session": 2, "tool": "Bash",
            "by": "test", "reason": format!("{number} {long}")});
        let line = written("held", line);
        cluster.journal("build-1", "shop", &format!("{line}\n"));
    }

    let said = setting.autonoe(&["engine", "logs", "held", "--json"]);

    assert_eq!(said.code, 0, "{}", said.stderr);
    let numbers: Vec<usize> = said
        .stdout
        .lines()
        .filter_map(|line| {
            line.split_once("\"reason\":\"")?
                .1
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_run_is_followed_to_its_end_on_another_host() {
    let setting = with_runs(Setting::new());
    let cluster = Cluster::of(&setting);
    let child = setting
        .command(&["engine", "logs", "held", "--follow"])
        .stdout(Stdio::piped())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Session 2 completed");

    // It moves: what was not published of its last session is begun again there.
    let all = journal("held");
    let published: String = all.split_inclusive('\n').take(8).collect();
    cluster.journal("build-2", "shop", &published);
    cluster.change("held", |run| run.host = Some("build-2".to_owned()));
    let line = written(
        "held",
        json!({"line": "verified", "session": 2, "id": "DL-001"}),
    );
    cluster.journal("build-2", "shop", &format!("{line}\n"));
    lines.until("[VERIFIED] DL-001");
    let line = written("held", session_ended(3));
    cluster.journal("build-2", "shop", &format!("{line}\n"));
    cluster.change("held", |run| {
        run.phase = RunPhase::Ended;
        run.outcome = Some(done("held"));
    });
    let (code, told) = lines.end();

    assert_eq!(code, Some(0));
    assert!(told.contains("Session 3 completed"), "{told}");
    assert!(
        told.contains("Run held ended: all achievable deliverables passed"),
        "{told}"
    );
    assert_eq!(told.matches("Session 1 started").count(), 1, "{told}");
    assert_eq!(told.matches("Session 2 completed").count(), 1, "{told}");
}

#[test]
fn a_run_that_no_host_has_taken_has_nothing_to_tell() {
    let setting = with_runs(Setting::new());
    setting.autonoe(&["submit", "shop", "--run", "new"]);

    let said = setting.autonoe(&["engine", "logs", "new"]);

    insta::assert_snapshot!(said.screen(), @r"
    exit 0
    --- stdout
    The run new has written nothing down yet.
    No host has taken it yet.
    --- stderr
    ");
}

#[test]
fn why_a_run_does_not_come_on_is_said_for_what_it_has_not_written() {
    let setting = with_runs(Setting::new());
    setting.autonoe(&["submit", "shop", "--run", "new"]);
    let why = "no host has the project shop";
    Cluster::of(&setting).change("new", |run| run.trouble = Some(why.to_owned()));

    let text = setting.autonoe(&["engine", "logs", "new"]);
    let json = setting.autonoe(&["engine", "logs", "new", "--json"]);
    let status = setting.autonoe(&["engine", "status", "new"]);
    let status_json = setting.autonoe(&["engine", "status", "new", "--output=json"]);

    let line = format!("It does not come on: {why}\n");
    for said in [&text.stdout, &json.stderr, &status.stdout] {
        assert!(said.contains(&line), "{said}");
    }
    assert_eq!((text.code, json.stdout.as_str()), (0, ""));
    let view: serde_json::Value = serde_json::from_str(&status_json.stdout).expect("JSON");
    assert_eq!(view["trouble"], why);
}

#[test]
fn a_line_that_cannot_be_understood_is_an_error_as_on_its_host() {
    let setting = with_runs(Setting::new());
    Cluster::of(&setting).journal("build-1", "shop", "rubbish\n");

    let local = setting.autonoe(&["log", "--run", "shop-1", "-p", "cluster/build-1/shop"]);
    for follow in [&[][..], &["--follow"]] {
        let words = [&["engine", "logs", "shop-1"], follow].concat();
        let said = setting.autonoe_in_time(&words);

        assert_eq!((said.code, said.stdout.as_str()), (local.code, ""));
        assert!(
            said.stderr.contains("line 19 of the journal"),
            "{}",
            said.screen()
        );
        assert!(
            said.stderr.contains("the host build-1"),
            "{}",
            said.screen()
        );
    }
    assert!(
        local.stderr.contains("line 19 of the journal"),
        "{}",
        local.screen()
    );
}
