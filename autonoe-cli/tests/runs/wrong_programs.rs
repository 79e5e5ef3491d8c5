//! Programs that are configured as Claude Code and are something else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::runs::support::autonoe::{CommandOutput, autonoe};
use crate::runs::support::project::Project;

/// Runs with `program` in place of Claude Code.
fn run_with(project: &Project, program: &Path) -> CommandOutput {
    let backend = json!({
        "type": "claude", "program": program, "temporary": project.home(),
    });
    let backend = format!("--backend={backend}");
    CommandOutput::run(autonoe(project, &["run", "--no-sandbox", &backend]))
}

/// Creates a program that runs `script`.
fn program(project: &Project, script: &str) -> std::path::PathBuf {
    let path = project.sibling_path("claude");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    path
}

/// Asserts that the run was refused with a clear error, and that nothing was started.
fn assert_refused(project: &Project, program: &Path, ended: &CommandOutput, expected: &[&str]) {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let name = format!("{program:?} does not look like Claude Code");
    for word in [name.as_str(), "run with --version"].iter().chain(expected) {
        assert!(ended.stdout.contains(word), "{word}: {ended:?}");
    }
    for word in ["hint: install Claude Code", "autonoe doctor"] {
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
    let whole = format!("{}{}", ended.stdout, ended.stderr);
    assert!(whole.chars().count() < 3000, "{}", whole.len());
    assert!(!whole.contains(['\u{1b}', '\u{7}']), "{ended:?}");
    assert_not_started(project);
}

/// Asserts that neither the journal nor the ledger contains a run.
fn assert_not_started(project: &Project) {
    let journal = fs::read_to_string(project.path(".autonoe/journal.jsonl"));
    assert_eq!(journal.unwrap_or_default(), "");
    assert_eq!(project.ledger(), None);
}

// Shows: beyond/program-that-is-not-claude
#[test]
fn system_program_as_agent_is_refused_with_reason() {
    for (path, expected) in [
        ("/bin/false", "exited with code 1"),
        ("/bin/cat", "run with --version, it printed"),
    ] {
        let project = Project::new();

        let ended = run_with(&project, Path::new(path));

        assert_refused(&project, Path::new(path), &ended, &[expected]);
    }
}

#[test]
fn refused_program_error_includes_its_last_output() {
    for (script, expected) in [
        (
            "echo 'no such licence' >&2; exit 3",
            &["exited with code 3", "no such licence"][..],
        ),
        (
            "echo what; exit 0",
            &["printed \"what\"", "exited with code 0"],
        ),
        ("exec yes", &["printed \"y…\"", "did not stop writing"]),
        (
            "yes oops | head -n 100000 >&2; printf '\\033[2Jgarbage\\007'; exit 9",
            &["[2Jgarbage", "exited with code 9", "oops; oops"],
        ),
    ] {
        let project = Project::new();
        let program = program(&project, script);

        let ended = run_with(&project, &program);

        assert_refused(&project, &program, &ended, expected);
    }
}

#[test]
fn logged_out_program_does_not_start_a_run() {
    let project = Project::new();
    let script = "case $1 in
        --version) echo '2.1.300 (Claude Code)';;
        auth) echo '{\"loggedIn\": false}'; exit 1;;
        *) echo 'it must not come to this' >&2; exit 5;;
    esac";
    let program = program(&project, script);

    let ended = run_with(&project, &program);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("not logged in"), "{ended:?}");
    assert!(!ended.stdout.contains("it must not"), "{ended:?}");
    for word in [
        "hint: start `claude` and enter /login",
        "ANTHROPIC_API_KEY",
        "autonoe doctor",
    ] {
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
    assert_not_started(&project);
}
