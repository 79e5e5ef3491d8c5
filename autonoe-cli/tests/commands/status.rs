//! Tests of `autonoe status`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::commands::fixture::Fixture;

const LEDGER: &str = r#"{
  "createdAt": "2026-01-02",
  "updatedAt": "2026-01-05",
  "deliverables": [
    {"id": "DL-001", "description": "A visitor can sign up", "acceptanceCriteria": ["a"], "passed": true, "blocked": false},
    {"id": "DL-002", "description": "Payment by card", "acceptanceCriteria": ["b"], "passed": false, "blocked": true},
    {"id": "DL-漢字-3", "description": "Bad\u001b[2J news\nin two lines", "acceptanceCriteria": ["c"], "passed": false, "blocked": false},
    {"id": "DL-004", "description": "Log out", "acceptanceCriteria": ["d"], "passed": true, "blocked": false},
    {"id": "DL-009", "description": "Fax", "acceptanceCriteria": ["e"], "passed": false, "blocked": false, "deprecatedAt": "2026-01-04"}
  ],
  "verification": {"verified": ["DL-001"], "finished": false},
  "epoch": 3, "revision": 7
}"#;

#[test]
fn the_deliverables_are_a_table_with_progress() {
    let fixture = Fixture::new().file(".autonoe/status.json", LEDGER);

    insta::assert_snapshot!(fixture.autonoe(&["status"]).screen());
}

#[test]
fn a_ledger_that_is_missing_beside_its_journal_is_an_error_as_a_broken_one_is() {
    const JOURNAL: &str = include_str!("fixtures/finished_run.jsonl");
    let project = || {
        Fixture::new()
            .file("SPEC.md", "# Shop")
            .file(".autonoe/journal.jsonl", JOURNAL)
    };
    for args in [&["status"][..], &["run", "--dry-run"], &["doctor"]] {
        let missing = project().autonoe(args);
        let broken = project().file(".autonoe/status.json", "{").autonoe(args);

        assert_eq!(missing.code, broken.code, "{args:?}: {}", missing.screen());
        assert_ne!(missing.code, 0, "{args:?}");
        let printed = missing.screen().replace('\n', " ");
        assert!(
            printed.contains("status.json is missing"),
            "{args:?}: {printed}"
        );
    }
}

#[test]
fn output_in_a_pipe_is_not_truncated() {
    let long = "word ".repeat(200) + "end";
    let id = "DL-".repeat(40) + "1";
    let ledger = serde_json::json!({"deliverables": [
        {"id": id, "description": long, "acceptanceCriteria": ["a"], "passed": false, "blocked": false},
        {"id": "DL-2", "description": long, "acceptanceCriteria": ["a"], "passed": false,
            "blocked": false, "deprecatedAt": "2026-01-04"},
    ]});
    let fixture = Fixture::new().file(".autonoe/status.json", ledger.to_string());

    let output = fixture.autonoe(&["status"]);

    assert!(
        output.stdout.contains(&format!("{id}  {long}\n")),
        "{}",
        output.screen()
    );
    assert!(
        output
            .stdout
            .contains(&format!("DL-2  {long} (since 2026-01-04)\n")),
        "{}",
        output.screen()
    );
}

/// Holds the run lock in this process, with `pid` as the recorded process.
fn hold_lock(fixture: &Fixture, pid: u32) -> fs::File {
    let path = fixture.project().join(".autonoe/run.lock");
    let lock = fs::File::create(&path).expect("writable");
    lock.lock().expect("nobody else");
    let holder = json!({"pid": pid, "startedAt": "2026-01-05T18:00:05.123456789Z"});
    fs::write(&path, holder.to_string()).expect("writable");
    lock
}

#[test]
fn a_running_run_is_reported_with_its_start_in_whole_seconds() {
    let fixture = Fixture::new().file(".autonoe/status.json", LEDGER);
    let pid = std::process::id();
    let _lock = hold_lock(&fixture, pid);

    let output = fixture.autonoe(&["status"]);

    let note = format!("A run is in progress (process {pid}, since 2026-01-05 18:00:05Z)");
    assert!(output.stdout.contains(&note), "{}", output.screen());
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_a_killed_run_left_behind_is_named() {
    let fixture = Fixture::new().file(".autonoe/status.json", LEDGER);
    // Greater than any process ID.
    let _lock = hold_lock(&fixture, u32::MAX);

    let output = fixture.autonoe(&["status"]);

    let held = format!("is held by process {} (", std::process::id());
    assert!(
        output
            .stdout
            .contains("An agent of a killed run is still alive"),
        "{}",
        output.screen()
    );
    assert!(output.stdout.contains(&held), "{}", output.screen());
}

#[test]
fn json_output_matches_snapshot() {
    let fixture = Fixture::new().file(".autonoe/status.json", LEDGER);

    let output = fixture.autonoe(&["status", "--json"]);

    assert_eq!(output.code, 0, "{}", output.stderr);
    let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
    insta::assert_json_snapshot!(json);
}

#[test]
fn a_project_without_a_ledger_is_no_error_and_stays_untouched() {
    let fixture = Fixture::new();

    let output = fixture.autonoe(&["status"]);
    let json = fixture.autonoe(&["status", "--json"]);

    insta::assert_snapshot!(output.screen());
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        (&json["exists"], &json["total"]),
        (&false.into(), &0.into())
    );
    assert_eq!(fixture.files(), Vec::<String>::new());
}

#[test]
fn empty_ledger_prints_the_next_step() {
    let fixture = Fixture::new().file(".autonoe/status.json", r#"{"deliverables": []}"#);

    insta::assert_snapshot!(fixture.autonoe(&["status"]).screen());
}

#[test]
fn a_corrupt_ledger_is_an_error_and_stays_as_it_is() {
    for (text, complaint) in [
        ("", "it ends where a value is expected"),
        ("{\"deliverables\": [", "it ends in the middle of a list"),
        ("[]", "expected an object, found a list"),
        (
            r#"{"deliverables": [{"id": "A", "description": "x", "acceptanceCriteria": ["y"],
                "passed": true, "blocked": true}]}"#,
            "deliverable A is both",
        ),
        (
            "{\"deliverables\": [{\"id\": \"DL-\u{202e}100\", \"description\": \"x\"}]}",
            r#""DL-\u{202e}100" is not a deliverable id"#,
        ),
    ] {
        let fixture = Fixture::new().file(".autonoe/status.json", text);

        let output = fixture.autonoe(&["status"]);

        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{text}");
        for part in [
            ".autonoe/status.json does not contain a valid ledger",
            complaint,
        ] {
            assert!(output.stderr.contains(part), "{text}: {}", output.stderr);
        }
        assert_eq!(fixture.read(".autonoe/status.json"), text);
    }
}

#[test]
fn a_project_that_is_not_there_or_not_readable_is_an_error() {
    let fixture = Fixture::new();
    fs::write(fixture.project().join("file"), "").expect("writable");
    let closed = fixture.project().join("closed");
    fs::create_dir(&closed).expect("writable");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("ours");

    for (directory, words) in [
        ("missing", "does not exist"),
        ("file", "is a file and not a directory"),
    ] {
        let output = fixture.autonoe(&["status", "--project-dir", directory]);

        assert_eq!(output.code, 1);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    // Root can read everything.
    if fs::read_dir(&closed).is_err() {
        let output = fixture.autonoe(&["status", "-p", "closed"]);
        assert_eq!(output.code, 1);
        assert!(
            output.stderr.contains("cannot be read"),
            "{}",
            output.stderr
        );
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("ours");
}

#[test]
fn wrong_usage_exits_with_code_2() {
    assert_eq!(Fixture::new().autonoe(&["status", "--jsn"]).code, 2);
}

#[test]
fn a_misspelled_field_is_a_warning_of_status_and_doctor() {
    let ledger = r#"{"deliverables": [{"id": "A", "description": "x",
        "acceptanceCriteria": ["y"], "pased": true, "owner": "Ada"}]}"#;
    let fixture = Fixture::new().file(".autonoe/status.json", ledger);

    let (status, doctor) = (fixture.autonoe(&["status"]), fixture.autonoe(&["doctor"]));

    let expected = "A: the unknown field `pased` has no effect; did you mean `passed`?";
    assert_eq!(status.code, 0, "{}", status.screen());
    assert!(status.stderr.contains(expected), "{}", status.screen());
    assert!(!status.stderr.contains("owner"), "{}", status.screen());
    assert!(doctor.stdout.contains(expected), "{}", doctor.screen());
}

#[test]
fn a_folder_of_a_project_is_not_mistaken_for_a_project() {
    let fixture = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".harness/.gitignore", "*\n")
        .file("src/main.rs", "");

    for (args, missing) in [
        (&["status"][..], "SPEC.md and no .autonoe"),
        (&["log"], "SPEC.md and no .autonoe"),
        (&["harness", "status"], ".harness"),
    ] {
        let below = fixture.autonoe(&[args, &["-p", "src"]].concat());
        let root = fixture.autonoe(args);

        let expected = format!(
            "[folder]/project/src has no {missing}, but [folder]/project is a project: change to \
             it, or pass it with -p.\n"
        );
        assert!(below.stdout.contains(&expected), "{}", below.screen());
        assert!(!root.stdout.contains("is a project"), "{}", root.screen());
    }
}
