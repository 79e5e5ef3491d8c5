//! Problems of Claude Code that are reported before its first session.

use std::fs;

use serde_json::json;

use crate::choosing::fixture::{CommandOutput, Fixture, run_command};

/// A program that answers like Claude Code until a session starts. Then it creates a file.
const CLAUDE: &str = r#"case "$1" in
    --version) echo '2.1.325 (Claude Code)' ;;
    auth) echo '{"loggedIn": true}' ;;
    *) echo > "$HOME/session"; exit 1 ;;
esac"#;

/// A project and the program.
fn fixture() -> Fixture {
    Fixture::new().program("claude", CLAUDE)
}

/// Fails if a session was started.
fn assert_no_session(fixture: &Fixture, run: &CommandOutput) {
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(!run.stderr.contains("Session 1"), "{run:?}");
    fixture.wait_for_processes();
}

#[test]
fn missing_programs_of_the_sandbox_are_named_with_the_package_and_the_flag() {
    for (programs, missing) in [
        (&[][..], "bwrap and socat are not on PATH"),
        (&["socat"], "bwrap is not on PATH"),
        (&["bwrap"], "socat is not on PATH"),
    ] {
        let fixture = programs
            .iter()
            .fold(fixture(), |fixture, name| fixture.program(name, ""));

        let run = run_command(fixture.bare_command(&["run", "--backend=claude"]));

        assert_no_session(&fixture, &run);
        let message = format!("claude does not support the setting `sandbox`: {missing}");
        assert!(run.stdout.contains(&message), "{run:?}");
        for words in ["apt install bubblewrap socat", "--no-sandbox"] {
            assert!(run.stderr.contains(words), "{words}: {run:?}");
        }
    }
}

#[test]
fn a_forbidden_sandbox_is_reported_before_the_first_session() {
    let bwrap = "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1";
    let fixture = fixture().program("socat", "").program("bwrap", bwrap);

    let run = run_command(fixture.bare_command(&["run", "--backend=claude"]));

    assert_no_session(&fixture, &run);
    assert!(run.stdout.contains("No permissions to create"), "{run:?}");
    assert!(run.stderr.contains("--no-sandbox"), "{run:?}");
}

#[test]
fn a_server_with_a_missing_program_is_reported_with_its_position() {
    let servers = json!({"mcpServers": {"db": {"command": "no-such-program"}}});
    let fixture = fixture().configured(&servers);

    let run = fixture.autonoe(&["run", "--backend=claude", "--no-sandbox"]);

    assert_no_session(&fixture, &run);
    for words in [
        "the MCP server \"db\" cannot be started",
        "there is no program \"no-such-program\"",
        "agent.json",
        "leave the server out of mcpServers",
    ] {
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
}

#[test]
fn a_server_of_the_backend_is_checked_as_well() {
    let fixture = fixture();
    let backend = json!({
        "type": "claude", "mcpServers": {"db": {"command": "no-such-program"}},
    });

    let run = fixture.autonoe(&["run", "--no-sandbox", &format!("--backend={backend}")]);

    assert_no_session(&fixture, &run);
    assert!(run.stderr.contains("the MCP server \"db\""), "{run:?}");
}

#[test]
fn a_server_in_the_project_is_found_by_its_relative_path() {
    for (command, is_there) in [
        ("./tools/db", true),
        ("tools/db", true),
        ("./tools/x", false),
    ] {
        let servers = json!({"mcpServers": {"db": {"command": command}}});
        let fixture = fixture().configured(&servers);
        fixture.write("tools/db", "#!/bin/sh\n");

        let run = fixture.autonoe(&["run", "--backend=claude", "--no-sandbox", "--max-retries=0"]);

        let is_refused = run
            .stderr
            .contains("the MCP server \"db\" cannot be started");
        assert_eq!(is_refused, !is_there, "{command}: {run:?}");
        assert_eq!(run.stderr.contains("Session 1"), is_there, "{run:?}");
    }
}

#[test]
fn a_project_path_that_claude_code_refuses_is_reported_with_the_reason() {
    let fixture = fixture();
    let project = fixture.root().with_file_name("blank ");
    fs::create_dir(&project).expect("writable");
    for name in ["SPEC.md", ".autonoe/agent.json"] {
        let copy = project.join(name);
        fs::create_dir_all(copy.parent().expect("it has one")).expect("writable");
        fs::copy(fixture.root().join(name), copy).expect("writable");
    }
    let place = ["--backend=claude", "--no-sandbox", "-p", "../blank "];

    let run = fixture.autonoe(&[&["run"][..], &place].concat());
    let doctor = fixture.autonoe(&[&["doctor"][..], &place].concat());

    assert_no_session(&fixture, &run);
    assert!(
        run.stdout.contains("\"blank \" ends with whitespace"),
        "{run:?}"
    );
    assert!(run.stderr.contains("rename or move the project"), "{run:?}");
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.stdout.contains("ends with whitespace"), "{doctor:?}");
}
