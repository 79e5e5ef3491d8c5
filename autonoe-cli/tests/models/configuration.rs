//! What the command makes of `.autonoe/models.json` and of names of models.

use autonoe_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::models::setting::{KEY, Setting, shortest_run};
use crate::models::vendor::Vendor;

const ON_CLAUDE: &str = "--backend=model:anthropic/claude-sonnet-4-5";

#[test]
fn a_mistake_in_the_file_is_told_with_its_place_by_every_command() {
    let text =
        "{\"providers\": {\n  \"team\": {\"type\": \"anthropic\",\n    \"baseURL\": \"x\"}}}";
    for arguments in [
        &["run", ON_CLAUDE][..],
        &["run", "--dry-run", ON_CLAUDE],
        &["sync", ON_CLAUDE],
        &["doctor", ON_CLAUDE],
    ] {
        let setting = Setting::new();
        setting.write(".autonoe/models.json", text);

        let said = setting.autonoe(arguments);

        assert_eq!(said.code, Some(1), "{arguments:?}: {said:?}");
        let all = format!("{}{}", said.stdout, said.stderr);
        assert!(
            all.contains("models.json:3:5: /providers/team/baseURL: unknown field `baseURL`"),
            "{arguments:?}: {said:?}"
        );
        assert!(!setting.root().join(".autonoe/journal.jsonl").exists());
    }
}

#[test]
fn an_unknown_provider_is_told_with_those_that_there_are() {
    let setting = Setting::with_file(&json!({
        "providers": {"team": {"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"}},
    }));

    let said = setting.autonoe(&["run", "--backend=model:claude/sonnet"]);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains("error: there is no provider `claude`")
            && said
                .stderr
                .contains("hint: known are anthropic, google, openai, team"),
        "{said:?}"
    );
}

#[test]
fn a_missing_key_is_told_with_its_variable() {
    for (name, told, hint) in [
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
        let setting = Setting::with_file(&json!({
            "providers": {"team": {"type": "openai", "key": {"env": "TEAM_KEY"}}},
        }));
        let backend = format!("--backend=model:{name}");

        let said = setting.autonoe(&["run", &backend]);
        let doctor = setting.autonoe(&["doctor", &backend]);

        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(
            said.stderr.contains(told) && said.stderr.contains(hint),
            "{said:?}"
        );
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(
            doctor.stdout.contains(told) && doctor.stdout.contains(hint),
            "{doctor:?}"
        );
        assert!(!setting.root().join(".autonoe/journal.jsonl").exists());
    }
}

#[test]
fn a_name_that_is_no_model_is_wrong_usage() {
    for backend in ["model:anthropic", "model:/x", "model:", "model"] {
        let said = Setting::new().autonoe(&["run", "--backend", backend]);

        assert_eq!(said.code, Some(2), "{backend}: {said:?}");
        assert!(
            said.stderr.contains("write model:PROVIDER/MODEL"),
            "{said:?}"
        );
    }
}

#[test]
fn the_doctor_looks_at_a_model_without_asking_anybody() {
    let setting = Setting::with_file(&json!({
        "providers": {"team": {
            "type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1", "key": {"env": "THE_KEY"},
        }},
    }));

    let known = setting.autonoe(&["doctor", "--backend=model:team/gpt-5"]);
    let unknown = setting.autonoe(&["doctor", "--backend=model:team/unheard-of"]);

    assert_eq!(known.code, Some(0), "{known:?}");
    for shown in [
        "models.json",
        "valid",
        "team, of ",
        "bwrap is there and works",
        "A run could",
    ] {
        assert!(known.stdout.contains(shown), "{shown}: {known:?}");
    }
    // Claude Code is not looked at, but in the list of all backends.
    let (findings, _) = known
        .stdout
        .split_once("What `--backend` takes")
        .expect("a list");
    assert!(!findings.contains("claude"), "{known:?}");
    assert_eq!(unknown.code, Some(0), "{unknown:?}");
    assert!(
        unknown.stdout.contains("its price is not known"),
        "{unknown:?}"
    );
    for said in [known, unknown] {
        assert!(!said.stdout.contains(KEY), "{said:?}");
    }
}

#[test]
fn the_doctor_looks_at_the_model_that_a_run_would_take() {
    let setting = Setting::new();
    let spec = json!({
        "type": "model", "model": "gpt-5",
        "provider": {"type": "openai", "key": {"env": "THE_KEY"}},
    })
    .to_string();
    for (backend, model, shown) in [
        (&*spec, None, "gpt-5, with"),
        (&*spec, Some("gpt-5-mini"), "gpt-5-mini, with"),
        (&*spec, Some("unheard-of"), "its price is not known"),
        ("model:team/gpt-5", Some("gpt-5-mini"), "gpt-5-mini, with"),
        (
            "model:team/gpt-5",
            Some("unheard-of"),
            "its price is not known",
        ),
        ("model:team/unheard-of", Some("gpt-5"), "gpt-5, with"),
    ] {
        let provider = json!({"type": "openai", "key": {"env": "THE_KEY"}});
        let models = json!({"providers": {"team": provider}}).to_string();
        setting.write(".autonoe/models.json", &models);
        let model = model.map(|model| format!("--model={model}"));
        let mut arguments = vec!["doctor", "--backend", backend];
        arguments.extend(model.as_deref());

        let said = setting.autonoe(&arguments);

        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        assert!(said.stdout.contains(shown), "{arguments:?}: {said:?}");
        let knows_price = !said.stdout.contains("its price is not known");
        assert_eq!(
            knows_price,
            shown.contains("with"),
            "{arguments:?}: {said:?}"
        );
    }
}

#[test]
fn money_is_not_limited_where_a_model_of_any_phase_has_no_price() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(Vec::<Turn>::new());
    let setting = Setting::on(vendor, &server);
    let named = "--backend=model:scripted/gpt-5".to_owned();
    let spec = json!({"type": "model", "provider": vendor.spec(&server), "model": "gpt-5"});
    let spec = format!("--backend={spec}");
    for (backend, model) in [
        (&named, "--model=unheard-of"),
        (&named, "--plan-model=unheard-of"),
        (&spec, "--model=unheard-of"),
        (&spec, "--plan-model=unheard-of"),
    ] {
        let said = setting.autonoe(&["run", backend, model, "--max-cost=1"]);

        assert_eq!(said.code, Some(1), "{model}: {said:?}");
        assert!(
            said.stdout
                .contains("unheard-of costs, so the money budget cannot be kept"),
            "{model}: {said:?}"
        );
    }
    assert!(server.log().exchanges().is_empty(), "a model was asked");
}

#[test]
fn either_variable_of_google_will_do() {
    for (variable, value, is_found) in [
        ("GEMINI_API_KEY", "k", true),
        ("GOOGLE_API_KEY", "k", true),
        ("GEMINI_API_KEY", "", false),
    ] {
        let setting = Setting::new();
        let mut command = setting.command(&["doctor", "--backend=model:google/gemini-2.5-pro"]);

        let done = command.env(variable, value).output().expect("it starts");

        let shown = String::from_utf8(done.stdout).expect("text");
        assert_eq!(
            shown.contains("there is one, or none"),
            is_found,
            "{variable}: {shown}"
        );
    }
}

#[test]
fn a_dry_run_shows_the_model_and_starts_nothing() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(Vec::<Turn>::new());
    let setting = Setting::on(vendor, &server).without_settings();
    let arguments = [
        "run",
        "--dry-run",
        "--output=json",
        "--backend=model:scripted/gpt-5",
    ];

    let said = setting.autonoe(&arguments);
    let other = setting.autonoe(&[&arguments[..], &["--model=gpt-5-mini"]].concat());

    assert_eq!(said.code, Some(0), "{said:?}");
    let plan: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(plan["next"]["model"], "gpt-5");
    let setting = |key: &str| {
        let mut settings = plan["settings"].as_array().expect("a list").iter();
        let found = settings.find(|setting| setting["key"] == key);
        found.map(|setting| setting["value"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(setting("backend").as_deref(), Some("model:scripted/gpt-5"));
    assert_eq!(
        setting("provider").as_deref(),
        Some("scripted, of the type openai")
    );
    let browser = setting("mcpServers.playwright").expect("it is named");
    assert!(browser.starts_with("npx @playwright/mcp"), "{browser}");
    let plan: Value = serde_json::from_str(&other.stdout).expect("JSON");
    assert_eq!(plan["next"]["model"], "gpt-5-mini");
    assert!(server.log().exchanges().is_empty());
}

#[test]
fn a_built_in_name_that_leads_elsewhere_is_told() {
    let vendor = Vendor::Anthropic;
    let server = vendor.serve(shortest_run());
    let spec = vendor.spec(&server);
    let setting = Setting::with_file(&json!({"providers": {"anthropic": spec}}));

    let said = setting.autonoe(&["run", "--pause=0s", ON_CLAUDE]);

    assert_eq!(said.code, Some(0), "{said:?}");
    let address = spec["baseUrl"].as_str().expect("a text");
    let told = format!("its key goes to {address}");
    assert!(said.stderr.contains(&told), "{said:?}");
}

#[test]
fn a_backend_in_json_needs_no_file() {
    let vendor = Vendor::Responses;
    let server = vendor.serve(shortest_run());
    let setting = Setting::new();
    let backend = json!({"type": "model", "provider": vendor.spec(&server), "model": "gpt-5"});

    let said = setting.autonoe(&["run", "--pause=0s", "--backend", &backend.to_string()]);

    assert_eq!(said.code, Some(0), "{said:?}");
}
