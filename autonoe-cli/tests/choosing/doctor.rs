//! `autonoe doctor` and its list of backends.

use serde_json::{Value, json};

use crate::choosing::fixture::{Fixture, run_command};

/// Returns the finding about the backend with a tag.
fn backend_entry<'a>(found: &'a Value, tag: &str) -> &'a Value {
    let mut backends = found["backends"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|it| it["backend"] == tag);
    backends
        .next()
        .unwrap_or_else(|| panic!("{tag}: {found:#}"))
}

#[test]
fn doctor_reports_unavailable_backends_on_bare_machine() {
    let fixture = Fixture::new();

    let json = run_command(fixture.bare_command(&["doctor", "--json"]));
    let text = run_command(fixture.bare_command(&["doctor", "--backend=codex"]));

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
        assert_eq!(
            backend_entry(&found, tag)["availability"],
            availability,
            "{found:#}"
        );
    }
    assert_eq!(
        backend_entry(&found, "acp")["missingFields"],
        json!(["command"])
    );
    assert_eq!(text.code, Some(1), "{text:?}");
    for line in [
        "problem  codex",
        "-> install it (npm install -g @openai/codex)",
        "Values of `--backend`:",
        "write acp:COMMAND",
        "write model:PROVIDER/MODEL",
        "write scripted:FILE",
    ] {
        assert!(text.stdout.contains(line), "{line}: {}", text.stdout);
    }
}

#[test]
fn the_real_programs_are_found_with_version_key_and_sandbox() {
    // Separate machines, because the command probes all installed programs.
    let (codex, gemini) = (Fixture::new().with_codex(), Fixture::new().with_gemini());
    for (fixture, tag, key, version) in [
        (codex, "codex", "OPENAI_API_KEY", "0.166.0"),
        (gemini, "gemini", "GEMINI_API_KEY", "0.61.0"),
    ] {
        let mut command = fixture.command(&["doctor", "--json", "--backend", tag]);
        command.env(key, "do-not-print");

        let with = run_command(command);
        let without = fixture.autonoe(&["doctor", "--json", "--backend", tag]);

        assert!(!with.stdout.contains("do-not-print"), "{with:?}");
        let found = with.json();
        assert_eq!(
            (with.code, &found["backend"]),
            (Some(0), &json!(tag)),
            "{found:#}"
        );
        let probe = backend_entry(&found, tag);
        assert_eq!(probe["availability"], "available", "{probe:#}");
        assert_eq!(probe["version"], version, "{probe:#}");
        assert_eq!(
            (&probe["isTested"], &probe["credentials"]),
            (&json!(true), &json!("found"))
        );
        let found = without.json();
        assert_eq!(without.code, Some(1), "{found:#}");
        assert_eq!(
            backend_entry(&found, tag)["credentials"],
            "missing",
            "{found:#}"
        );
        fixture.wait_for_processes();
    }
}

#[test]
fn doctor_rejects_another_program_named_codex() {
    let fixture = Fixture::new().program("codex", "echo 'codex 1.0'");
    let mut command = fixture.command(&["doctor", "--json", "--backend=codex"]);
    command.env("OPENAI_API_KEY", "nobody asks");

    let output = run_command(command);

    let found = output.json();
    assert_eq!(output.code, Some(1), "{found:#}");
    let findings = found["findings"].as_array().expect("a list");
    let problem = findings.iter().find(|it| it["state"] == "problem");
    let message = problem.expect("one")["found"].as_str().expect("a text");
    assert!(
        message.contains("does not identify itself as Codex"),
        "{message}"
    );
}

#[test]
fn doctor_refuses_a_backend_that_requires_the_sandbox() {
    let fixture = Fixture::new().with_codex();
    let mut command = fixture.command(&["doctor", "--backend=codex", "--no-sandbox"]);
    command.env("OPENAI_API_KEY", "nobody asks");

    let output = run_command(command);

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stdout.contains("codex can bypass the gate"),
        "{output:?}"
    );
}

#[test]
fn probe_requests_the_name_of_every_acp_agent() {
    let script = r#"read -r line
        id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
        told='{"protocolVersion":1,"agentInfo":{"name":"x","version":"7.1"},"agentCapabilities":{}}'
        echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$told}"
        cat > /dev/null"#;
    let fixture = Fixture::new().program("agent", script);

    let output = fixture.autonoe(&["doctor", "--json", "--backend=acp:agent"]);

    let found = output.json();
    let probe = backend_entry(&found, "acp");
    assert_eq!(probe["version"], "7.1", "{found:#}");
    let program = probe["program"].as_str().expect("it was found");
    assert!(program.ends_with("bin/agent"), "{program}");
    fixture.wait_for_processes();
}
