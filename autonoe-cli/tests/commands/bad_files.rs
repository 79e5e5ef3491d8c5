//! Anything in the place of a file: no command hangs, each says what it is and where.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::commands::setting::{Said, Setting};

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

/// Puts something where a file should be.
type Put = fn(&Path);

/// What stands in the place of a file, and how it is told.
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
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo is there").success());
}

/// Makes a file of zeros that takes no room on the disk.
fn huge(path: &Path) {
    let file = File::create(path).expect("writable");
    file.set_len(64 << 30).expect("it takes no room");
}

fn with_script() -> Setting {
    Setting::new()
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

/// Tells whether `said` complains of `file` in these words, be it in a table of findings.
fn complains(said: &Said, file: &str, words: &str) -> bool {
    let all = format!("{}{}", said.stdout, said.stderr);
    all.lines()
        .any(|line| line.contains(file) && line.contains(words))
}

#[test]
fn whatever_stands_in_the_place_of_a_file_is_told_and_left_alone() {
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
                let setting = with_script();
                let path = setting.project().join(file);
                // Not all of them are there.
                let _ = fs::remove_file(&path);
                put(&path);
                let before = fs::symlink_metadata(&path).expect("it is there");

                let said = setting.autonoe_in_time(args);

                assert_eq!(said.code, *code, "{file} {args:?}: {}", said.screen());
                assert!(
                    complains(&said, file, words),
                    "{file} {words}: {}",
                    said.screen()
                );
                let after = fs::symlink_metadata(&path).expect("it is there");
                let left_alone = (before.file_type(), before.len(), before.modified().ok())
                    == (after.file_type(), after.len(), after.modified().ok());
                assert!(left_alone, "{file} {args:?}");
                assert!(!setting.project().join(".autonoe/journal.jsonl").exists());
            }
        }
    }
}

#[test]
fn a_specification_without_words_is_none() {
    for text in ["", " \n\t\r\n", "\u{feff}\n", "\u{200b}"] {
        for args in [RUN, SYNC, DRY_RUN, DOCTOR] {
            let setting = with_script().file("SPEC.md", text);

            let said = setting.autonoe(args);

            assert_eq!(said.code, 1, "{text:?} {args:?}: {}", said.screen());
            assert!(
                complains(&said, "SPEC.md", "is blank; write down"),
                "{}",
                said.screen()
            );
            assert!(!setting.project().join(".autonoe/journal.jsonl").exists());
        }
    }
}

#[test]
fn what_is_not_utf_8_is_told_with_the_line() {
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
        let setting = with_script().file(file, text);

        let said = setting.autonoe(args);

        assert_eq!(said.code, 1, "{file}: {}", said.screen());
        let name = file.trim_start_matches("../");
        assert!(complains(&said, name, words), "{file}: {}", said.screen());
    }
}

#[test]
fn the_mark_that_some_editors_put_before_a_text_is_passed_over_everywhere() {
    let setting = with_script();
    for file in ["SPEC.md", ".autonoe/agent.json", "../agents.json"] {
        let text = format!("\u{feff}{}", setting.read(file));
        fs::write(setting.project().join(file), text).expect("writable");
    }

    let ran = setting.autonoe(RUN);
    assert_eq!(ran.code, 0, "{}", ran.screen());
    for file in [".autonoe/status.json", ".autonoe/journal.jsonl"] {
        let text = format!("\u{feff}{}", setting.read(file));
        fs::write(setting.project().join(file), text).expect("writable");
    }

    let status = setting.autonoe(STATUS);
    assert!(
        status.stdout.contains("1 of 1 deliverables passed"),
        "{}",
        status.screen()
    );
    for args in [&["log"][..], DRY_RUN, CHECK, RUN] {
        let said = setting.autonoe(args);
        assert_eq!(said.code, 0, "{args:?}: {}", said.screen());
    }
    let findings = setting.autonoe(DOCTOR).stdout;
    let problems = findings.lines().filter(|line| line.starts_with("problem"));
    let of_files = problems.filter(|line| line.contains(".json") || line.contains("SPEC.md"));
    assert_eq!(of_files.count(), 0, "{findings}");
    let answered = setting.autonoe_reads(&["check"], "\u{feff}\"ls\"\n".as_bytes());
    assert_eq!(answered.code, 0, "{}", answered.screen());
}

#[test]
fn a_script_is_read_within_bounds() {
    for (put, words) in INSTEAD {
        let setting = with_script();
        let path = setting.project().join("../agents.json");
        fs::remove_file(&path).expect("it is there");
        put(&path);

        let said = setting.autonoe_in_time(RUN);

        assert_eq!(said.code, 1, "{words}: {}", said.screen());
        assert!(
            complains(&said, "agents.json", words),
            "{words}: {}",
            said.screen()
        );
    }
    let said = with_script().autonoe_in_time(&["run", "--backend=scripted:/dev/zero"]);
    assert_eq!(said.code, 1);
    assert!(
        complains(&said, "/dev/zero", "is a device"),
        "{}",
        said.screen()
    );
}

#[test]
fn mistakes_in_json_are_told_without_names_of_types() {
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
            "no script of agents: line 1 column 2: the field `sessions` is missing",
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
        let said = with_script().file(file, text).autonoe(args);

        assert_eq!(said.code, 1, "{file}: {}", said.screen());
        assert!(said.stderr.contains(words), "{text}: {}", said.screen());
        for jargon in ["struct", "enum", "variant", "sequence", "EOF"] {
            assert!(!said.stderr.contains(jargon), "{jargon}: {}", said.screen());
        }
    }
}
