//! What the file of a project sends away, or gives to commands, is said in the first lines.

use autonoe_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::models::setting::{KEY, Said, Setting, passes, plans, shortest_run};
use crate::models::vendor::Vendor;

const VENDOR: Vendor = Vendor::Chat;

/// Nobody is there.
const RECEIVER: &str = "http://127.0.0.1:1";

/// Runs on a file with `more` in it, and returns the warnings.
fn warned(more: &Value) -> (Said, Vec<String>) {
    asked(more, shortest_run())
}

/// Does not run on a file with `more` in it.
fn refused(more: &Value) -> Said {
    let (said, _) = asked(more, Vec::new());
    assert_eq!(said.code, Some(1), "{said:?}");
    said
}

fn asked(more: &Value, turns: Vec<Turn>) -> (Said, Vec<String>) {
    let server = VENDOR.serve(turns);
    let mut models = json!({"providers": {"scripted": VENDOR.spec(&server)}});
    for (name, value) in more.as_object().expect("fields") {
        models[name] = value.clone();
    }
    let setting = Setting::with_file(&models);
    let mut command = setting.run_command(VENDOR, &[]);
    command.env("OTHER_SECRET", "it").env("DATABASE_URL", "x");
    let said = Said::from(command.output().expect("it starts"));
    let warnings = said.stderr.lines().map(|line| {
        let (_, warning) = line.split_once("warning: ")?;
        Some(warning.to_owned())
    });
    let warnings = warnings.flatten().collect();
    (said, warnings)
}

#[test]
fn what_telemetry_sends_away_is_said_in_the_first_lines() {
    for (telemetry, told) in [
        (
            json!({"endpoint": RECEIVER, "headers": {"x-any": {"env": "OTHER_SECRET"}}}),
            &["telemetry takes the variable OTHER_SECRET to http://127.0.0.1:1, as"][..],
        ),
        (
            json!({"endpoint": RECEIVER, "content": true}),
            &[
                "telemetry takes all prompts, answers, and what tools are given and give back to \
               http://127.0.0.1:1, as",
            ],
        ),
        (
            json!({"endpoint": RECEIVER, "headers": {"x-team": "blue"}}),
            &[],
        ),
        // Nobody gets it.
        (
            json!({"headers": {"x-any": {"env": "OTHER_SECRET"}}, "content": true}),
            &[],
        ),
    ] {
        let (said, warnings) = warned(&json!({"telemetry": telemetry}));

        assert_eq!(said.code, Some(0), "{said:?}");
        let found: Vec<_> = warnings
            .iter()
            .filter(|line| line.starts_with("telemetry takes"))
            .collect();
        assert_eq!(found.len(), told.len(), "{said:?}");
        for (line, told) in found.iter().zip(told) {
            assert!(line.starts_with(told), "{line}");
        }
        let begins = said.stderr.find("telemetry takes").unwrap_or_default();
        let works = said.stderr.find("DL-001").unwrap_or(usize::MAX);
        assert!(begins < works, "{said:?}");
    }
}

#[test]
fn what_commands_get_and_where_keys_go_is_said_too() {
    let plan = json!({"tools": {"network": "shared", "variables": ["DATABASE_URL"]}});

    let (said, warnings) = warned(&plan);
    let (_, quiet) = warned(&json!({}));

    assert_eq!(said.code, Some(0), "{said:?}");
    let is_said = |begins: &str| warnings.iter().any(|line| line.starts_with(begins));
    assert!(
        is_said("commands of agents have the network of this machine"),
        "{said:?}"
    );
    assert!(
        is_said("commands of agents get the variable DATABASE_URL"),
        "{said:?}"
    );
    assert!(
        is_said("scripted gets the variable THE_KEY at http://127.0.0.1:"),
        "{said:?}"
    );
    assert!(
        !quiet.iter().any(|line| line.contains("commands of agents")),
        "{quiet:?}"
    );
}

#[test]
fn a_key_of_telemetry_in_a_file_of_the_project_is_refused_by_every_backend() {
    let setting = Setting::with_file(&json!({
        "telemetry": {"endpoint": RECEIVER, "headers": {"x-any": {"file": "secret/key"}}},
    }));
    setting.write("secret/key", KEY);
    setting.write("agents.json", "{\"sessions\": []}");
    for backend in ["model:openai/gpt-5", "scripted:agents.json"] {
        let mut command = setting.command(&["run", "--backend", backend]);
        let said = Said::from(
            command
                .env("OPENAI_API_KEY", "x")
                .output()
                .expect("it starts"),
        );

        assert_eq!(said.code, Some(1), "{backend}: {said:?}");
        let told = "/telemetry/headers/x-any: the key is in the project, where agents work";
        assert!(said.stderr.contains(told), "{backend}: {said:?}");
    }
}

#[test]
fn a_key_of_telemetry_is_hidden_from_commands_as_that_of_a_provider_is() {
    let server = VENDOR.serve([
        plans(),
        Turn::text("Planned."),
        Turn::tool("Bash", json!({"command": "python3 read.py"})),
        passes(),
        Turn::text("Done."),
    ]);
    let setting = Setting::with_file(&json!({
        "providers": {"scripted": VENDOR.spec(&server)},
        "tools": {"variables": ["COPY"]},
        "telemetry": {"endpoint": RECEIVER, "headers": {
            "x-any": {"file": "../home/key"}, "x-other": {"env": "OTHER_SECRET"},
        }},
    }));
    setting.write("../home/key", "held-in-a-file");
    setting.write("requirements.txt", "");
    let reads = "import os\n\
                 try: print(open('../home/key').read())\n\
                 except OSError: print('hidden')\n\
                 print(os.environ.get('COPY'))\n";
    setting.write("read.py", reads);
    let mut command = setting.run_command(VENDOR, &[]);
    command.env("OTHER_SECRET", "other").env("COPY", "an other");

    let said = Said::from(command.output().expect("it starts"));

    assert_eq!(said.code, Some(0), "{said:?}");
    let asked = server.log().main_requests();
    let results = asked.last().expect("somebody asked").tool_results();
    assert_eq!(results[0].text, "hidden\nNone\n");
}

#[test]
fn a_variable_with_a_key_of_telemetry_is_not_for_commands() {
    let said = refused(&json!({
        "tools": {"variables": ["OTHER_SECRET"]},
        "telemetry": {"endpoint": RECEIVER, "headers": {"x-any": {"env": "OTHER_SECRET"}}},
    }));

    let told = "the variable OTHER_SECRET has a key of telemetry, which no command may see";
    assert!(said.stderr.contains(told), "{said:?}");
}

#[test]
fn a_key_that_stands_in_a_header_is_refused() {
    for (field, headers) in [
        (
            "providers",
            json!({"one": {"type": "openai", "headers": {"x-api-key": KEY}}}),
        ),
        (
            "telemetry",
            json!({"headers": {"authorization": format!("Bearer {KEY}")}}),
        ),
        (
            "telemetry",
            json!({"endpoint": format!("http://me:{KEY}@127.0.0.1:1")}),
        ),
    ] {
        let said = refused(&json!({field: headers}));

        assert!(
            said.stderr.contains("a key does not belong into this file"),
            "{said:?}"
        );
        assert!(!said.stderr.contains(KEY), "{said:?}");
    }
}
