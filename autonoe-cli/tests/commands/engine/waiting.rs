//! Runs that are waited for.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use autonoe_core::{RunOutcome, RunPhase};
use serde_json::{Value, json};

use super::cluster::{cluster, done, journal, with_cluster};
use super::lines::{DEADLINE, Lines};
use crate::commands::setting::{Said, Setting};

/// A run here on scripted agents, and its report as its journal has it.
fn local_run(script: &Value, more: &[&str]) -> (Said, Value) {
    let setting = Setting::new()
        .file("SPEC.md", "# Shop\n")
        .file("agents.json", script.to_string());
    let run = ["run", "--backend", "scripted:agents.json", "--pause", "0s"];
    let said = setting.autonoe(&[&run[..], more].concat());
    let journal = setting.read(".autonoe/journal.jsonl");
    let last: Value = serde_json::from_str(journal.lines().last().expect("lines")).expect("JSON");
    assert_eq!(last["line"], "run_ended", "{}", said.screen());
    (said, last["report"].clone())
}

fn sessions(sessions: &[Value]) -> Value {
    let session = |steps: &Value| json!({"name": "a", "costUsd": "0.05", "steps": steps});
    json!({"sessions": sessions.iter().map(session).collect::<Vec<_>>()})
}

/// The call that creates a deliverable.
fn create() -> Value {
    let deliverable =
        json!({"id": "DL-001", "description": "x", "acceptanceCriteria": ["it is there"]});
    json!({"tool": "mcp__autonoe__create", "input": {"deliverables": [deliverable]}})
}

/// The call that has it pass.
fn passed() -> Value {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    json!({"tool": "mcp__autonoe__set_status", "input": passed})
}

#[test]
fn the_report_and_the_exit_code_are_those_of_a_run_here() {
    let (create, passed) = (create(), passed());
    let plans = json!([{"uses": create}, "ends"]);
    let passes = json!([{"uses": passed}, "ends"]);
    let fails = json!([{"endsWithError": "it broke"}]);
    let cases: [(Value, &[&str], i32); 4] = [
        (sessions(&[plans.clone(), passes]), &[], 0),
        (sessions(&[plans, json!(["ends"])]), &["-n", "2"], 4),
        (sessions(&[json!([{"hitsQuota": null}])]), &[], 5),
        (sessions(&[fails]), &["--max-retries", "0"], 7),
    ];
    for (script, more, code) in cases {
        let (local, report) = local_run(&script, more);
        assert_eq!(local.code, code, "{}", local.screen());
        let (setting, cluster) = cluster();
        let id = report["run"].as_str().expect("an id").to_owned();
        setting.autonoe(&["submit", "shop", "--run", &id]);
        cluster.change(&id, |run| {
            run.phase = RunPhase::Ended;
            run.outcome = Some(RunOutcome::succeeded(report.clone()));
        });

        let text = setting.autonoe_in_time(&["submit", "shop", "--run", &id, "--wait"]);
        let wait = ["submit", "shop", "--run", &id, "--wait", "--output=json"];
        let json = setting.autonoe_in_time(&wait);

        assert_eq!(text.stdout, local.stdout, "{}", text.screen());
        assert_eq!((text.code, json.code), (code, code));
        let last: Value =
            serde_json::from_str(json.stdout.lines().last().expect("lines")).expect("JSON");
        assert_eq!(last, json!({"run": id, "report": report}));
    }
}

#[test]
fn json_output_is_the_journal_and_then_the_report() {
    let (setting, cluster) = cluster();
    setting.autonoe(&["submit", "shop", "--run", "shop-1"]);
    cluster.journal("build-1", "shop", &journal("shop-1"));
    let outcome = done("shop-1");
    cluster.change("shop-1", |run| {
        run.phase = RunPhase::Ended;
        run.host = Some("build-1".to_owned());
        run.outcome = Some(outcome.clone());
    });

    let wait = [
        "submit",
        "shop",
        "--run",
        "shop-1",
        "--wait",
        "--output=json",
    ];
    let said = setting.autonoe_in_time(&wait);

    assert_eq!(said.code, 0, "{}", said.screen());
    let logs = setting.autonoe(&["engine", "logs", "shop-1", "--json"]);
    let report = said.stdout.strip_prefix(&logs.stdout).expect("the journal");
    assert_eq!(report.lines().count(), 1, "{report}");
    let report: Value = serde_json::from_str(report).expect("JSON");
    assert_eq!(report, json!({"run": "shop-1", "report": outcome.output}));
    assert!(logs.stdout.lines().count() > 5, "{}", logs.stdout);
}

#[test]
fn sentences_are_those_of_the_journal() {
    let (setting, cluster) = cluster();
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Run shop-1 was submitted");
    cluster.journal("build-1", "shop", &journal("shop-1"));
    cluster.change("shop-1", |run| {
        run.phase = RunPhase::Running;
        run.host = Some("build-1".to_owned());
    });
    lines.until("Session 2 completed");
    cluster.change("shop-1", |run| run.phase = RunPhase::Paused);
    lines.until("Paused");
    cluster.change("shop-1", |run| run.phase = RunPhase::Running);
    lines.until("Resumed");
    cluster.change("shop-1", |run| {
        run.phase = RunPhase::Ended;
        run.outcome = Some(done("shop-1"));
    });

    let (code, told) = lines.end();

    assert_eq!(code, Some(0), "{told}");
    insta::assert_snapshot!(told, @r"
    Run shop-1 was submitted
    2026-01-01 00:00:00Z  Flow hosted started (shop-1)
    2026-01-01 00:00:00Z  Session 1 started (initializer)
    2026-01-01 00:00:00Z    [NEW] A greeting [2J (DL-001)
    2026-01-01 00:00:00Z  Session 1 completed (2s, $0.05, 1 change)
    2026-01-01 00:00:00Z  It goes on
    2026-01-01 00:00:00Z  Session 2 started (coding)
    2026-01-01 00:00:00Z    [DENIED] Bash: rm -rf /
    2026-01-01 00:00:00Z      bash-security: rm is not allowed
    2026-01-01 00:00:00Z    [PASS] A greeting (DL-001)
    2026-01-01 00:00:00Z  Session 2 completed (2s, $0.05, 1 change, 1 call denied)
    Paused
    Resumed
    ");
}

#[test]
fn who_interrupts_the_wait_leaves_the_run_at_work_and_is_told_how_to_reach_it() {
    for signal in ["-INT", "-TERM"] {
        let (setting, cluster) = cluster();
        let child = setting
            .command(&["submit", "shop", "--run", "shop-1", "--wait"])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        let mut lines = Lines::of(child.expect("it starts"));
        lines.until("Run shop-1 was submitted");

        lines.signal(signal);
        let (code, told) = lines.end();

        assert_eq!(code, Some(130), "{told}");
        let ways = "the run shop-1 goes on; `autonoe engine logs shop-1 --follow` tells it, \
            `autonoe engine cancel shop-1` ends it\n";
        assert!(told.ends_with(ways), "{told}");
        let run = cluster.run("shop-1").expect("it is there");
        assert_eq!((run.outcome, run.told), (None, Vec::new()));
    }
}

#[test]
fn who_interrupts_before_there_is_an_answer_is_told_so() {
    let script = r#"echo '{"hello":{"protocol":"autonoe-engine","version":1}}'; read a; read b; echo > asked; read c"#;
    let setting = Setting::new().program("autonoe-worker", script);
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let lines = Lines::of(child.expect("it starts"));
    let deadline = Instant::now() + DEADLINE;
    while !setting.project().join("asked").exists() {
        assert!(Instant::now() < deadline, "it does not ask");
        thread::sleep(Duration::from_millis(5));
    }

    lines.signal("-INT");
    let (code, told) = lines.end();

    assert_eq!(code, Some(130), "{told}");
    let words = "nobody has said yet whether the run shop-1 is taken; if it is, `autonoe";
    assert!(told.starts_with(words), "{told}");
}

#[test]
fn a_run_that_was_cancelled_ends_as_one_that_was_interrupted() {
    let (setting, cluster) = cluster();
    setting.autonoe(&["submit", "shop", "--run", "shop-1"]);
    cluster.change("shop-1", |run| {
        run.outcome = Some(RunOutcome::cancelled("enough"));
    });

    let said = setting.autonoe_in_time(&["submit", "shop", "--run", "shop-1", "--wait"]);

    assert_eq!(
        (said.code, said.stdout.as_str()),
        (130, ""),
        "{}",
        said.screen()
    );
    assert!(
        said.stderr.contains("It was cancelled: enough"),
        "{}",
        said.screen()
    );
}

#[test]
fn the_reason_for_missing_progress_is_printed_once() {
    let (setting, cluster) = cluster();
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Run shop-1 was submitted");
    let stuck = |why: Option<&str>| {
        cluster.change("shop-1", |run| run.trouble = why.map(ToOwned::to_owned));
    };
    stuck(Some("no host has the project"));
    lines.until("The run makes no progress: no host has the project");
    stuck(Some("the disk is full"));
    lines.until("The run makes no progress: the disk is full");
    cluster.change("shop-1", |run| run.outcome = Some(done("shop-1")));

    let (code, told) = lines.end();

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("makes no progress").count(), 2, "{told}");
}

#[test]
fn an_unreadable_journal_does_not_end_the_wait() {
    let setting = with_cluster(Setting::new());
    let cluster = super::cluster::Cluster::of(&setting);
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Run shop-1 was submitted");
    let folder = cluster.project("build-1", "shop").join(".autonoe");
    fs::create_dir(&folder).expect("writable");
    fs::create_dir(folder.join("journal.jsonl")).expect("writable");
    cluster.change("shop-1", |run| run.host = Some("build-1".to_owned()));
    lines.until("warning: cannot read the journal for now");
    cluster.change("shop-1", |run| run.outcome = Some(done("shop-1")));

    let (code, told) = lines.end();

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("cannot read the journal").count(), 1, "{told}");
}
