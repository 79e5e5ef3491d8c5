//! Commands whose output cannot be written: a full disk behind standard output, and a closed pipe.

use std::fs::File;
use std::io::{self, Write};
use std::process::{Output, Stdio};

use crate::commands::fixture::Fixture;

/// Every command, in every way in which it writes results, with its standard input.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["--help"], ""),
    (&["--version"], ""),
    (&["help", "run"], ""),
    (&["run", "--dry-run"], ""),
    (&["run", "--dry-run", "--output", "json"], ""),
    (&["run", "--backend", "scripted:agents.json"], ""),
    (
        &["run", "--backend", "scripted:agents.json", "--output=json"],
        "",
    ),
    (&["ask", "--backend=scripted:agents.json", "hello"], ""),
    (
        &[
            "ask",
            "--backend=scripted:agents.json",
            "--output=json",
            "-",
        ],
        "hello",
    ),
    (&["sync", "--dry-run"], ""),
    (&["status"], ""),
    (&["status", "--json"], ""),
    (&["log"], ""),
    (&["log", "--json"], ""),
    (&["log", "--follow"], ""),
    (&["log", "--follow", "--json"], ""),
    (&["check", "ls"], ""),
    (&["check", "ls", "--json"], ""),
    (&["check", "-"], "\"ls\"\n\"pwd\"\n"),
    (&["doctor"], ""),
    (&["doctor", "--json"], ""),
    (&["init"], ""),
    (&["schema"], ""),
    (&["schema", "run-event"], ""),
    (&["report"], ""),
    (&["report", "--output", "-"], ""),
    (&["mcp", "--help"], ""),
    (&["serve", "--help"], ""),
    (&["flow", "run", "hello", "--dry-run"], ""),
    (
        &["flow", "run", "hello", "--backend", "scripted:agents.json"],
        "",
    ),
    (
        &[
            "flow",
            "run",
            "hello",
            "--backend=scripted:agents.json",
            "--json",
        ],
        "",
    ),
    (&["flow", "list"], ""),
    (&["flow", "list", "--json"], ""),
    (&["flow", "validate"], ""),
    (&["flow", "validate", "--json"], ""),
    (&["flow", "graph", "hello"], ""),
    (&["harness", "status"], ""),
    (&["harness", "status", "--json"], ""),
    (
        &[
            "harness",
            "run",
            "ROADMAP.md",
            "--no-worktrees",
            "--backend=scripted:agents.json",
            "--quiet",
        ],
        "",
    ),
    (&["completions", "bash"], ""),
    (&["man"], ""),
    (&["man", "run"], ""),
];

/// A project with data for every command.
fn fixture() -> Fixture {
    Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(
            "agents.json",
            r#"{"sessions": [{"name": "works", "steps": []},
                {"name": "answer", "instruction": "ask", "steps": [{"says": "A."}, "ends"]},
                {"name": "task", "instruction": "task-a", "steps": [{"says": "A."}, "ends"]}]}"#,
        )
        .file("ROADMAP.md", "## Objective\nX.\n## Tasks\n- [ ] **a**: A.\n")
        .file(".autonoe/agent.json", "{\"mcpServers\": {}}")
        .file(
            ".autonoe/status.json",
            r#"{"deliverables": [{"id": "A", "description": "x", "acceptanceCriteria": ["y"],
                "passed": true, "blocked": false}]}"#,
        )
        .file(
            ".autonoe/journal.jsonl",
            include_str!("fixtures/finished_run.jsonl"),
        )
        .file(
            ".autonoe/flows/hello/agent.json",
            r#"{"version": "1", "name": "hello", "behavior": {"completionType": "stepMachine"}}"#,
        )
        .file(
            ".autonoe/flows/hello/steps_registry.json",
            r#"{"entryStep": "a", "steps": {"a": {"prompt": "a.md", "transition": {"next": "end"}}}}"#,
        )
        .file(".autonoe/flows/hello/a.md", "Say hello.")
}

fn writes_to(args: &[&str], input: &str, stdout: impl Into<Stdio>) -> Output {
    let fixture = fixture();
    let mut child = fixture
        .command(args)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The command may not read all of it.
    let _ = child
        .stdin
        .take()
        .expect("piped")
        .write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

#[test]
fn every_command_fails_with_an_error_when_stdout_is_full() {
    for (args, input) in COMMANDS {
        let full = File::options().write(true).open("/dev/full");

        let output = writes_to(args, input, full.expect("Linux has it"));

        // For these commands, 1 would mean a denial or an invalid flow.
        let is_answer = args[0] == "check" || args.starts_with(&["flow", "validate"]);
        let code = if is_answer { 2 } else { 1 };
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        let complaint = "standard output cannot be written to: No space left on device";
        assert!(stderr.contains("error: "), "{args:?}: {stderr}");
        assert!(stderr.contains(complaint), "{args:?}: {stderr}");
    }
}

#[test]
fn a_server_ends_if_its_address_cannot_be_printed() {
    let full = File::options().write(true).open("/dev/full");

    let output = writes_to(&["serve"], "", full.expect("Linux has it"));

    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
}

#[test]
fn a_closed_pipe_is_no_failure_and_is_not_reported() {
    for (args, input) in COMMANDS {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);

        let closed = writes_to(args, input, writer);

        let whole = writes_to(args, input, Stdio::piped());
        let words = |output: &Output| {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            // Each run has its own ID, and each command has its own project.
            let is_name = |word: &&str| word.trim_matches(['(', ')']).len() == 32;
            let lines = text.lines().filter(|line| !line.starts_with("Directory: "));
            let words = lines
                .flat_map(str::split_whitespace)
                .filter(|word| !is_name(word));
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(closed.status, whole.status, "{args:?}");
        assert_eq!(words(&closed), words(&whole), "{args:?}");
        assert!(!whole.stdout.is_empty(), "{args:?} writes no result");
    }
}

#[test]
fn every_command_of_the_help_is_tested_with_unwritable_output() {
    let help = Fixture::new().autonoe(&["--help"]).stdout;
    let (_, commands) = help.split_once("Commands:\n").expect("they are listed");
    let (commands, _) = commands.split_once("\n\n").expect("the list ends");
    for line in commands.lines() {
        let Some(name) = line.strip_prefix("  ").filter(|it| !it.starts_with(' ')) else {
            continue;
        };
        let name = name.split(' ').next().expect("a name");
        let is_tried = COMMANDS.iter().any(|(args, _)| args[0] == name);
        assert!(is_tried, "{name} is not tried");
    }
}

#[test]
fn files_written_before_stdout_error_remain() {
    let fixture = Fixture::new();
    let full = File::options().write(true).open("/dev/full");

    let output = fixture
        .command(&["init"])
        .stdout(full.expect("Linux has it"))
        .output()
        .expect("it starts");

    assert_eq!(output.status.code(), Some(1));
    assert!(fixture.read("SPEC.md").starts_with('#'));
}
