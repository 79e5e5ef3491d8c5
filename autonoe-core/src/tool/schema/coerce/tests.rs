//! Tests of the conversion of tool input to its schema.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tool::InputSchema;

fn coerced(schema: &Value, value: Value) -> Value {
    InputSchema::new(schema).expect("understood").coerce(value)
}

// Shows: framework/tools/numbers-that-models-send-strings
#[test]
fn a_string_becomes_a_number_or_boolean_only_where_no_string_is_allowed() {
    let (number, integer) = (json!({"type": "number"}), json!({"type": "integer"}));
    let boolean = json!({"type": "boolean"});
    let optional = json!({"type": ["integer", "null"]});
    for (schema, text, expected) in [
        (&integer, "5", json!(5)),
        (&integer, "-7", json!(-7)),
        (&integer, "18446744073709551615", json!(u64::MAX)),
        (&number, "0.5", json!(0.5)),
        (&number, "-1e3", json!(-1000.0)),
        (&number, "3", json!(3)),
        (&boolean, "true", json!(true)),
        (&boolean, "false", json!(false)),
        (&optional, "5", json!(5)),
        (
            &json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            "5",
            json!(5),
        ),
        (&json!({"enum": [1, 2]}), "2", json!(2)),
        (&json!({"const": true}), "true", json!(true)),
        (&json!({"type": ["boolean", "integer"]}), "1", json!(1)),
        (
            &json!({"type": ["boolean", "integer"]}),
            "true",
            json!(true),
        ),
        (
            &json!({"allOf": [{"type": ["string", "integer"]}, {"type": "integer"}]}),
            "5",
            json!(5),
        ),
        (
            &json!({"$ref": "#/$defs/Count", "$defs": {"Count": {"type": "integer"}}}),
            "5",
            json!(5),
        ),
    ] {
        assert_eq!(coerced(schema, json!(text)), expected, "{schema}: {text:?}");
    }
}

// Shows: framework/tools/numbers-that-models-send-strings
#[test]
fn a_string_stays_where_strings_are_allowed_or_it_is_no_number() {
    let (number, integer) = (json!({"type": "number"}), json!({"type": "integer"}));
    for (schema, text) in [
        (&json!({"type": "string"}), "5"),
        (&json!({"type": ["string", "integer"]}), "5"),
        (
            &json!({"type": ["string", "integer"], "pattern": "^a"}),
            "5",
        ),
        (
            &json!({"anyOf": [{"enum": ["low", "high"]}, {"type": "integer"}]}),
            "5",
        ),
        (&json!({"enum": [5, "auto"]}), "5"),
        (&json!({}), "5"),
        (&json!(true), "5"),
        (&json!({"not": {"type": "string"}}), "5"),
        (&json!({"type": "null"}), "null"),
        (&json!({"type": "array"}), "[1]"),
        (&integer, ""),
        (&integer, " 5"),
        (&integer, "5 "),
        (&integer, "5\n"),
        (&integer, "+5"),
        (&integer, "05"),
        (&integer, "5.0"),
        (&integer, "5e0"),
        (&integer, "0x5"),
        (&integer, "1_000"),
        (&integer, "1,000"),
        (&integer, "five"),
        (&integer, "５"),
        (&integer, "true"),
        (&integer, "18446744073709551616"),
        (&number, "100000000000000000000000000000000001"),
        (&number, "1e400"),
        (&number, "NaN"),
        (&number, "Infinity"),
        (&number, ".5"),
        (&number, "5 apples"),
        (&json!({"type": "boolean"}), "True"),
        (&json!({"type": "boolean"}), "1"),
        (&json!({"type": "boolean"}), "yes"),
        (&json!({"$ref": "#"}), "5"),
    ] {
        assert_eq!(coerced(schema, json!(text)), json!(text), "{schema}");
    }
}

#[test]
fn nested_strings_are_coerced() {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": {"anyOf": [{"$ref": "#/$defs/Limit"}, {"type": "null"}]},
            "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "boolean"}},
            "names": {"type": "array", "items": {"type": "string"}},
        },
        "patternProperties": {"^x-": {"type": "number"}},
        "additionalProperties": {"type": "array", "items": {"type": "integer"}},
        "$defs": {"Limit": {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}},
    });

    let value = coerced(
        &schema,
        json!({
            "limit": {"lines": "10"},
            "pair": ["1", "2", "true"],
            "names": ["1", "2"],
            "x-scale": "0.5",
            "rest": ["1", 2],
        }),
    );

    assert_eq!(
        value,
        json!({
            "limit": {"lines": 10},
            "pair": ["1", 2, true],
            "names": ["1", "2"],
            "x-scale": 0.5,
            "rest": [1, 2],
        })
    );
}

#[test]
fn an_integral_float_becomes_an_integer_where_only_integers_are_allowed() {
    for (schema, number, expected) in [
        (json!({"type": "integer"}), json!(3.0), "3"),
        (json!({"type": ["integer", "null"]}), json!(-2.0), "-2"),
        (json!({"type": "integer"}), json!(1e300), "1e+300"),
        (json!({"type": "integer"}), json!(2.5), "2.5"),
        (json!({"type": "number"}), json!(3.0), "3.0"),
        (json!({}), json!(3.0), "3.0"),
    ] {
        assert_eq!(coerced(&schema, number).to_string(), expected, "{schema}");
    }
}

#[test]
fn null_counts_as_an_omitted_optional_field() {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer"},
            "needed": {"type": "integer"},
            "nothing": {"type": ["integer", "null"]},
            "anything": {},
        },
        "required": ["needed"],
    });

    let value = coerced(
        &schema,
        json!({"limit": null, "needed": null, "nothing": null, "anything": null, "more": null}),
    );

    let expected = json!({"needed": null, "nothing": null, "anything": null, "more": null});
    assert_eq!(value, expected);
}

#[test]
fn the_alternative_that_fits_decides() {
    let schema = json!({"oneOf": [
        {"properties": {"kind": {"const": "text"}, "value": {"type": "string"}}, "required": ["kind", "value"]},
        {"properties": {"kind": {"const": "count"}, "value": {"type": "integer"}}, "required": ["kind", "value"]},
    ]});

    let count = coerced(&schema, json!({"kind": "count", "value": "5"}));
    let text = coerced(&schema, json!({"kind": "text", "value": "5"}));
    let unknown = coerced(&schema, json!({"kind": "other", "value": "5"}));

    assert_eq!(count, json!({"kind": "count", "value": 5}));
    assert_eq!(text, json!({"kind": "text", "value": "5"}));
    assert_eq!(unknown, json!({"kind": "other", "value": "5"}));
}

#[test]
fn two_alternatives_that_differ_change_nothing() {
    let schema = json!({"anyOf": [
        {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
        {"properties": {"a": {}, "b": {"type": "integer"}}, "required": ["b"]},
    ], "properties": {"c": {"type": "integer"}}});
    let ambiguous = json!({"a": "1", "b": "2", "c": "3"});

    let value = coerced(&schema, ambiguous);

    assert_eq!(value, json!({"a": "1", "b": "2", "c": 3}));
}

#[test]
fn a_recursive_schema_terminates() {
    let list = json!({"properties": {
        "next": {"$ref": "#"}, "number": {"type": "integer"},
    }});

    let value = coerced(
        &list,
        json!({"next": {"next": {"number": "1"}}, "number": "2"}),
    );

    assert_eq!(value, json!({"next": {"next": {"number": 1}}, "number": 2}));
}

/// Generates a schema without strings, and a value that satisfies it.
fn without_texts() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|value| (json!({"type": "integer"}), json!(value))),
        any::<i32>().prop_map(|value| (json!({"type": "number"}), json!(f64::from(value) / 4.0))),
        any::<bool>().prop_map(|value| (json!({"type": "boolean"}), json!(value))),
        any::<i64>().prop_map(|value| (json!({"type": ["integer", "null"]}), json!(value))),
        Just((json!({"type": ["integer", "null"]}), json!(null))),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|(schema, value)| (
                json!({"type": "array", "items": schema}),
                json!([value])
            )),
            inner
                .clone()
                .prop_map(|(schema, value)| (json!({"anyOf": [schema, {"type": "null"}]}), value)),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|fields| {
                let (mut schemas, mut values) = (json!({}), json!({}));
                for (name, (schema, value)) in fields {
                    schemas[&name] = schema;
                    values[&name] = value;
                }
                (json!({"type": "object", "properties": schemas}), values)
            }),
        ]
    })
}

/// Converts every number and boolean to a string.
fn as_texts(value: &Value) -> Value {
    match value {
        Value::Number(_) | Value::Bool(_) => json!(value.to_string()),
        Value::Array(items) => items.iter().map(as_texts).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), as_texts(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Normalises numbers, so that 3.0 equals 3.
fn as_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(as_numbers).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), as_numbers(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Returns whether `after` equals `before` except for allowed coercions.
fn means_the_same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(text), Value::Number(_) | Value::Bool(_)) => {
            serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *after)
        }
        (Value::Number(before), Value::Number(after)) => before.as_f64() == after.as_f64(),
        (Value::Array(before), Value::Array(after)) => {
            let mut pairs = before.iter().zip(after);
            before.len() == after.len() && pairs.all(|(one, other)| means_the_same(one, other))
        }
        (Value::Object(before), Value::Object(after)) => {
            let mut fields = before.iter();
            after.keys().all(|name| before.contains_key(name))
                && fields.all(|(name, value)| match after.get(name) {
                    Some(other) => means_the_same(value, other),
                    None => value.is_null(),
                })
        }
        (before, after) => before == after,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    // Shows: framework/tools/numbers-that-models-send-strings
    #[test]
    fn stringified_values_are_restored((schema, value) in without_texts()) {
        prop_assert_eq!(coerced(&schema, as_texts(&value)), value);
    }

    #[test]
    fn only_coercions_change_a_value_and_valid_values_stay_valid(
        schema in super::super::tests::schemas(),
        value in super::super::tests::values_with_numbers_as_texts(),
    ) {
        let schema = InputSchema::new(&schema).expect("understood");

        let once = schema.coerce(value.clone());

        prop_assert!(means_the_same(&value, &once), "{} became {}", value, once);
        if schema.violations(&value).is_empty() {
            prop_assert_eq!(as_numbers(&once), as_numbers(&value));
        }
        prop_assert_eq!(schema.coerce(once.clone()), once);
    }
}
