//! Parameters: from JSON and flags to typed values.

use std::collections::BTreeMap;
use std::fmt::Write;

use autonoe_flow::definition::{ParameterDefinition, VariableName};
use autonoe_flow::parameters::ParameterValue;
use autonoe_flow::{FlowError, ParameterValues};
use serde_json::{Value, json};

fn parameters() -> BTreeMap<VariableName, ParameterDefinition> {
    serde_json::from_value(json!({
        "origin": {"type": "string", "required": true, "validation": {"min": 2, "max": 10, "pattern": "^[A-Z]"}},
        "maxDays": {"type": "integer", "default": 3, "validation": {"min": 1, "max": 9}},
        "share": {"type": "number", "cli": "--part"},
        "quick": {"type": "boolean", "default": false},
        "tags": {"type": "array", "validation": {"max": 2, "enum": ["sea", "city"]}},
        "mode": {"type": "string", "default": "plan", "validation": {"enum": ["plan", "book"]}},
    }))
    .expect("parameters")
}

#[test]
fn flags_become_typed_values() {
    let args = [
        "--origin",
        "Tokyo",
        "--max-days=5",
        "--part",
        "0.25",
        "--quick",
        "--tags",
        "sea",
        "--tags=city",
    ];

    let values = ParameterValues::from_args(&parameters(), args).expect("all is well");

    let all: Vec<_> = values
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    assert_eq!(
        all,
        [
            ("maxDays", ParameterValue::Integer(5)),
            ("mode", ParameterValue::String("plan".into())),
            ("origin", ParameterValue::String("Tokyo".into())),
            ("quick", ParameterValue::Boolean(true)),
            ("share", ParameterValue::Number(0.25)),
            (
                "tags",
                ParameterValue::Array(vec!["sea".into(), "city".into()])
            ),
        ]
    );
}

#[test]
fn json_and_flags_give_the_same_values() {
    let from_json = ParameterValues::from_json(
        &parameters(),
        &json!({"origin": "Oslo", "maxDays": 4, "share": 2, "quick": false, "tags": ["sea"]}),
    );
    let from_args = ParameterValues::from_args(
        &parameters(),
        [
            "--origin=Oslo",
            "--max-days",
            "4",
            "--part=2",
            "--no-quick",
            "--tags",
            "sea",
        ],
    );

    assert_eq!(
        from_json.expect("all is well"),
        from_args.expect("all is well")
    );
}

#[test]
fn arguments_become_variables_of_the_same_name() {
    let args = ["--origin", "Tokyo", "--tags", "sea", "--tags", "city"];

    let variables = ParameterValues::from_args(&parameters(), args)
        .expect("all is well")
        .variables();

    let values: Vec<_> = variables
        .iter()
        .map(|(name, it)| (name.as_str(), it.as_str()))
        .collect();
    assert_eq!(
        values,
        [
            ("maxDays", "3"),
            ("mode", "plan"),
            ("origin", "Tokyo"),
            ("quick", "false"),
            ("tags", "sea, city"),
        ]
    );
}

#[test]
fn a_value_may_begin_with_dashes_or_hold_an_equals_sign() {
    let parameters =
        serde_json::from_value(json!({"note": {"type": "string"}, "n": {"type": "integer"}}));

    let values = ParameterValues::from_args(
        &parameters.expect("parameters"),
        ["--note=--a=b", "--n", "-3"],
    )
    .expect("all is well");

    assert_eq!(
        values.get("note"),
        Some(&ParameterValue::String("--a=b".into()))
    );
    assert_eq!(values.get("n"), Some(&ParameterValue::Integer(-3)));
}

#[test]
fn all_mistakes_in_flags_are_reported_at_once() {
    let mut listed = String::new();
    for args in [
        vec![],
        vec!["--orign", "Tokyo"],
        vec!["Tokyo"],
        vec!["--origin"],
        vec!["--origin", "--quick"],
        vec!["--origin", "Tokyo", "--origin", "Oslo"],
        vec!["--origin", "tokyo"],
        vec!["--origin", "T"],
        vec!["--origin=Tokyo", "--max-days", "ten"],
        vec!["--origin=Tokyo", "--max-days", "10"],
        vec!["--origin=Tokyo", "--part", "NaN"],
        vec!["--origin=Tokyo", "--share", "1"],
        vec!["--origin=Tokyo", "--quick=yes"],
        vec!["--origin=Tokyo", "--no-quick=false"],
        vec!["--origin=Tokyo", "--no-mode"],
        vec!["--origin=Tokyo", "--tags", "moon"],
        vec!["--origin=Tokyo", "--tags=sea", "--tags=sea", "--tags=city"],
        vec!["--origin=Tokyo", "--mode", "go"],
        vec!["--max-days=0", "--mode=go", "--what"],
    ] {
        let error = ParameterValues::from_args(&parameters(), args.clone()).expect_err("wrong");
        let message = error.to_string().replace('\n', "\n    ");
        let _ = writeln!(listed, "{}\n    {message}", args.join(" "));
    }

    insta::assert_snapshot!(listed);
}

#[test]
fn all_mistakes_in_json_are_reported_at_once() {
    let mut listed = String::new();
    for value in [
        json!([]),
        json!({}),
        json!({"origin": 7}),
        json!({"origin": null}),
        json!({"orgin": "Tokyo"}),
        json!({"origin": "Tokyo", "maxDays": 2.5}),
        json!({"origin": "Tokyo", "maxDays": "2"}),
        json!({"origin": "Tokyo", "quick": "true"}),
        json!({"origin": "Tokyo", "tags": "sea"}),
        json!({"origin": "Tokyo", "tags": ["sea", 1]}),
        json!({"origin": "Tokyo", "share": {"of": "a very long object that nobody wants to see repeated in full"}}),
    ] {
        let error = ParameterValues::from_json(&parameters(), &value).expect_err("wrong");
        let message = error.to_string().replace('\n', "\n    ");
        let _ = writeln!(listed, "{value}\n    {message}");
    }

    insta::assert_snapshot!(listed);
}

#[test]
fn wrong_parameters_are_an_error_of_the_configuration() {
    let error = ParameterValues::from_json(&parameters(), &Value::Null).expect_err("wrong");

    assert_eq!(FlowError::from(error).code(), "parameter");
}
