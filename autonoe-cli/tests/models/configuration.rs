//! Errors in `.autonoe/models.json` and in names of models, and their effects on commands.

use autonoe_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::models::fixture::{Fixture, KEY, shortest_run};
use crate::models::vendor::Vendor;

const ON_CLAUDE: &str = "--backend=model:anthropic/claude-sonnet-4-5";

#[test]
fn every_command_reports_the_place_of_a_mistake_in_the_file() {
    let text =
        "{\"providers\": {\n  \"team\": {\"type\": \"anthropic\",\n    \"baseURL\": \"x\"}}}";
    for arguments in [
        &["run", ON_CLAUDE][..],
        &["run", "--dry-run", ON_CLAUDE],
        &["sync", ON_CLAUDE],
        &["doctor", ON_CLAUDE],
    ] {
        let fixture = Fixture::new();
        fixture.write(".autonoe/models.json", text);

        let output = fixture.autonoe(arguments);

        assert_eq!(output.code, Some(1), "{arguments:?}: {output:?}");
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(
            all.contains("models.json:3:5: /providers/team/baseURL: unknown field `baseURL`"),
            "{arguments:?}: {output:?}"
        );
        assert!(!fixture.root().join(".autonoe/journal.jsonl").exists());
    }
}

#[test]
fn unknown_provider_error_lists_known_providers() {
    let fixture = Fixture::with_file(&json!({
        "providers": {"team": {"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"}},
    }));

    let output = fixture.autonoe(&["run", "--backend=model:claude/sonnet"]);

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("error: unknown provider `claude`")
            && output
                .stderr
                .contains("hint: known providers: anthropic, google, openai, team"),
        "{output:?}"
    );
}

#[test]
fn a_missing_key_is_reported_with_its_variable() {
    for (name, expected, hint) in [
        (
            "anthropic/claude",
            "the variable ANTHROPIC_API_KEY is not set",
            "set ANTHROPIC_API_KEY",
        ),
        (
            "openai/gpt",
            "the variable OPENAI_API_KEY is not set",
            "set OPENAI_API_KEY",
        ),
        (
            "google/gemini",
            "the variable GEMINI_API_KEY is not set",
            "set GEMINI_API_KEY or GOOGLE_API_KEY",
        ),
        (
            "team/x",
            "the variable TEAM_KEY is not set",
            "autonoe schema models",
        ),
    ] {
        let fixture = Fixture::with_file(&json!({
            "providers": {"team": {"type": "openai", "key": {"env": "TEAM_KEY"}}},
        }));
        let backend = format!("--backend=model:{name}");

        let output = fixture.autonoe(&["run", &backend]);
        let doctor = fixture.autonoe(&["doctor", &backend]);

        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains(expected) && output.stderr.contains(hint),
            "{output:?}"
        );
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(
            doctor.stdout.contains(expected) && doctor.stdout.contains(hint),
            "{doctor:?}"
        );
        assert!(!fixture.root().join(".autonoe/journal.jsonl").exists());
    }
}

#[test]
fn a_name_that_is_no_model_is_wrong_usage() {
    for backend in ["model:anthropic", "model:/x", "model:", "model"] {
        let output = Fixture::new().autonoe(&["run", "--backend", backend]);

        assert_eq!(output.code, Some(2), "{backend}: {output:?}");
        assert!(
            output.stderr.contains("expected model:PROVIDER/MODEL"),
            "{output:?}"
        );
    }
}

#[test]
fn doctor_checks_a_model_without_a_request() {
    let fixture = Fixture::with_file(&json!({
        "providers": {"team": {
            "type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1", "key": {"env": "THE_KEY"},
        }},
    }));

    let known = fixture.autonoe(&["doctor", "--backend=model:team/gpt-5"]);
    let unknown = fixture.autonoe(&["doctor", "--backend=model:team/unheard-of"]);

    assert_eq!(known.code, Some(0), "{known:?}");
    for expected in [
        "models.json",
        "valid",
        "team (from ",
        "bwrap is installed and works",
        "A run can",
    ] {
        assert!(known.stdout.contains(expected), "{expected}: {known:?}");
    }
    // Claude Code is not probed, except in the list of all backends.
    let (findings, _) = known
        .stdout
        .split_once("Values of `--backend`")
        .expect("a list");
    assert!(!findings.contains("claude"), "{known:?}");
    assert_eq!(unknown.code, Some(0), "{unknown:?}");
    assert!(
        unknown.stdout.contains("its price is unknown"),
        "{unknown:?}"
    );
    for output in [known, unknown] {
        assert!(!output.stdout.contains(KEY), "{output:?}");
    }
}

#[test]
fn doctor_checks_the_model_of_a_run() {
    let fixture = Fixture::new();
    let spec = json!({
        "type": "model", "model": "gpt-5",
        "provider": {"type": "openai", "key": {"env": "THE_KEY"}},
    })
    .to_string();
    for (backend, model, expected) in [
        (&*spec, None, "gpt-5, with"),
        (&*spec, Some("gpt-5-mini"), "gpt-5-mini, with"),
        (&*spec, Some("unheard-of"), "its price is unknown"),
        ("model:team/gpt-5", Some("gpt-5-mini"), "gpt-5-mini, with"),
        (
            "model:team/gpt-5",
            Some("unheard-of"),
            "its price is unknown",
        ),
        ("model:team/unheard-of", Some("gpt-5"), "gpt-5, with"),
    ] {
        let provider = json!({"type": "openai", "key": {"env": "THE_KEY"}});
        let models = json!({"providers": {"team": provider}}).to_string();
        fixture.write(".autonoe/models.json", &models);
        let model = model.map(|model| format!("--model={model}"));
        let mut arguments = vec!["doctor", "--backend", backend];
        arguments.extend(model.as_deref());

        let output = fixture.autonoe(&arguments);

        assert_eq!(output.code, Some(0), "{arguments:?}: {output:?}");
        assert!(
            output.stdout.contains(expected),
            "{arguments:?}: {output:?}"
        );
        let knows_price = !output.stdout.contains("its price is unknown");
        assert_eq!(
            knows_price,
            expected.contains("with"),
            "{arguments:?}: {output:?}"
        );
    }
}

#[test]
fn money_is_not_limited_where_a_model_of_any_phase_has_no_price() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(Vec::<Turn>::new());
    let fixture = Fixture::on(vendor, &server);
    let named = "--backend=model:scripted/gpt-5".to_owned();
    let spec = json!({"type": "model", "provider": vendor.spec(&server), "model": "gpt-5"});
    let spec = format!("--backend={spec}");
    for (backend, model) in [
        (&named, "--model=unheard-of"),
        (&named, "--plan-model=unheard-of"),
        (&spec, "--model=unheard-of"),
        (&spec, "--plan-model=unheard-of"),
    ] {
        let output = fixture.autonoe(&["run", backend, model, "--max-cost=1"]);

        assert_eq!(output.code, Some(1), "{model}: {output:?}");
        assert!(
            output
                .stdout
                .contains("unheard-of costs, so the cost budget cannot be enforced"),
            "{model}: {output:?}"
        );
    }
    assert!(server.log().exchanges().is_empty(), "a model was asked");
}

#[test]
fn google_key_is_read_from_either_variable() {
    for (variable, value, is_found) in [
        ("GEMINI_API_KEY", "k", true),
        ("GOOGLE_API_KEY", "k", true),
        ("GEMINI_API_KEY", "", false),
    ] {
        let fixture = Fixture::new();
        let mut command = fixture.command(&["doctor", "--backend=model:google/gemini-2.5-pro"]);

        let done = command.env(variable, value).output().expect("it starts");

        let output_text = String::from_utf8(done.stdout).expect("text");
        assert_eq!(
            output_text.contains("a key is configured, or none"),
            is_found,
            "{variable}: {output_text}"
        );
    }
}

#[test]
fn a_dry_run_shows_the_model_and_starts_nothing() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(Vec::<Turn>::new());
    let fixture = Fixture::on(vendor, &server).without_settings();
    let arguments = [
        "run",
        "--dry-run",
        "--output=json",
        "--backend=model:scripted/gpt-5",
    ];

    let output = fixture.autonoe(&arguments);
    let other = fixture.autonoe(&[&arguments[..], &["--model=gpt-5-mini"]].concat());

    assert_eq!(output.code, Some(0), "{output:?}");
    let plan: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(plan["next"]["model"], "gpt-5");
    let fixture = |key: &str| {
        let mut settings = plan["settings"].as_array().expect("a list").iter();
        let found = settings.find(|setting| setting["key"] == key);
        found.map(|setting| setting["value"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(fixture("backend").as_deref(), Some("model:scripted/gpt-5"));
    assert_eq!(
        fixture("provider").as_deref(),
        Some("scripted (type openai)")
    );
    let browser = fixture("mcpServers.playwright").expect("it is named");
    assert!(browser.starts_with("npx @playwright/mcp"), "{browser}");
    let plan: Value = serde_json::from_str(&other.stdout).expect("JSON");
    assert_eq!(plan["next"]["model"], "gpt-5-mini");
    assert!(server.log().exchanges().is_empty());
}

#[test]
fn a_built_in_name_with_another_target_is_reported() {
    let vendor = Vendor::Anthropic;
    let server = vendor.serve(shortest_run());
    let spec = vendor.spec(&server);
    let fixture = Fixture::with_file(&json!({"providers": {"anthropic": spec}}));

    let output = fixture.autonoe(&["run", "--pause=0s", ON_CLAUDE]);

    assert_eq!(output.code, Some(0), "{output:?}");
    let address = spec["baseUrl"].as_str().expect("a text");
    let expected = format!("its key is sent to {address}");
    assert!(output.stderr.contains(&expected), "{output:?}");
}

#[test]
fn a_backend_in_json_needs_no_file() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(shortest_run());
    let fixture = Fixture::new();
    let backend = json!({"type": "model", "provider": vendor.spec(&server), "model": "gpt-5"});

    let output = fixture.autonoe(&["run", "--pause=0s", "--backend", &backend.to_string()]);

    assert_eq!(output.code, Some(0), "{output:?}");
}
