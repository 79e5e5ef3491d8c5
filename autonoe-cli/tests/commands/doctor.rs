//! Tests of `autonoe doctor`, and of invalid values of `AUTONOE_NO_SANDBOX`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::commands::fixture::{CommandOutput, Fixture};

/// A machine on which a run could start.
fn healthy() -> Fixture {
    let fixture = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .home_file(
            ".claude/.credentials.json",
            "{\"secret\": \"do-not-print\"}",
        )
        .program("claude", "echo '2.1.300 (Claude Code)'")
        .program("bwrap", "exit 0");
    ["socat", "git", "npx"]
        .into_iter()
        .fold(fixture, |fixture, name| fixture.program(name, "exit 1"))
}

#[test]
fn on_a_healthy_machine_a_run_could_start() {
    let output = healthy().autonoe(&["doctor"]);

    assert_eq!(output.code, 0, "{}", output.screen());
    insta::assert_snapshot!(output.screen());
}

#[test]
fn doctor_prints_a_remedy_for_each_problem_of_a_bare_machine() {
    let output = Fixture::new().autonoe(&["doctor"]);

    assert_eq!(output.code, 1, "{}", output.screen());
    insta::assert_snapshot!(output.screen());
}

#[test]
fn each_problem_alone_prevents_a_run() {
    let program = |name| {
        move |fixture: Fixture| {
            let path = fixture.project().join("../bin").join(name);
            fs::remove_file(path).expect("it is there");
            fixture
        }
    };
    let file =
        |path: &'static str, text: &'static str| move |fixture: Fixture| fixture.file(path, text);
    type Change = Box<dyn Fn(Fixture) -> Fixture>;
    let cases: Vec<(&str, &str, Change)> = vec![
        ("claude", "no program `claude`", Box::new(program("claude"))),
        (
            "claude",
            "run with --version, it printed",
            Box::new(|it| it.program("claude", "echo what?")),
        ),
        (
            "credentials",
            "reports that it is not logged in",
            Box::new(|it| {
                let script = r#"case "$1" in
                    auth) echo '{"loggedIn": false}' ;;
                    *) echo '2.1.300 (Claude Code)' ;;
                esac"#;
                it.program("claude", script)
            }),
        ),
        ("git", "no program `git`", Box::new(program("git"))),
        (
            "mcp server",
            "docs: there is no program `docs-server`",
            Box::new(file(
                ".autonoe/agent.json",
                "{\"mcpServers\": {\"docs\": {\"command\": \"docs-server\"}}}",
            )),
        ),
        (
            "sandbox",
            "socat is not on PATH",
            Box::new(program("socat")),
        ),
        (
            "sandbox",
            "No permissions",
            Box::new(|it| it.program("bwrap", "echo 'bwrap: No permissions' >&2; exit 1")),
        ),
        (
            "SPEC.md",
            "SPEC.md\" is blank;",
            Box::new(file("SPEC.md", " \n\n")),
        ),
        (
            "agent.json",
            "agent.json:1:2: /profil: ",
            Box::new(file(".autonoe/agent.json", "{\"profil\": 1}")),
        ),
        (
            "status.json",
            "not contain a valid ledger",
            Box::new(file(".autonoe/status.json", "{")),
        ),
        (
            "coding.md",
            "coding.md\" is blank; write a text there",
            Box::new(file(".autonoe/coding.md", " \n")),
        ),
        (
            "journal",
            "line 1 of the journal",
            Box::new(file(".autonoe/journal.jsonl", "x\n")),
        ),
        (
            "credentials",
            "no login",
            Box::new(|it| {
                let login = it.project().join("../home/.claude/.credentials.json");
                fs::remove_file(login).expect("it is there");
                it
            }),
        ),
    ];
    for (name, found, change) in cases {
        let output = change(healthy()).autonoe(&["doctor", "--json"]);

        let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let findings = json["findings"].as_array().expect("a list");
        let problems: Vec<_> = findings
            .iter()
            .filter(|it| it["state"] == "problem")
            .collect();
        assert_eq!((output.code, &json["canRun"]), (1, &false.into()), "{name}");
        assert_eq!(problems.len(), 1, "{name}: {problems:?}");
        assert_eq!(problems[0]["name"], name);
        let text = problems[0]["found"].as_str().expect("a text");
        assert!(text.contains(found), "{name}: {text}");
    }
}

#[test]
fn findings_and_remedies_are_never_cut() {
    let name = format!("{}-end", "x".repeat(300));
    let json = format!("{{\"mcpServers\": {{\"docs\": {{\"command\": \"{name}\"}}}}}}");
    let fixture = healthy().file(".autonoe/agent.json", json);
    let output = fixture.autonoe(&["doctor"]);

    assert!(!output.stdout.contains('…'), "{}", output.screen());
    assert!(output.stdout.contains(&name), "{}", output.screen());
}

#[test]
fn a_warning_does_not_keep_a_run_from_starting() {
    type Change = Box<dyn Fn(Fixture) -> Fixture>;
    let cases: Vec<(&str, &str, Change)> = vec![
        (
            "agent.json",
            "agent.json:1:2: /sandbox: the unknown field `sandbox` has no effect",
            Box::new(|it| it.file(".autonoe/agent.json", "{\"sandbox\": false}")),
        ),
        (
            "sync.md",
            "sync.md\" is blank; write a text there",
            Box::new(|it| it.file(".autonoe/sync.md", "")),
        ),
        (
            "mcp server",
            "there is no program `npx`; agents work without a browser",
            Box::new(|it| {
                fs::remove_file(it.project().join("../bin/npx")).expect("it is there");
                it
            }),
        ),
    ];
    for (name, found, change) in cases {
        let output = change(healthy()).autonoe(&["doctor", "--json"]);

        let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let findings = json["findings"].as_array().expect("a list");
        let warnings: Vec<_> = findings
            .iter()
            .filter(|it| it["state"] == "warning")
            .collect();
        assert_eq!((output.code, &json["canRun"]), (0, &true.into()), "{name}");
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        assert_eq!(warnings[0]["name"], name);
        let text = warnings[0]["found"].as_str().expect("a text");
        assert!(text.contains(found), "{name}: {text}");
    }
}

#[test]
fn doctor_finds_credentials_and_never_prints_them() {
    let bare = Fixture::new();
    for (name, value) in [
        ("ANTHROPIC_API_KEY", "sk-do-not-print"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "do-not-print"),
        ("CLAUDE_CODE_USE_BEDROCK", "do-not-print"),
    ] {
        for json in [&["doctor"][..], &["doctor", "--json"]] {
            let output = bare
                .command(json)
                .env(name, value)
                .output()
                .expect("it starts");
            let text = String::from_utf8(output.stdout).expect("UTF-8");

            assert!(text.contains(&format!("{name} is set")), "{text}");
            assert!(
                !text.contains("do-not-print") && output.stderr.is_empty(),
                "{text}"
            );
        }
    }
    assert!(
        !healthy()
            .autonoe(&["doctor"])
            .screen()
            .contains("do-not-print")
    );
}

#[test]
fn untested_version_and_disabled_sandbox_are_warnings() {
    let fixture = healthy().program("claude", "echo '9.9.9 (Claude Code)'");

    let output = fixture.autonoe(&["doctor", "--no-sandbox"]);

    assert_eq!(output.code, 0, "{}", output.screen());
    for part in ["not tested with", "switched off"] {
        assert!(output.stdout.contains(part), "{}", output.screen());
    }
}

#[test]
fn a_browser_that_is_switched_off_needs_no_npx() {
    let fixture = healthy().file(".autonoe/agent.json", "{\"mcpServers\": {}}");
    fs::remove_file(fixture.project().join("../bin/npx")).expect("it is there");

    assert_eq!(fixture.autonoe(&["doctor"]).code, 0);
}

#[test]
fn a_directory_that_is_not_there_is_a_problem() {
    let output = healthy().autonoe(&["doctor", "-p", "missing"]);

    assert_eq!(output.code, 1);
    assert!(
        output.stdout.contains("does not exist"),
        "{}",
        output.screen()
    );
}

fn with(value: &[u8], args: &[&str]) -> CommandOutput {
    let fixture = Fixture::new().file("SPEC.md", "# Shop\n");
    let mut command = fixture.command(args);
    command.env("AUTONOE_NO_SANDBOX", OsStr::from_bytes(value));
    fixture.command_output(command.output().expect("it starts"))
}

const WARNING: &str = "so the sandbox stays on";

#[test]
fn an_invalid_value_is_reported_and_leaves_the_sandbox_on() {
    for value in [&b"true"[..], b"yes", b"on", b"2", b" 1", b"\xff"] {
        let dry = with(value, &["run", "--dry-run"]);
        assert_eq!(dry.code, 0, "{}", dry.screen());
        assert!(dry.stderr.contains(WARNING), "{}", dry.screen());
        assert!(!dry.stdout.contains(" off "), "{}", dry.screen());

        let doctor = with(value, &["doctor"]);
        assert!(doctor.stdout.contains(WARNING), "{}", doctor.screen());
        assert!(
            !doctor.stdout.contains("switched off"),
            "{}",
            doctor.screen()
        );
    }
}

#[test]
fn known_values_print_no_warning() {
    for value in [&b""[..], b"0", b"false", b"no", b"off", b"FALSE", b"1"] {
        for args in [&["run", "--dry-run"][..], &["doctor"]] {
            let output = with(value, args);
            assert!(!output.screen().contains(WARNING), "{}", output.screen());
            let is_off = output.stdout.contains("switched off");
            assert_eq!(
                is_off,
                value == b"1" && args == ["doctor"],
                "{}",
                output.screen()
            );
        }
    }
    let by_flag = with(b"true", &["run", "--dry-run", "--no-sandbox"]);
    assert!(!by_flag.screen().contains(WARNING), "{}", by_flag.screen());
}

#[test]
fn escape_characters_of_the_value_are_not_printed() {
    let output = with(b"\x1b[2Jtrue", &["run", "--dry-run"]);

    assert!(!output.stderr.contains('\x1b'), "{}", output.screen());
}
