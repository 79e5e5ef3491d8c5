//! Projects that select their backend in `agent.json`.

use serde_json::{Value, json};

use crate::choosing::fixture::{Fixture, passed, plan};

/// Returns the setting `backend` of a dry run: its value, its source and the warnings.
fn backend_setting(fixture: &Fixture, arguments: &[&str]) -> (String, String, Vec<String>) {
    let dry = ["run", "--dry-run", "--output=json"];
    let output = fixture.autonoe(&[&dry, arguments].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    let plan = output.json();
    let settings = plan["settings"].as_array().expect("a list");
    let mut backends = settings.iter().filter(|it| it["key"] == "backend");
    let backend = backends.next().expect("it is always told");
    assert_eq!(backends.next(), None, "{plan:#}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let warnings = output.warnings().into_iter().map(str::to_owned).collect();
    (text(&backend["value"]), text(&backend["source"]), warnings)
}

#[test]
fn the_command_line_overrides_the_file_and_the_file_the_defaults() {
    let plain = Fixture::new();
    let (backend, source, warnings) = backend_setting(&plain, &[]);
    assert_eq!((backend.as_str(), source.as_str()), ("claude", "default"));
    assert_eq!(warnings, Vec::<String>::new());

    let named = Fixture::new().configured(&json!({"backend": "codex"}));
    let (backend, source, warnings) = backend_setting(&named, &[]);
    assert_eq!(backend, "codex");
    assert!(source.ends_with(".autonoe/agent.json:1"), "{source}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("agents run on the backend codex, as configured in /"),
        "{warnings:?}"
    );

    let (backend, source, warnings) = backend_setting(&named, &["--backend=gemini"]);
    assert_eq!((backend.as_str(), source.as_str()), ("gemini", "flag"));
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn configured_programs_and_keys_are_announced_without_secrets() {
    let backend = json!({
        "type": "codex", "program": "/opt/other-codex",
        "provider": {"baseUrl": "https://elsewhere.example/v1", "keyVariable": "TEAM_KEY"},
        "mcpServers": {"x": {"command": "y", "env": {"SECRET": "do-not-print"}}},
    });
    let fixture = Fixture::new().configured(&json!({"backend": backend}));

    let (_, _, warnings) = backend_setting(&fixture, &[]);

    let warnings = warnings.join("\n");
    for expected in [
        "/opt/other-codex",
        "https://elsewhere.example/v1",
        "TEAM_KEY",
        "\"command\":\"y\"",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
    assert!(!warnings.contains("do-not-print"), "{warnings}");
}

#[test]
fn a_mistake_is_reported_with_its_place() {
    let model = json!({"type": "openai", "key": {"value": "sk-do-not-print"}});
    for (backend, expected) in [
        (
            json!("codx"),
            "/backend: unknown backend `codx`; did you mean `codex`?",
        ),
        (json!("model:x"), "/backend: expected model:PROVIDER/MODEL"),
        (json!("acp"), "/backend: expected acp:COMMAND"),
        (
            json!(3),
            "/backend: expected a backend or its name, found a number",
        ),
        (
            json!({"type": "codx"}),
            "/backend/type: unknown backend `codx`; did you mean `codex`?",
        ),
        (json!({}), "/backend: the backend has no `type`"),
        (
            json!({"type": "codex", "modle": "x"}),
            "/backend/modle: unknown field `modle`; did you mean `model`?",
        ),
        (
            json!({"type": "acp"}),
            "/backend: the field `command` is missing",
        ),
        (
            json!({"type": "gemini", "sandbox": {}}),
            "/backend/sandbox: a project's files cannot choose the sandbox",
        ),
        (
            json!({"type": "codex", "program": "./tools/codex"}),
            "/backend/program: this path is in the project",
        ),
        (
            json!({"type": "acp", "command": "tools/agent"}),
            "/backend/command: this path is in the project",
        ),
        (
            json!("acp:./tools/agent serve"),
            "/backend: this path is in the project",
        ),
        (
            json!({"type": "gemini", "home": {"persistent": "agents-home"}}),
            "/backend/home/persistent: this path is in the project",
        ),
        (
            json!({"type": "claude", "config": {"persistent": "agents-home"}}),
            "/backend/config/persistent: this path is in the project",
        ),
        (
            json!({"type": "claude", "settingSources": "project"}),
            "/backend/settingSources: settingSources is not allowed",
        ),
        (
            json!({"type": "model", "model": "m", "provider": model}),
            "/backend/provider/key: this file must not contain a key",
        ),
    ] {
        let fixture = Fixture::new().configured(&json!({"backend": backend}));
        for arguments in [&["run"][..], &["run", "--dry-run"], &["doctor"]] {
            let output = fixture.autonoe(arguments);

            assert_eq!(output.code, Some(1), "{backend}: {output:?}");
            let all = format!("{}{}", output.stdout, output.stderr);
            let place = ".autonoe/agent.json:1:";
            assert!(
                all.contains(place) && all.contains(expected),
                "{arguments:?} {backend}: {output:?}"
            );
            assert!(!all.contains("do-not-print"), "{output:?}");
        }
    }
}

#[test]
fn scripted_agents_of_file_run_after_a_warning() {
    let fixture = Fixture::new().configured(&json!({"backend": "scripted:.autonoe/agents.json"}));
    let uses = |tool: &str, input: Value| json!({"uses": {"tool": format!("mcp__autonoe__{tool}"), "input": input}});
    let script = json!({"sessions": [
        {"name": "plan", "steps": [uses("create", plan()), "ends"]},
        {"name": "build", "steps": [uses("set_status", passed()), "ends"]},
    ]});
    fixture.write(".autonoe/agents.json", &script.to_string());

    let output = fixture.autonoe(&["run", "--pause=0s"]);

    assert_eq!(output.code, Some(0), "{output:?}");
    let warning = output
        .stderr
        .find("agents run on the backend scripted, as")
        .expect("it is told");
    let session_start = output.stderr.find("Session 1 started").expect("it began");
    assert!(warning < session_start, "{output:?}");
}

#[test]
fn agents_on_a_model_can_be_described_in_the_file() {
    let provider = json!({"type": "openai", "key": {"env": "TEAM_KEY"}});
    let backend = json!({"type": "model", "provider": provider, "model": "gpt-5",
                         "tools": {"network": "shared"}});
    let fixture = Fixture::new().configured(&json!({"backend": backend}));
    let mut command = fixture.command(&["doctor", "--json"]);
    command.env("TEAM_KEY", "nobody asks");

    let output = crate::choosing::fixture::run_command(command);

    let found = output.json();
    assert_eq!(found["backend"], "model", "{found:#}");
    let findings = found["findings"].as_array().expect("a list");
    let warned = findings.iter().filter(|it| it["name"] == "backend");
    let warned: Vec<_> = warned
        .map(|it| it["found"].as_str().expect("a text"))
        .collect();
    assert!(
        warned.iter().any(|it| it.contains("TEAM_KEY")),
        "{warned:?}"
    );
    assert!(warned.iter().any(|it| it.contains("shared")), "{warned:?}");
}
