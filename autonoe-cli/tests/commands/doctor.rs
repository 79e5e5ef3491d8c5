//! Tests of `autonoe doctor`.

use std::fs;

use serde_json::Value;

use crate::commands::fixture::Fixture;

/// A machine on which a run could start.
fn healthy() -> Fixture {
    let setting = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .home_file(
            ".claude/.credentials.json",
            "{\"secret\": \"do-not-print\"}",
        )
        .program("claude", "echo '2.1.300 (Claude Code)'")
        .program("bwrap", "exit 0");
    ["socat", "git", "npx"]
        .into_iter()
        .fold(setting, |setting, name| setting.program(name, "exit 1"))
}

#[test]
fn on_a_healthy_machine_a_run_could_start() {
    let output = healthy().autonoe(&["doctor"]);

    assert_eq!(output.code, 0, "{}", output.screen());
    insta::assert_snapshot!(output.screen());
}

#[test]
fn on_a_bare_machine_every_problem_comes_with_its_remedy() {
    let output = Fixture::new().autonoe(&["doctor"]);

    assert_eq!(output.code, 1, "{}", output.screen());
    insta::assert_snapshot!(output.screen());
}

#[test]
fn each_problem_alone_is_in_the_way_of_a_run() {
    let program = |name| {
        move |setting: Fixture| {
            let path = setting.project().join("../bin").join(name);
            fs::remove_file(path).expect("it is there");
            setting
        }
    };
    let file =
        |path: &'static str, text: &'static str| move |setting: Fixture| setting.file(path, text);
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
fn a_warning_does_not_keep_a_run_from_starting() {
    type Change = Box<dyn Fn(Fixture) -> Fixture>;
    let cases: Vec<(&str, &str, Change)> = vec![
        (
            "agent.json",
            "agent.json:1:2: /sandbox: the unknown field `sandbox` has no effect",
            Box::new(|it| it.file(".autonoe/agent.json", "{\"sandbox\": false}")),
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
fn credentials_are_found_and_never_printed() {
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
    let setting = healthy().program("claude", "echo '9.9.9 (Claude Code)'");

    let output = setting.autonoe(&["doctor", "--no-sandbox"]);

    assert_eq!(output.code, 0, "{}", output.screen());
    for part in ["not tested with", "switched off"] {
        assert!(output.stdout.contains(part), "{}", output.screen());
    }
}

#[test]
fn a_browser_that_is_switched_off_needs_no_npx() {
    let setting = healthy().file(".autonoe/agent.json", "{\"mcpServers\": {}}");
    fs::remove_file(setting.project().join("../bin/npx")).expect("it is there");

    assert_eq!(setting.autonoe(&["doctor"]).code, 0);
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
