//! Tests of `autonoe log`.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::fixture::Fixture;

const FINISHED: &str = include_str!("fixtures/finished_run.jsonl");
const INTERRUPTED: &str = include_str!("fixtures/broken_off_sync.jsonl");
const FLOWS: &str = include_str!("fixtures/flows.jsonl");
const JOURNAL: &str = ".autonoe/journal.jsonl";

/// Time limit for anything, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// An agent that plans a deliverable, is denied a command, waits until it is released, and plans
/// another deliverable.
const AGENTS: &str = r#"{"sessions": [
  {"name": "plans", "costUsd": "0.25", "steps": [
    {"uses": {"tool": "mcp__autonoe__create", "input": {"deliverables": [
      {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]}]}}},
    {"isDenied": {"tool": "Bash", "input": {"command": "curl https://login.example.com"}}},
    {"waitsForFile": "released"},
    {"uses": {"tool": "mcp__autonoe__create", "input": {"deliverables": [
      {"id": "DL-002", "description": "Logout", "acceptanceCriteria": ["it works"]}]}}},
    {"hitsQuota": null}]}
]}"#;

#[test]
fn the_log_of_a_run_has_one_line_per_event() {
    let fixture = Fixture::new().file(JOURNAL, FINISHED);

    insta::assert_snapshot!(fixture.autonoe(&["log"]).screen());
}

#[test]
fn interrupted_run_log_contains_resume_hint() {
    let fixture = Fixture::new().file(JOURNAL, format!("{FINISHED}{INTERRUPTED}"));

    insta::assert_snapshot!(fixture.autonoe(&["log"]).screen());
}

#[test]
fn changes_of_the_ledger_from_outside_are_printed() {
    let line = |rest: &str| {
        let begin =
            r#"{"v":1,"run":"63cbe1e459320dd7044c3cd7f43c661c","at":"2026-01-01T05:11:30Z""#;
        format!("{begin},{rest}}}\n")
    };
    let journal = [
        FINISHED,
        &line(r#""line":"ledger_edited","recorded":"00000000000000aa","found":"00000000000000bb""#),
        &line(r#""line":"ledger_save","from":"00000000000000bb","to":"00000000000000cc""#),
        &line(
            r#""line":"ledger_restored","session":4,"change":"changed","savedAs":"status.foreign-1.json""#,
        ),
    ];
    let fixture = Fixture::new().file(JOURNAL, journal.concat());

    let output = fixture.autonoe(&["log"]);

    let usual = Fixture::new().file(JOURNAL, FINISHED).autonoe(&["log"]);
    let added = "\
2026-01-01 05:11:30Z  [LEDGER] the ledger was edited between runs; this run accepts the edited ledger
2026-01-01 05:11:30Z    [LEDGER] something other than the run changed the ledger; it was restored, and the foreign content is kept as status.foreign-1.json
";
    assert_eq!(
        output.stdout,
        format!("{}{added}", usual.stdout),
        "{}",
        output.screen()
    );
}

#[test]
fn a_selected_instruction_is_printed() {
    let selected = concat!(
        r#"{"v":1,"run":"63cbe1e459320dd7044c3cd7f43c661c","at":"2026-01-01T05:11:30Z","line":"fact","#,
        r#""fact":{"fact":"instruction_selected","number":4,"instruction":"review"},"#,
        r#""action":{"action":"continue"}}"#,
        "\n"
    );
    let fixture = Fixture::new().file(JOURNAL, format!("{FINISHED}{selected}"));

    let output = fixture.autonoe(&["log"]);

    let usual = Fixture::new().file(JOURNAL, FINISHED).autonoe(&["log"]);
    let added = "2026-01-01 05:11:30Z  Session 4: selected instruction review\n";
    assert_eq!(
        output.stdout,
        format!("{}{added}", usual.stdout),
        "{}",
        output.screen()
    );
}

#[test]
fn flows_are_printed_like_runs() {
    let fixture = Fixture::new().file(JOURNAL, FLOWS);

    let output = fixture.autonoe(&["log", "--all"]);

    for line in [
        "2026-01-02 00:00:00Z  Flow review started (aaaa1111)",
        "2026-01-02 00:00:00Z  Session 1 started (draft)",
        "2026-01-02 00:01:00Z  Session 1 completed (1m, $0.10, 1 call denied)",
        "2026-01-02 00:01:00Z  Flow review (aaaa1111) ended: it is complete",
        "2026-01-03 00:00:00Z  Flow tidy started (bbbb2222)",
        "The run did not finish: it was killed in session 1.",
    ] {
        assert!(output.stdout.contains(line), "{}", output.screen());
    }
}

#[test]
fn multiline_agent_text_cannot_forge_log_lines() {
    let forged = "it broke\\n2026-01-01 05:11:30Z    [PASS] Everything (DL-002)\\r\\n\\u001b[2J";
    let failed = format!(
        r#""exitReason":"failed","error":{{"code":"crashed","message":"{forged}","retry":"permanent"}}"#
    );
    let journal = FINISHED.replace(r#""exitReason":"all_passed""#, &failed);
    assert_ne!(journal, FINISHED);
    let fixture = Fixture::new().file(JOURNAL, journal);

    let output = fixture.autonoe(&["log"]);

    let lines = fixture.autonoe(&["log"]).stdout.lines().count();
    let usual = Fixture::new().file(JOURNAL, FINISHED).autonoe(&["log"]);
    assert_eq!(lines, usual.stdout.lines().count(), "{}", output.screen());
    let end = "it broke⏎2026-01-01 05:11:30Z    [PASS] Everything (DL-002) ⏎ [2J\n";
    assert!(output.stdout.contains(end), "{}", output.screen());
    let last = output.stdout.lines().last().unwrap_or_default();
    assert!(last.contains("1 of 2 deliverables passed"), "{last}");
}

#[test]
fn log_includes_runs_of_rotated_journals() {
    let fixture = Fixture::new()
        .file(".autonoe/journal.1.jsonl", FINISHED)
        .file(JOURNAL, INTERRUPTED);

    let all = fixture.autonoe(&["log", "--all"]).stdout;
    let last = fixture.autonoe(&["log"]).stdout;
    let first = fixture.autonoe(&["log", "--run", "63cb"]).stdout;

    assert_eq!(all, format!("{first}\n{last}"));
    assert!(first.starts_with("2026-01-01 00:00:00Z  Run 63cbe1e459320dd7044c3cd7f43c661c"));
}

#[test]
fn as_json_the_lines_are_as_they_were_written() {
    let fixture = Fixture::new().file(JOURNAL, format!("{FINISHED}{INTERRUPTED}"));
    let parsed = |text: &str| -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).expect("JSON");
        text.lines().map(parse).collect()
    };

    let all = fixture.autonoe(&["log", "--all", "--json"]).stdout;
    let last = fixture.autonoe(&["log", "--json"]).stdout;

    assert_eq!(parsed(&last), parsed(INTERRUPTED));
    assert_eq!(
        parsed(&all),
        [parsed(FINISHED), parsed(INTERRUPTED)].concat()
    );
}

#[test]
fn a_project_without_a_journal_is_no_error() {
    let fixture = Fixture::new();

    insta::assert_snapshot!(fixture.autonoe(&["log"]).screen());
    let follow = fixture.autonoe(&["log", "--follow"]);

    assert_eq!((follow.code, follow.stdout.as_str()), (0, ""));
    assert!(
        follow.stderr.contains("no run is in progress"),
        "{}",
        follow.stderr
    );
    assert_eq!(fixture.files(), Vec::<String>::new());
}

#[test]
fn a_run_that_is_not_known_or_not_clear_is_an_error() {
    let other = FINISHED.replace("63cbe1e4", "63cbffff");
    let fixture = Fixture::new().file(JOURNAL, format!("{FINISHED}{other}"));

    let unknown = fixture.autonoe(&["log", "--run", "beef"]);
    let unclear = fixture.autonoe(&["log", "--run", "63cb"]);

    insta::assert_snapshot!([unknown.screen(), unclear.screen()].join("\n"));
}

#[test]
fn a_broken_journal_is_reported_with_its_line_and_a_torn_end_is_skipped() {
    for (tail, code) in [
        ("{\"v\":1,\"run\":\"to", 0),
        ("hello\n", 1),
        ("{\"v\":2}\n", 1),
    ] {
        let text = format!("{FINISHED}{tail}");
        let fixture = Fixture::new().file(JOURNAL, &text);
        for args in [&["log"][..], &["log", "--follow"], &["log", "--json"]] {
            let output = fixture.autonoe(args);

            assert_eq!(output.code, code, "{args:?} {tail}: {}", output.screen());
            let line = format!("line {} of the journal", FINISHED.lines().count() + 1);
            assert_eq!(
                output.stderr.contains(&line),
                code == 1,
                "{}",
                output.stderr
            );
        }
        assert_eq!(fixture.read(JOURNAL), text);
    }
}

#[test]
fn lines_of_other_runs_are_not_parsed() {
    // Only the start of such a line is valid.
    let broken = "{\"v\":1,\"run\":\"earlier\",\"at\":7}\n".repeat(1000);
    let fixture = Fixture::new().file(JOURNAL, format!("{broken}{FINISHED}"));

    let whole = Fixture::new().file(JOURNAL, FINISHED).autonoe(&["log"]);
    let last = fixture.autonoe(&["log"]);
    let followed = fixture.autonoe(&["log", "--follow"]);
    let all = fixture.autonoe(&["log", "--all"]);

    assert_eq!(last.code, 0, "{}", last.screen());
    assert!(last.stdout.starts_with(&whole.stdout), "{}", last.stdout);
    assert_eq!((followed.code, followed.stdout), (0, whole.stdout));
    assert_eq!(all.code, 1);
    assert!(
        all.stderr.contains("line 1 of the journal"),
        "{}",
        all.stderr
    );
}

#[test]
fn options_that_contradict_each_other_are_wrong_usage() {
    for args in [
        &["log", "--all", "--run", "x"][..],
        &["log", "--follow", "--all"],
    ] {
        assert_eq!(Fixture::new().autonoe(args).code, 2, "{args:?}");
    }
}

/// Waits for a process, within the time limit.
fn ends(mut child: Child) -> std::process::Output {
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().expect("it is ours").is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("it does not end: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("it ended")
}

fn eventually(condition: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{condition}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn start(fixture: &Fixture, args: &[&str]) -> Child {
    fixture
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

const RUN: [&str; 5] = [
    "run",
    "--quiet",
    "--no-sandbox",
    "--backend",
    "scripted:agents.json",
];

/// A project with a run in progress.
fn running() -> (Fixture, Child) {
    let fixture = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file("agents.json", AGENTS)
        .file(".autonoe/status.json", r#"{"deliverables": []}"#)
        .file(JOURNAL, FINISHED);
    let run = start(&fixture, &RUN);
    let journal = fixture.project().join(JOURNAL);
    eventually("the agent works", || {
        fs::read_to_string(&journal).is_ok_and(|text| text.contains("login.example.com"))
    });
    (fixture, run)
}

fn release(fixture: &Fixture) {
    fs::write(fixture.project().join("released"), "").expect("writable");
}

/// Starts to follow the run, and returns the first byte of the output.
fn follow(fixture: &Fixture) -> (Child, [u8; 1]) {
    let mut follow = start(fixture, &["log", "--follow"]);
    let mut first = [0];
    let stdout = follow.stdout.as_mut().expect("piped");
    stdout.read_exact(&mut first).expect("it tells the run");
    (follow, first)
}

#[test]
fn a_run_that_is_under_way_is_followed_to_its_end() {
    let (fixture, run) = running();
    let status = fixture.autonoe(&["status"]).stdout;

    let (follow, first) = follow(&fixture);
    release(&fixture);
    let rest = ends(follow).stdout;
    let code = ends(run).status.code();

    assert_eq!(code, Some(5));
    assert!(
        status.contains("A run is in progress (process "),
        "{status}"
    );
    let followed = String::from_utf8([&first[..], &rest[..]].concat()).expect("UTF-8");
    let log = fixture.autonoe(&["log"]).stdout;
    assert!(
        !followed.is_empty() && log.starts_with(&followed),
        "{followed}\n---\n{log}"
    );
    for part in [
        "[PENDING] Login",
        "[DENIED] Bash: curl",
        "[PENDING] Logout",
        "ended: the quota is spent",
    ] {
        assert!(followed.contains(part), "{followed}");
    }
}

#[test]
fn log_follow_ends_when_the_run_is_killed() {
    let (fixture, mut run) = running();
    let follow = start(&fixture, &["log", "--follow"]);

    run.kill().expect("it runs");
    ends(run);
    let followed = ends(follow);

    assert_eq!(followed.status.code(), Some(0));
    let followed = String::from_utf8(followed.stdout).expect("UTF-8");
    assert!(
        followed.contains("it was killed in session 1"),
        "{followed}"
    );
}

#[test]
fn an_interrupt_ends_the_following_and_not_the_run() {
    let (fixture, run) = running();
    let (follow, _) = follow(&fixture);

    let interrupt = format!("kill -INT {}", follow.id());
    let sent = Command::new("/bin/sh").args(["-c", &interrupt]).status();
    let ended = ends(follow);
    release(&fixture);
    let code = ends(run).status.code();

    assert!(sent.expect("it starts").success());
    assert_eq!(ended.status.signal(), Some(2), "{ended:?}");
    assert_eq!(code, Some(5));
}

#[test]
fn a_closed_pipe_ends_the_following() {
    let (fixture, mut run) = running();
    let mut follow = start(&fixture, &["log", "--follow"]);

    drop(follow.stdout.take());
    release(&fixture);
    let output = ends(follow);

    assert_eq!(output.status.code(), Some(0), "{output:?}");
    run.kill().expect("it is ours");
    ends(run);
}
