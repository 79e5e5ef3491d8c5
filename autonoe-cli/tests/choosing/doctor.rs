//! `autonoe doctor` and the backends that there are.

use serde_json::{Value, json};

use crate::choosing::setting::{Setting, said};

/// Returns what is told of the backend with a tag.
fn of<'a>(found: &'a Value, tag: &str) -> &'a Value {
    let backends = found["backends"].as_array().expect("a list");
    let mut backends = backends.iter().filter(|it| it["backend"] == tag);
    backends
        .next()
        .unwrap_or_else(|| panic!("{tag}: {found:#}"))
}

#[test]
fn on_a_bare_machine_each_backend_says_what_is_missing() {
    let setting = Setting::new();

    let json = said(setting.bare_command(&["doctor", "--json"]));
    let text = said(setting.bare_command(&["doctor", "--backend=codex"]));

    let found = json.json();
    assert_eq!((json.code, &found["canRun"]), (Some(1), &json!(false)));
    for (tag, availability) in [
        ("acp", "incomplete"),
        ("claude", "unavailable"),
        ("codex", "unavailable"),
        ("gemini", "unavailable"),
        ("model", "incomplete"),
        ("scripted", "incomplete"),
    ] {
        assert_eq!(of(&found, tag)["availability"], availability, "{found:#}");
    }
    assert_eq!(of(&found, "acp")["needs"], json!(["command"]));
    assert_eq!(text.code, Some(1), "{text:?}");
    for line in [
        "problem  codex",
        "-> install it (npm install -g @openai/codex)",
        "What `--backend` takes:",
        "as acp:COMMAND",
        "as model:PROVIDER/MODEL",
        "as scripted:FILE",
    ] {
        assert!(text.stdout.contains(line), "{line}: {}", text.stdout);
    }
}

#[test]
fn the_real_programs_are_found_with_version_key_and_sandbox() {
    // Each has a machine of its own: the command looks at all programs that are installed.
    let (codex, gemini) = (Setting::new().with_codex(), Setting::new().with_gemini());
    for (setting, tag, key, version) in [
        (codex, "codex", "OPENAI_API_KEY", "0.166.0"),
        (gemini, "gemini", "GEMINI_API_KEY", "0.61.0"),
    ] {
        let mut command = setting.command(&["doctor", "--json", "--backend", tag]);
        command.env(key, "do-not-print");

        let with = said(command);
        let without = setting.autonoe(&["doctor", "--json", "--backend", tag]);

        assert!(!with.stdout.contains("do-not-print"), "{with:?}");
        let found = with.json();
        assert_eq!(
            (with.code, &found["backend"]),
            (Some(0), &json!(tag)),
            "{found:#}"
        );
        let probe = of(&found, tag);
        assert_eq!(probe["availability"], "available", "{probe:#}");
        assert_eq!(probe["version"], version, "{probe:#}");
        assert_eq!(
            (&probe["isTested"], &probe["credentials"]),
            (&json!(true), &json!("found"))
        );
        let found = without.json();
        assert_eq!(without.code, Some(1), "{found:#}");
        assert_eq!(of(&found, tag)["credentials"], "missing", "{found:#}");
        setting.nothing_is_left();
    }
}

#[test]
fn a_stranger_on_the_path_is_not_taken_for_codex() {
    let setting = Setting::new().program("codex", "echo 'codex 1.0'");
    let mut command = setting.command(&["doctor", "--json", "--backend=codex"]);
    command.env("OPENAI_API_KEY", "nobody asks");

    let said = said(command);

    let found = said.json();
    assert_eq!(said.code, Some(1), "{found:#}");
    let findings = found["findings"].as_array().expect("a list");
    let problem = findings.iter().find(|it| it["state"] == "problem");
    let told = problem.expect("one")["found"].as_str().expect("a text");
    assert!(told.contains("does not say that it is Codex"), "{told}");
}

#[test]
fn a_backend_that_needs_a_sandbox_is_not_looked_for_without() {
    let setting = Setting::new().with_codex();
    let mut command = setting.command(&["doctor", "--backend=codex", "--no-sandbox"]);
    command.env("OPENAI_API_KEY", "nobody asks");

    let said = said(command);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stdout
            .contains("codex does not ask about every tool call"),
        "{said:?}"
    );
}

#[test]
fn any_agent_of_the_protocol_is_asked_who_it_is() {
    let says = r#"read -r line
        id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
        told='{"protocolVersion":1,"agentInfo":{"name":"x","version":"7.1"},"agentCapabilities":{}}'
        echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$told}"
        cat > /dev/null"#;
    let setting = Setting::new().program("agent", says);

    let said = setting.autonoe(&["doctor", "--json", "--backend=acp:agent"]);

    let found = said.json();
    let probe = of(&found, "acp");
    assert_eq!(probe["version"], "7.1", "{found:#}");
    let program = probe["program"].as_str().expect("it was found");
    assert!(program.ends_with("bin/agent"), "{program}");
    setting.nothing_is_left();
}
