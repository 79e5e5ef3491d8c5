//! Tests of `autonoe flow list`, `validate` and `graph`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::commands::fixture::{CommandOutput, Fixture};

const AGENT: &str = r#"{
  "version": "1.0.0",
  "name": "review",
  "description": "Reviews a text",
  "behavior": {"completionType": "stepMachine"},
  "parameters": {
    "maxRounds": {"type": "integer", "default": 3, "description": "How often."},
    "topic": {"type": "string", "required": true, "cli": "--about"}
  }
}"#;

const STEPS: &str = r#"{
  "entryStep": "draft",
  "steps": {
    "draft": {"prompt": "prompts/draft.md", "transition": {"next": "review"}},
    "review": {"prompt": "prompts/draft.md", "transition": {"next": "end"}}
  }
}"#;

/// A project with a flow under each of the names.
fn with_flows(names: &[&str]) -> Fixture {
    names.iter().fold(Fixture::new(), |fixture, name| {
        let folder = format!(".autonoe/flows/{name}");
        let agent = AGENT.replace("\"review\"", &format!("{name:?}"));
        fixture
            .file(&format!("{folder}/agent.json"), agent)
            .file(&format!("{folder}/steps_registry.json"), STEPS)
            .file(
                &format!("{folder}/prompts/draft.md"),
                "Write about {uv-topic}.\n",
            )
    })
}

fn steps_of(name: &str) -> String {
    format!(".autonoe/flows/{name}/steps_registry.json")
}

/// A project with a valid flow, an invalid one, and one that is not JSON.
fn with_mistakes() -> Fixture {
    with_flows(&["broken", "fine", "wrong"])
        .file(
            ".autonoe/flows/broken/agent.json",
            "{\n  \"version\": 1.0.0\n}\n",
        )
        .file(
            &steps_of("wrong"),
            STEPS.replace("{\"next\": \"review\"}", "{\"next\": \"reveiw\"}"),
        )
        .file(
            ".autonoe/flows/wrong/prompts/draft.md",
            "Write about {uv-topics}.\n",
        )
}

fn json(output: &CommandOutput) -> Value {
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", output.screen()))
}

#[test]
fn flows_are_listed_with_their_state() {
    insta::assert_snapshot!(with_mistakes().autonoe(&["flow", "list"]).screen());
}

#[test]
fn json_list_contains_parameters_and_flags() {
    let output = with_mistakes().autonoe(&["flow", "list", "--json"]);

    insta::assert_json_snapshot!(json(&output));
}

#[test]
fn a_project_without_flows_gets_a_hint_and_stays_untouched() {
    let fixture = Fixture::new();

    insta::assert_snapshot!(fixture.autonoe(&["flow", "list"]).screen());
    assert!(fixture.files().is_empty());
}

#[test]
fn every_mistake_is_reported_with_its_place_and_its_remedy() {
    let output = with_mistakes().autonoe(&["flow", "validate"]);

    assert_eq!(output.code, 1);
    insta::assert_snapshot!(output.screen());
}

#[test]
fn every_mistake_is_reported_as_json_too() {
    let output = with_mistakes().autonoe(&["flow", "validate", "--json"]);

    assert_eq!(output.code, 1);
    insta::assert_json_snapshot!(json(&output));
}

#[test]
fn each_valid_flow_is_one_line() {
    let fixture = with_flows(&["audit", "review"]);

    let all = fixture.autonoe(&["flow", "validate"]);
    let one = fixture.autonoe(&["flow", "validate", "audit"]);

    let lines = "audit: valid\nreview: valid\n2 of 2 flows valid\n";
    assert_eq!((all.code, all.stdout.as_str()), (0, lines));
    assert_eq!((one.code, one.stdout.as_str()), (0, "audit: valid\n"));
}

#[test]
fn a_warning_is_reported_and_is_no_error() {
    let fixture = with_flows(&["review"]).file(
        ".autonoe/flows/review/agent.json",
        AGENT.replace("\"review\"", "\"another\""),
    );

    let output = fixture.autonoe(&["flow", "validate"]);

    assert_eq!(output.code, 0);
    insta::assert_snapshot!(output.screen());
}

#[test]
fn flow_path_resolves_against_working_directory() {
    let fixture = with_flows(&["review"]);
    let project = fixture.project();

    for (folder, word) in [
        (project.clone(), "./.autonoe/flows/review"),
        (project.join(".autonoe/flows"), "./review"),
        (project.join(".autonoe/flows/review"), "."),
        (
            PathBuf::from("/"),
            project
                .join(".autonoe/flows/review")
                .to_str()
                .expect("plain"),
        ),
    ] {
        let mut command = fixture.command(&["flow", "validate", word]);
        let output =
            fixture.command_output(command.current_dir(&folder).output().expect("it starts"));
        assert_eq!(
            output.code,
            0,
            "{word} in {}: {}",
            folder.display(),
            output.screen()
        );
    }
    let by_path = Fixture::new().autonoe(&[
        "flow",
        "validate",
        "review",
        "-p",
        project.to_str().expect("plain"),
    ]);
    assert_eq!(by_path.code, 0, "{}", by_path.screen());
}

#[test]
fn a_failed_validation_reports_no_findings() {
    let fixture = with_flows(&["audit", "review"]);

    insta::assert_snapshot!(
        "no_such_flow",
        fixture.autonoe(&["flow", "validate", "reviw"]).screen()
    );
    insta::assert_snapshot!(
        "no_flows",
        Fixture::new().autonoe(&["flow", "validate"]).screen()
    );
    for args in [
        &["flow", "validate", "audit", "review"][..],
        &["flow", "validate", "-p", "missing"],
        &["flow", "validate", "../flows/audit/../../x", "--fast"],
        &["flow", "check"],
        &["flow"],
    ] {
        let output = fixture.autonoe(args);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn a_folder_that_could_not_be_a_flow_is_not_passed_over() {
    let fixture = with_flows(&["review"])
        .file(".autonoe/flows/empty/notes.txt", "")
        .file(".autonoe/flows/.hidden/notes.txt", "")
        .file(".autonoe/flows/notes.txt", "");

    let output = fixture.autonoe(&["flow", "validate"]);

    assert_eq!(output.code, 1);
    assert!(
        output.stdout.contains("empty: 1 error"),
        "{}",
        output.screen()
    );
    assert!(
        output.stdout.contains("1 of 2 flows valid"),
        "{}",
        output.screen()
    );
}

#[test]
fn a_path_that_is_no_flow_is_an_error_of_that_flow() {
    let fixture = Fixture::new().file("notes.txt", "");

    for (word, expected) in [
        ("./missing", "the folder does not exist"),
        ("./notes.txt", "it is not a folder"),
        (".", "the file does not exist"),
    ] {
        let output = fixture.autonoe(&["flow", "validate", word]);
        assert_eq!(output.code, 1, "{word}: {}", output.screen());
        assert!(
            output.stdout.contains(expected),
            "{word}: {}",
            output.screen()
        );
    }
}

#[test]
fn control_characters_in_flow_texts_are_escaped() {
    let fixture = with_flows(&["review"]).file(
        ".autonoe/flows/review/agent.json",
        AGENT.replace("Reviews a text", "Reviews\\u001b[2J\\na \\u202etext"),
    );

    let output = fixture.autonoe(&["flow", "list"]);

    assert!(
        output.stdout.contains("Reviews [2J⏎a \u{fffd}text"),
        "{}",
        output.screen()
    );
}

#[test]
fn a_flow_is_drawn_as_mermaid_and_dot() {
    let fixture = with_flows(&["review"]);
    for (format, beginning) in [("mermaid", "flowchart TD\n"), ("dot", "digraph ")] {
        let output = fixture.autonoe(&["flow", "graph", "review", "--format", format]);

        assert_eq!(output.code, 0, "{format}: {}", output.screen());
        assert!(output.stdout.starts_with(beginning), "{}", output.stdout);
        let file = format!("picture.{format}");
        let written =
            fixture.autonoe(&["flow", "graph", "review", "-o", &file, "--format", format]);
        assert_eq!(written.stdout, format!("[folder]/project/{file}\n"));
        assert_eq!(fixture.read(&file), output.stdout, "{format}");
    }
    let by_ending = fixture.autonoe(&["flow", "graph", "review", "--output", "flow.gv"]);
    assert_eq!(by_ending.code, 0);
    assert!(fixture.read("flow.gv").starts_with("digraph "));
}

#[test]
fn a_flow_is_not_drawn_into_a_file_of_pictures() {
    let fixture = with_flows(&["review"]);

    let output = fixture.autonoe(&["flow", "graph", "review", "--output", "flow.svg"]);

    assert_eq!(output.code, 2, "{}", output.screen());
    assert!(output.stderr.contains("dot -Tsvg"), "{}", output.stderr);
    let files = fixture.files();
    assert!(
        !files.iter().any(|file| file.ends_with("flow.svg")),
        "{files:?}"
    );
}

#[test]
fn a_flow_with_mistakes_is_drawn_with_a_warning_and_an_unreadable_one_is_not() {
    let fixture = with_mistakes();

    insta::assert_snapshot!(
        "drawn",
        fixture.autonoe(&["flow", "graph", "wrong"]).screen()
    );
    insta::assert_snapshot!(
        "not_drawn",
        fixture.autonoe(&["flow", "graph", "broken"]).screen()
    );
}

#[test]
fn graph_output_refuses_files_of_autonoe() {
    let fixture = with_flows(&["review"]);
    let before = fixture.read(".autonoe/flows/review/agent.json");

    let output = fixture.autonoe(&[
        "flow",
        "graph",
        "review",
        "-o",
        ".autonoe/flows/review/agent.json",
    ]);

    assert_eq!(output.code, 2, "{}", output.screen());
    assert_eq!(fixture.read(".autonoe/flows/review/agent.json"), before);
    let nowhere = fixture.autonoe(&["flow", "graph", "review", "-o", "missing/flow.dot"]);
    assert_eq!(nowhere.code, 1, "{}", nowhere.screen());
}

#[test]
fn a_graph_replaces_only_an_earlier_graph() {
    let fixture = with_flows(&["review"]).file("greet.sh", "echo hello\n");

    let output = fixture.autonoe(&["flow", "graph", "review", "-o", "greet.sh"]);

    assert_eq!(output.code, 2, "{}", output.screen());
    assert!(
        output.stderr.contains("greet.sh exists"),
        "{}",
        output.stderr
    );
    assert_eq!(fixture.read("greet.sh"), "echo hello\n");
    for format in ["mermaid", "dot"] {
        for _ in 0..2 {
            let args = ["flow", "graph", "review", "-o", "flow", "--format", format];
            assert_eq!(fixture.autonoe(&args).code, 0, "{format}");
        }
    }
}

#[test]
fn a_dry_run_shows_parameters_settings_and_the_first_step() {
    let fixture = with_flows(&["review"]).file(".autonoe/agent.json", "{\"mcpServers\": {}}");
    let before = fixture.files();
    let args = [
        "flow",
        "run",
        "review",
        "--dry-run",
        "--max-cost=2",
        "--about",
        "clocks",
    ];

    let output = fixture.autonoe(&args);

    insta::assert_snapshot!(output.screen());
    assert_eq!(fixture.files(), before);
}

#[test]
fn wrong_parameters_are_wrong_usage_and_list_the_valid_ones() {
    let fixture = with_flows(&["review"]);
    for (name, args) in [
        ("missing", &["flow", "run", "review"][..]),
        (
            "several",
            &[
                "flow",
                "run",
                "review",
                "--max-rounds",
                "many",
                "--abuot",
                "x",
            ],
        ),
        (
            "option_behind",
            &[
                "flow",
                "run",
                "review",
                "--about",
                "x",
                "--backend",
                "claude",
            ],
        ),
    ] {
        let output = fixture.autonoe(args);

        assert_eq!(output.code, 2, "{name}");
        insta::assert_snapshot!(format!("parameters_{name}"), output.screen());
    }
}

#[test]
fn parameter_named_like_option_follows_double_dash() {
    let agent = AGENT.replace("--about", "--model");
    let fixture = with_flows(&["review"]).file(".autonoe/flows/review/agent.json", agent);
    let args = [
        "flow",
        "run",
        "review",
        "--dry-run",
        "--model",
        "opus",
        "--",
        "--model",
        "x",
    ];

    let output = fixture.autonoe(&args);

    assert_eq!(output.code, 0, "{}", output.screen());
    assert!(
        output.stdout.contains("  --model       x "),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("  model "), "{}", output.stdout);
}

#[test]
fn the_parts_of_the_command_have_manuals() {
    let fixture = Fixture::new();

    let whole = fixture.autonoe(&["man", "flow"]).stdout;
    let part = fixture.autonoe(&["man", "flow", "validate"]).stdout;
    let unknown = fixture.autonoe(&["man", "flow", "check"]);

    assert!(whole.contains("validate"), "{whole}");
    assert!(
        part.contains("AUTONOE-FLOW-VALIDATE") && part.contains("Check flows for errors"),
        "{part}"
    );
    assert_eq!(unknown.code, 2, "{}", unknown.screen());
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows")
}

#[test]
fn the_example_flows_are_valid_without_a_warning_and_fit_the_schemas_that_they_name() {
    let fixture = Fixture::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(examples()).expect("readable") {
        let folder = entry.expect("readable").path();

        let output = fixture.autonoe(&[
            "flow",
            "validate",
            "--json",
            folder.to_str().expect("plain"),
        ]);

        let flow = &json(&output)["flows"][0];
        assert_eq!(output.code, 0, "{}", output.screen());
        assert_eq!(
            flow["warnings"].as_array().map(Vec::len),
            Some(0),
            "{flow:#}"
        );
        for file in ["agent.json", "steps_registry.json"] {
            let text = fs::read_to_string(folder.join(file)).expect("readable");
            let value: Value = serde_json::from_str(&text).expect("JSON");
            // The guide saves the schema of `autonoe schema NAME` in this file of the folder.
            let schema = value["$schema"].as_str().expect("it names a schema");
            let name = schema
                .strip_prefix("./")
                .expect("a file of the folder")
                .strip_suffix(".schema.json")
                .expect("a schema");
            let schema = fixture.autonoe(&["schema", name]).stdout;
            let schema = serde_json::from_str(&schema).expect("JSON");
            let validator = jsonschema::validator_for(&schema).expect("a schema");
            let errors: Vec<_> = validator
                .iter_errors(&value)
                .map(|it| it.to_string())
                .collect();
            assert!(
                errors.is_empty(),
                "{}/{file}: {errors:#?}",
                folder.display()
            );
        }
        names.push(
            folder
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned(),
        );
    }
    names.sort();
    assert_eq!(names, ["fix-bug", "prepare-release", "reviewed-document"]);
}
