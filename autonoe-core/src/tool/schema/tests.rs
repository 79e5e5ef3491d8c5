//! Tests of schemas of tool input.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::InputSchema;

fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    InputSchema::new(schema)
        .expect("understood")
        .violations(value)
}

#[test]
fn violations_name_the_problem_and_its_path() {
    let schema = json!({
        "type": "object",
        "properties": {
            "deliverables": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/One"}},
            "limit": {"type": ["integer", "null"], "minimum": 1},
        },
        "required": ["deliverables"],
        "additionalProperties": false,
        "$defs": {"One": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "pattern": "^DL-[0-9]+$"},
                "status": {"enum": ["pending", "passed"]},
            },
            "required": ["id"],
        }},
    });
    for (value, expected) in [
        (
            json!({"deliverables": [{"id": "DL-1", "status": "passed"}], "limit": null}),
            vec![],
        ),
        (json!({}), vec!["\"deliverables\" is a required property"]),
        (
            json!({"deliverables": [], "limit": 0, "fly": 1}),
            vec![
                "\"fly\" is unexpected",
                "/deliverables: it has 0 items and must have at least 1",
                "/limit: 0 breaks minimum 1",
            ],
        ),
        (
            json!({"deliverables": [{"id": "1"}, {"id": "DL-2", "status": "done"}, 7]}),
            vec![
                "/deliverables/0/id: \"1\" does not match \"^DL-[0-9]+$\"",
                "/deliverables/1/status: \"done\" is not one of [\"pending\",\"passed\"]",
                "/deliverables/2: 7 is not of type \"object\"",
            ],
        ),
        (
            json!("no object"),
            vec!["\"no object\" is not of type \"object\""],
        ),
    ] {
        let mut complaints = complaints(&schema, &value);
        complaints.sort();
        assert_eq!(complaints, expected, "{value}");
    }
}

#[test]
fn a_malformed_or_unsupported_schema_is_rejected() {
    for (schema, reason) in [
        (json!({"type": "strin"}), "type"),
        (json!({"type": []}), "type"),
        (json!({"properties": {"a": 5}}), "a"),
        (json!({"required": "a"}), "required"),
        (json!({"pattern": "("}), "pattern"),
        (json!({"pattern": "(?=a)b"}), "pattern"),
        (json!({"minimum": "1"}), "minimum"),
        (json!({"multipleOf": 0}), "multipleOf"),
        (json!({"$ref": "#/$defs/Missing"}), "does not exist"),
        (
            json!({"$ref": "https://example.com/schema"}),
            "does not exist",
        ),
        (json!({"anyOf": []}), "anyOf"),
        (json!({"unevaluatedProperties": false}), "not supported"),
        (json!({"items": {"$dynamicRef": "#a"}}), "not supported"),
        (json!(5), "not a schema"),
    ] {
        let error = InputSchema::new(&schema).expect_err("refused");
        assert!(error.to_string().contains(reason), "{schema}: {error}");
    }
}

#[test]
fn a_recursive_schema_terminates() {
    let circle = json!({"$ref": "#"});
    assert!(!complaints(&circle, &json!(1)).is_empty());

    let list = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert!(complaints(&list, &json!({"next": {"next": {}}})).is_empty());
    assert!(!complaints(&list, &json!({"next": {"next": 5}})).is_empty());
}

#[test]
fn recursive_alternatives_hit_the_step_limit_and_are_rejected() {
    let branch = |name: &str| json!({"properties": {"kind": {"const": name}, "of": {"$ref": "#"}}});
    let branches = ["a", "b", "c", "d"].map(branch);
    let schema = json!({"anyOf": branches, "type": "object"});
    let mut value = json!({"kind": "x"});
    for _ in 0..60 {
        value = json!({"kind": "a", "of": value});
    }
    let schema = InputSchema::new(&schema).expect("understood");

    assert_eq!(schema.coerce(value.clone()), value);
    assert!(!schema.violations(&value).is_empty());
}

/// Generates values that are small enough to satisfy the schemas below now and then.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        prop_oneof![
            Just(json!(0.5)),
            Just(json!(1.0)),
            Just(json!(-2.5)),
            Just(json!(u64::MAX))
        ],
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Generates values in which some numbers and booleans are strings.
pub(super) fn values_with_numbers_as_texts() -> impl Strategy<Value = Value> {
    fn as_texts(value: Value, mut bits: u64) -> Value {
        let mut next = || {
            bits = bits.rotate_right(1);
            bits
        };
        match value {
            Value::Number(_) | Value::Bool(_) if next() % 2 == 0 => json!(value.to_string()),
            Value::Array(items) => items
                .into_iter()
                .map(|item| as_texts(item, next()))
                .collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields
                    .map(|(name, value)| (name, as_texts(value, next())))
                    .collect()
            }
            other => other,
        }
    }
    (values(), any::<u64>()).prop_map(|(value, bits)| as_texts(value, bits))
}

fn leaf_schemas() -> impl Strategy<Value = Value> {
    let types = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(types.to_vec()).prop_map(|name| json!({"type": name})),
        prop::sample::subsequence(types.to_vec(), 1..4).prop_map(|names| json!({"type": names})),
        values().prop_map(|value| json!({"const": value})),
        prop::collection::vec(values(), 1..3).prop_map(|all| json!({"enum": all})),
        (-2_i64..3).prop_map(|limit| json!({"minimum": limit, "maximum": limit + 1})),
        (-2_i64..3).prop_map(|limit| json!({"exclusiveMinimum": limit})),
        prop_oneof![Just(json!(2)), Just(json!(0.5))]
            .prop_map(|divisor| json!({"multipleOf": divisor})),
        (0_u64..3).prop_map(|count| json!({"minLength": count, "maxLength": count + 1})),
        (0_u64..3).prop_map(|count| json!({"minItems": count, "maxProperties": count})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"pattern": "^a+b?$"})),
        Just(json!({"required": ["a"]})),
        Just(json!({"$ref": "#/$defs/Same"})),
    ]
}

/// Generates schemas that use every supported keyword.
pub(super) fn schemas() -> impl Strategy<Value = Value> {
    let any = leaf_schemas().prop_recursive(3, 12, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..3);
        let named = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
        prop_oneof![
            some.clone().prop_map(|all| json!({"allOf": all})),
            some.clone().prop_map(|all| json!({"anyOf": all})),
            some.clone().prop_map(|all| json!({"oneOf": all})),
            inner.clone().prop_map(|schema| json!({"not": schema})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(when, then, other)| json!({"if": when, "then": then, "else": other})),
            (named.clone(), inner.clone())
                .prop_map(|(named, rest)| json!({"properties": named, "additionalProperties": rest})),
            (named, inner.clone()).prop_map(|(named, rest)| json!({
                "properties": named, "patternProperties": {"^a": rest}, "additionalProperties": false,
            })),
            inner.clone().prop_map(|schema| json!({"propertyNames": schema})),
            inner.clone().prop_map(|schema| json!({"contains": schema})),
            (some, inner).prop_map(|(first, rest)| json!({"prefixItems": first, "items": rest})),
        ]
    });
    any.prop_map(
        |schema| json!({"allOf": [schema], "$defs": {"Same": {"type": ["string", "integer"]}}}),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // Shows: framework/tools/parameters-are-checked
    #[test]
    fn validation_agrees_with_the_jsonschema_crate(
        schema in schemas(),
        value in values(),
    ) {
        let validator = jsonschema::validator_for(&schema).expect("a schema");

        let complaints = complaints(&schema, &value);

        prop_assert_eq!(complaints.is_empty(), validator.is_valid(&value), "{:?}", complaints);
    }

    #[test]
    fn no_schema_and_no_value_causes_a_panic(schema in values(), value in values()) {
        if let Ok(schema) = InputSchema::new(&schema) {
            schema.violations(&value);
        }
    }
}
