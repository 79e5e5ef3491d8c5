//! Warnings in the first lines about data that the project's file sends out or exposes to commands.

use autonoe_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::models::fixture::{CommandOutput, Fixture, KEY, passes, plans, shortest_run};
use crate::models::vendor::Vendor;

const VENDOR: Vendor = Vendor::Chat;

/// An address at which no receiver listens.
const RECEIVER: &str = "http://127.0.0.1:1";

/// Runs with `more` in the file, and returns the warnings.
fn warned(more: &Value) -> (CommandOutput, Vec<String>) {
    run_with(more, shortest_run())
}

/// Asserts that a run with `more` in the file is refused.
fn refused(more: &Value) -> CommandOutput {
    let (output, _) = run_with(more, Vec::new());
    assert_eq!(output.code, Some(1), "{output:?}");
    output
}

fn run_with(more: &Value, turns: Vec<Turn>) -> (CommandOutput, Vec<String>) {
    let server = VENDOR.serve(turns);
    let mut models = json!({"providers": {"scripted": VENDOR.spec(&server)}});
    for (name, value) in more.as_object().expect("fields") {
        models[name] = value.clone();
    }
    let fixture = Fixture::with_file(&models);
    let mut command = fixture.run_command(VENDOR, &[]);
    command.env("OTHER_SECRET", "it").env("DATABASE_URL", "x");
    let output = CommandOutput::from(command.output().expect("it starts"));
    let warnings = output.stderr.lines().map(|line| {
        let (_, warning) = line.split_once("warning: ")?;
        Some(warning.to_owned())
    });
    let warnings = warnings.flatten().collect();
    (output, warnings)
}

#[test]
fn telemetry_destinations_are_printed_before_the_run() {
    for (telemetry, expected) in [
        (
            json!({"endpoint": RECEIVER, "headers": {"x-any": {"env": "OTHER_SECRET"}}}),
            &["telemetry sends the variable OTHER_SECRET to http://127.0.0.1:1, as"][..],
        ),
        (
            json!({"endpoint": RECEIVER, "content": true}),
            &[
                "telemetry sends all prompts, answers, tool inputs and tool results to \
               http://127.0.0.1:1, as",
            ],
        ),
        (
            json!({"endpoint": RECEIVER, "headers": {"x-team": "blue"}}),
            &[],
        ),
        // No receiver is configured.
        (
            json!({"headers": {"x-any": {"env": "OTHER_SECRET"}}, "content": true}),
            &[],
        ),
    ] {
        let (output, warnings) = warned(&json!({"telemetry": telemetry}));

        assert_eq!(output.code, Some(0), "{output:?}");
        let found: Vec<_> = warnings
            .iter()
            .filter(|line| line.starts_with("telemetry sends"))
            .collect();
        assert_eq!(found.len(), expected.len(), "{output:?}");
        for (line, expected) in found.iter().zip(expected) {
            assert!(line.starts_with(expected), "{line}");
        }
        let begins = output.stderr.find("telemetry sends").unwrap_or_default();
        let works = output.stderr.find("DL-001").unwrap_or(usize::MAX);
        assert!(begins < works, "{output:?}");
    }
}

#[test]
fn network_variables_and_key_recipients_are_announced() {
    let plan = json!({"tools": {"network": "shared", "variables": ["DATABASE_URL"]}});

    let (output, warnings) = warned(&plan);
    let (_, quiet) = warned(&json!({}));

    assert_eq!(output.code, Some(0), "{output:?}");
    let is_announced = |begins: &str| warnings.iter().any(|line| line.starts_with(begins));
    assert!(
        is_announced("commands of agents can use the network of this machine"),
        "{output:?}"
    );
    assert!(
        is_announced("commands of agents receive the variable DATABASE_URL"),
        "{output:?}"
    );
    assert!(
        is_announced("scripted receives the variable THE_KEY at http://127.0.0.1:"),
        "{output:?}"
    );
    assert!(
        !quiet.iter().any(|line| line.contains("commands of agents")),
        "{quiet:?}"
    );
}

#[test]
fn a_key_of_telemetry_in_a_file_of_the_project_is_refused_by_every_backend() {
    let fixture = Fixture::with_file(&json!({
        "telemetry": {"endpoint": RECEIVER, "headers": {"x-any": {"file": "secret/key"}}},
    }));
    fixture.write("secret/key", KEY);
    fixture.write("agents.json", "{\"sessions\": []}");
    for backend in ["model:openai/gpt-5", "scripted:agents.json"] {
        let mut command = fixture.command(&["run", "--backend", backend]);
        let output = CommandOutput::from(
            command
                .env("OPENAI_API_KEY", "x")
                .output()
                .expect("it starts"),
        );

        assert_eq!(output.code, Some(1), "{backend}: {output:?}");
        let expected = "/telemetry/headers/x-any: the key is in the project, where agents can \
                        read it";
        assert!(output.stderr.contains(expected), "{backend}: {output:?}");
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
    let fixture = Fixture::with_file(&json!({
        "providers": {"scripted": VENDOR.spec(&server)},
        "tools": {"variables": ["COPY"]},
        "telemetry": {"endpoint": RECEIVER, "headers": {
            "x-any": {"file": "../home/key"}, "x-other": {"env": "OTHER_SECRET"},
        }},
    }));
    fixture.write("../home/key", "held-in-a-file");
    fixture.write("requirements.txt", "");
    let reads = "import os\n\
                 try: print(open('../home/key').read())\n\
                 except OSError: print('hidden')\n\
                 print(os.environ.get('COPY'))\n";
    fixture.write("read.py", reads);
    let mut command = fixture.run_command(VENDOR, &[]);
    command.env("OTHER_SECRET", "other").env("COPY", "an other");

    let output = CommandOutput::from(command.output().expect("it starts"));

    assert_eq!(output.code, Some(0), "{output:?}");
    let requests = server.log().main_requests();
    let results = requests.last().expect("somebody asked").tool_results();
    assert_eq!(results[0].text, "hidden\nNone\n");
}

#[test]
fn a_variable_with_a_key_of_telemetry_is_not_for_commands() {
    let output = refused(&json!({
        "tools": {"variables": ["OTHER_SECRET"]},
        "telemetry": {"endpoint": RECEIVER, "headers": {"x-any": {"env": "OTHER_SECRET"}}},
    }));

    let expected = "the variable OTHER_SECRET holds a telemetry key, which commands must not get";
    assert!(output.stderr.contains(expected), "{output:?}");
}

#[test]
fn key_in_configuration_is_refused() {
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
        let output = refused(&json!({field: headers}));

        assert!(
            output.stderr.contains("this file must not contain a key"),
            "{output:?}"
        );
        assert!(!output.stderr.contains(KEY), "{output:?}");
    }
}
