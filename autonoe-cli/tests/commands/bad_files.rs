//! Special files, large files and invalid files in place of project files: no command hangs, and
//! each names the file and the problem.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::commands::fixture::{CommandOutput, Fixture};

/// A script of agents that plan one deliverable and pass it.
const SCRIPT: &str = r#"{"sessions": [
    {"name": "plans", "steps": [{"uses": {"tool": "mcp__autonoe__create", "input": {"deliverables": [
        {"id": "DL-001", "description": "A thing", "acceptanceCriteria": ["it is there"]}
    ]}}}, "ends"]},
    {"name": "passes", "steps": [
        {"uses": {"tool": "mcp__autonoe__set_status", "input": {"deliverableId": "DL-001", "status": "passed"}}},
        "ends"
    ]}
]}"#;

/// Puts something in place of a file.
type Put = fn(&Path);

/// Replacements of a file, with the expected messages.
const INSTEAD: &[(Put, &str)] = &[
    (
        |path| fs::create_dir(path).expect("writable"),
        "is a folder and not a file",
    ),
    (pipe, "is a pipe and not a file"),
    (
        |path| drop(UnixListener::bind(path).expect("writable")),
        "is a socket and not a file",
    ),
    (
        |path| symlink("/dev/zero", path).expect("writable"),
        "is a device and not a file",
    ),
    (
        |path| symlink("gone", path).expect("writable"),
        "is a symlink that leads nowhere",
    ),
    (huge, "is larger than"),
];

fn pipe(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status();
    assert!(status.expect("mkfifo is there").success());
}

/// Creates a sparse file of zeros.
fn huge(path: &Path) {
    let file = File::create(path).expect("writable");
    file.set_len(64 << 30).expect("it takes no room");
}

fn with_script() -> Fixture {
    Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe/agent.json", "{}")
        .file("../agents.json", SCRIPT)
}

const RUN: &[&str] = &["run", "--backend=scripted:../agents.json", "--pause=0s"];
const SYNC: &[&str] = &["sync", "--backend=scripted:../agents.json", "--pause=0s"];
const DRY_RUN: &[&str] = &["run", "--dry-run"];
const DOCTOR: &[&str] = &["doctor"];
const CHECK: &[&str] = &["check", "ls"];
const STATUS: &[&str] = &["status"];

/// Returns whether `output` reports `file` with these words, even in a table of findings.
fn reports(output: &CommandOutput, file: &str, words: &str) -> bool {
    let all = format!("{}{}", output.stdout, output.stderr);
    all.lines()
        .any(|line| line.contains(file) && line.contains(words))
}

#[test]
fn unusual_file_is_reported_and_left_unchanged() {
    for (file, commands) in [
        (
            "SPEC.md",
            &[(RUN, 1), (SYNC, 1), (DRY_RUN, 1), (DOCTOR, 1)][..],
        ),
        (
            ".autonoe/agent.json",
            &[(RUN, 1), (SYNC, 1), (DRY_RUN, 1), (DOCTOR, 1), (CHECK, 2)],
        ),
        (
            ".autonoe/status.json",
            &[(DRY_RUN, 1), (DOCTOR, 1), (STATUS, 1)],
        ),
    ] {
        for (put, words) in INSTEAD {
            for (args, code) in commands {
                let fixture = with_script();
                let path = fixture.project().join(file);
                // Not all of these files exist.
                let _ = fs::remove_file(&path);
                put(&path);
                let before = fs::symlink_metadata(&path).expect("it is there");

                let output = fixture.autonoe_within_timeout(args);

                assert_eq!(output.code, *code, "{file} {args:?}: {}", output.screen());
                assert!(
                    reports(&output, file, words),
                    "{file} {words}: {}",
                    output.screen()
                );
                let after = fs::symlink_metadata(&path).expect("it is there");
                let left_alone = (before.file_type(), before.len(), before.modified().ok())
                    == (after.file_type(), after.len(), after.modified().ok());
                assert!(left_alone, "{file} {args:?}");
                assert!(!fixture.project().join(".autonoe/journal.jsonl").exists());
            }
        }
    }
}

#[test]
fn blank_specification_counts_as_missing() {
    for text in ["", " \n\t\r\n", "\u{feff}\n", "\u{200b}"] {
        for args in [RUN, SYNC, DRY_RUN, DOCTOR] {
            let fixture = with_script().file("SPEC.md", text);

            let output = fixture.autonoe(args);

            assert_eq!(output.code, 1, "{text:?} {args:?}: {}", output.screen());
            assert!(
                reports(&output, "SPEC.md", "is blank; describe"),
                "{}",
                output.screen()
            );
            assert!(!fixture.project().join(".autonoe/journal.jsonl").exists());
        }
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_line() {
    for (file, text, args, words) in [
        (
            "SPEC.md",
            &b"# Shop\n\xff\n"[..],
            RUN,
            "is not UTF-8 from line 2 on",
        ),
        (
            "SPEC.md",
            b"\xff\xfe#\0",
            DOCTOR,
            "is not UTF-8 from line 1 on",
        ),
        (
            ".autonoe/agent.json",
            b"{\n\"\xff\"",
            RUN,
            "agent.json:2:2: it is not UTF-8",
        ),
        (
            "../agents.json",
            b"{\n\n\xff}",
            RUN,
            "is not UTF-8 from line 3 on",
        ),
    ] {
        let fixture = with_script().file(file, text);

        let output = fixture.autonoe(args);

        assert_eq!(output.code, 1, "{file}: {}", output.screen());
        let name = file.trim_start_matches("../");
        assert!(reports(&output, name, words), "{file}: {}", output.screen());
    }
}

#[test]
fn byte_order_marks_are_ignored_in_every_file() {
    let fixture = with_script();
    for file in ["SPEC.md", ".autonoe/agent.json", "../agents.json"] {
        let text = format!("\u{feff}{}", fixture.read(file));
        fs::write(fixture.project().join(file), text).expect("writable");
    }

    let ran = fixture.autonoe(RUN);
    assert_eq!(ran.code, 0, "{}", ran.screen());
    for file in [".autonoe/status.json", ".autonoe/journal.jsonl"] {
        let text = format!("\u{feff}{}", fixture.read(file));
        fs::write(fixture.project().join(file), text).expect("writable");
    }

    let status = fixture.autonoe(STATUS);
    assert!(
        status.stdout.contains("1 of 1 deliverables passed"),
        "{}",
        status.screen()
    );
    for args in [&["log"][..], DRY_RUN, CHECK, RUN] {
        let output = fixture.autonoe(args);
        assert_eq!(output.code, 0, "{args:?}: {}", output.screen());
    }
    let findings = fixture.autonoe(DOCTOR).stdout;
    let problems = findings.lines().filter(|line| line.starts_with("problem"));
    let of_files = problems.filter(|line| line.contains(".json") || line.contains("SPEC.md"));
    assert_eq!(of_files.count(), 0, "{findings}");
    let answered = fixture.autonoe_with_input(&["check"], "\u{feff}\"ls\"\n".as_bytes());
    assert_eq!(answered.code, 0, "{}", answered.screen());
}

#[test]
fn a_script_is_read_within_bounds() {
    for (put, words) in INSTEAD {
        let fixture = with_script();
        let path = fixture.project().join("../agents.json");
        fs::remove_file(&path).expect("it is there");
        put(&path);

        let output = fixture.autonoe_within_timeout(RUN);

        assert_eq!(output.code, 1, "{words}: {}", output.screen());
        assert!(
            reports(&output, "agents.json", words),
            "{words}: {}",
            output.screen()
        );
    }
    let output = with_script().autonoe_within_timeout(&["run", "--backend=scripted:/dev/zero"]);
    assert_eq!(output.code, 1);
    assert!(
        reports(&output, "/dev/zero", "is a device"),
        "{}",
        output.screen()
    );
}

#[test]
fn mistakes_in_json_are_reported_without_names_of_types() {
    for (file, text, args, words) in [
        (
            "../agents.json",
            "[]",
            RUN,
            "expected an object, found a list",
        ),
        (
            "../agents.json",
            "{}",
            RUN,
            "not a valid agent script: line 1 column 2: the field `sessions` is missing",
        ),
        (
            "../agents.json",
            r#"{"sessions": [{"name": "a", "steps": ["sings"]}]}"#,
            RUN,
            "unknown name `sings`; known are `says`",
        ),
        (
            ".autonoe/status.json",
            "[]",
            STATUS,
            "expected an object, found a list",
        ),
        (
            ".autonoe/status.json",
            "{}",
            STATUS,
            "the field `deliverables` is missing",
        ),
        (
            ".autonoe/journal.jsonl",
            "{\"v\": []}\n",
            &["log"],
            "found a list",
        ),
    ] {
        let output = with_script().file(file, text).autonoe(args);

        assert_eq!(output.code, 1, "{file}: {}", output.screen());
        assert!(output.stderr.contains(words), "{text}: {}", output.screen());
        for jargon in ["struct", "enum", "variant", "sequence", "EOF"] {
            assert!(
                !output.stderr.contains(jargon),
                "{jargon}: {}",
                output.screen()
            );
        }
    }
}
