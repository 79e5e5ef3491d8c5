//! A project that names its backend.

use serde_json::{Value, json};

use crate::choosing::setting::{Setting, passed, plan};

/// Returns the setting `backend` of a dry run: its value and where it comes from.
fn shown(setting: &Setting, arguments: &[&str]) -> (String, String, Vec<String>) {
    let dry = ["run", "--dry-run", "--output=json"];
    let said = setting.autonoe(&[&dry, arguments].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    let plan = said.json();
    let settings = plan["settings"].as_array().expect("a list");
    let mut backends = settings.iter().filter(|it| it["key"] == "backend");
    let backend = backends.next().expect("it is always told");
    assert_eq!(backends.next(), None, "{plan:#}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let warnings = said.warnings().into_iter().map(str::to_owned).collect();
    (text(&backend["value"]), text(&backend["source"]), warnings)
}

#[test]
fn the_command_line_wins_over_the_file_and_the_file_over_what_is_built_in() {
    let plain = Setting::new();
    let (backend, source, warnings) = shown(&plain, &[]);
    assert_eq!((backend.as_str(), source.as_str()), ("claude", "default"));
    assert_eq!(warnings, Vec::<String>::new());

    let named = Setting::new().configured(&json!({"backend": "codex"}));
    let (backend, source, warnings) = shown(&named, &[]);
    assert_eq!(backend, "codex");
    assert!(source.ends_with(".autonoe/agent.json:1"), "{source}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("agents are run by codex, as /"),
        "{warnings:?}"
    );

    let (backend, source, warnings) = shown(&named, &["--backend=gemini"]);
    assert_eq!((backend.as_str(), source.as_str()), ("gemini", "flag"));
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn what_a_file_starts_and_where_keys_go_is_told_without_secrets() {
    let backend = json!({
        "type": "codex", "program": "/opt/other-codex",
        "provider": {"baseUrl": "https://elsewhere.example/v1", "keyVariable": "TEAM_KEY"},
        "mcpServers": {"x": {"command": "y", "env": {"SECRET": "do-not-print"}}},
    });
    let setting = Setting::new().configured(&json!({"backend": backend}));

    let (_, _, warnings) = shown(&setting, &[]);

    let warnings = warnings.join("\n");
    for told in [
        "/opt/other-codex",
        "https://elsewhere.example/v1",
        "TEAM_KEY",
        "\"command\":\"y\"",
    ] {
        assert!(warnings.contains(told), "{told}: {warnings}");
    }
    assert!(!warnings.contains("do-not-print"), "{warnings}");
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let model = json!({"type": "openai", "key": {"value": "sk-do-not-print"}});
    for (backend, told) in [
        (
            json!("codx"),
            "/backend: this program knows no backend of the type `codx`; did you mean `codex`?",
        ),
        (json!("model:x"), "/backend: write model:PROVIDER/MODEL"),
        (json!("acp"), "/backend: write acp:COMMAND"),
        (
            json!(3),
            "/backend: expected a backend or its name, found a number",
        ),
        (
            json!({"type": "codx"}),
            "/backend/type: this program knows no backend of the type `codx`",
        ),
        (json!({}), "/backend: the backend has no `type`"),
        (
            json!({"type": "codex", "modle": "x"}),
            "/backend/modle: unknown field `modle`; did you mean `model`?",
        ),
        (
            json!({"type": "acp"}),
            "/backend: the backend has no `command`",
        ),
        (
            json!({"type": "gemini", "sandbox": {}}),
            "/backend/sandbox: a file of the project does not say",
        ),
        (
            json!({"type": "codex", "program": "./tools/codex"}),
            "/backend/program: that is in the project",
        ),
        (
            json!({"type": "acp", "command": "tools/agent"}),
            "/backend/command: that is in the project",
        ),
        (
            json!("acp:./tools/agent serve"),
            "/backend: that is in the project",
        ),
        (
            json!({"type": "gemini", "home": {"kept": "agents-home"}}),
            "/backend/home/kept: that is in the project",
        ),
        (
            json!({"type": "claude", "settingSources": "project"}),
            "/backend/settingSources: a file of the project does not say",
        ),
        (
            json!({"type": "model", "model": "m", "provider": model}),
            "/backend/provider/key: a key does not belong into this file",
        ),
    ] {
        let setting = Setting::new().configured(&json!({"backend": backend}));
        for arguments in [&["run"][..], &["run", "--dry-run"], &["doctor"]] {
            let said = setting.autonoe(arguments);

            assert_eq!(said.code, Some(1), "{backend}: {said:?}");
            let all = format!("{}{}", said.stdout, said.stderr);
            let place = ".autonoe/agent.json:1:";
            assert!(
                all.contains(place) && all.contains(told),
                "{arguments:?} {backend}: {said:?}"
            );
            assert!(!all.contains("do-not-print"), "{said:?}");
        }
    }
}

#[test]
fn scripted_agents_of_a_file_run_and_the_person_is_told_first() {
    let setting = Setting::new().configured(&json!({"backend": "scripted:.autonoe/agents.json"}));
    let uses = |tool: &str, input: Value| json!({"uses": {"tool": format!("mcp__autonoe__{tool}"), "input": input}});
    let script = json!({"sessions": [
        {"name": "plan", "steps": [uses("create", plan()), "ends"]},
        {"name": "build", "steps": [uses("set_status", passed()), "ends"]},
    ]});
    setting.write(".autonoe/agents.json", &script.to_string());

    let said = setting.autonoe(&["run", "--pause=0s"]);

    assert_eq!(said.code, Some(0), "{said:?}");
    let told = said
        .stderr
        .find("agents are run by scripted, as")
        .expect("it is told");
    let begun = said.stderr.find("Session 1 started").expect("it began");
    assert!(told < begun, "{said:?}");
}

#[test]
fn agents_on_a_model_can_be_described_in_the_file() {
    let provider = json!({"type": "openai", "key": {"env": "TEAM_KEY"}});
    let backend = json!({"type": "model", "provider": provider, "model": "gpt-5",
                         "tools": {"network": "shared"}});
    let setting = Setting::new().configured(&json!({"backend": backend}));
    let mut command = setting.command(&["doctor", "--json"]);
    command.env("TEAM_KEY", "nobody asks");

    let said = crate::choosing::setting::said(command);

    let found = said.json();
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
