//! Flattening of JSON Schemas: replaces references by the schemas they point to.

use serde_json::{Map, Value, json};

/// Maximum number of subschemas of a flat schema. Inlining definitions that use each other can grow
/// exponentially.
const MAX_SCHEMAS: usize = 20_000;

/// Maximum nesting of references. Inlining a recursive schema would never end.
const MAX_DEPTH: usize = 64;

/// Keywords whose value is a schema.
const ONE: [&str; 10] = [
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value maps names to schemas.
const NAMED: [&str; 3] = ["dependentSchemas", "patternProperties", "properties"];

/// Keywords that only matter for references, or that declare the draft.
const OMITTED: [&str; 6] = ["$anchor", "$defs", "$id", "$ref", "$schema", "definitions"];

/// Descriptive keywords. Beside a reference, they override those of the referenced schema.
const DESCRIPTIVE: [&str; 6] = [
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "title",
];

/// Inlines all references of a schema.
///
/// Agents pass schemas to models, and not all services support references. A recursive part accepts
/// any value; the toolbox still validates arguments against the original schema.
pub(crate) fn flatten(schema: &Value) -> Map<String, Value> {
    let mut flattening = Flattening {
        root: schema,
        left: MAX_SCHEMAS,
    };
    let mut object = match flattening.schema(schema, &mut Vec::new()) {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    // The MCP specification requires it.
    object.insert("type".into(), json!("object"));
    object
}

struct Flattening<'s> {
    root: &'s Value,
    left: usize,
}

impl<'s> Flattening<'s> {
    /// Inlines one schema. `within` are the references that led to it.
    fn schema(&mut self, schema: &'s Value, within: &mut Vec<&'s str>) -> Value {
        let Value::Object(keywords) = schema else {
            return schema.clone();
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return json!({});
        }
        let mut out = Map::new();
        for (keyword, value) in keywords {
            if OMITTED.contains(&keyword.as_str()) {
                continue;
            }
            let value = self.keyword(keyword, value, within);
            out.insert(keyword.clone(), value);
        }
        match keywords.get("$ref").and_then(Value::as_str) {
            Some(reference) => merged(self.inline_reference(reference, within), out),
            None => Value::Object(out),
        }
    }

    fn keyword(&mut self, keyword: &str, value: &'s Value, within: &mut Vec<&'s str>) -> Value {
        match value {
            Value::Object(_) if ONE.contains(&keyword) => self.schema(value, within),
            Value::Array(schemas) if LIST.contains(&keyword) => {
                let schemas = schemas.iter();
                Value::Array(schemas.map(|one| self.schema(one, within)).collect())
            }
            Value::Object(schemas) if NAMED.contains(&keyword) => {
                let mut out = Map::new();
                for (name, one) in schemas {
                    out.insert(name.clone(), self.schema(one, within));
                }
                Value::Object(out)
            }
            _ => value.clone(),
        }
    }

    /// Inlines the target of a reference.
    fn inline_reference(&mut self, reference: &'s str, within: &mut Vec<&'s str>) -> Value {
        let root = self.root;
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        let Some(target) = target else {
            return json!({});
        };
        if within.contains(&reference) || within.len() >= MAX_DEPTH || reference == "#" {
            return json!({});
        }
        within.push(reference);
        let written = self.schema(target, within);
        within.pop();
        written
    }
}

/// Merges the target of a reference with the keywords beside the reference.
fn merged(behind: Value, beside: Map<String, Value>) -> Value {
    let mut behind = match behind {
        Value::Object(behind) => behind,
        // `false` rejects every value, whatever the other keywords say.
        Value::Bool(false) => return Value::Bool(false),
        _ => return Value::Object(beside),
    };
    let clash = beside
        .keys()
        .any(|keyword| behind.contains_key(keyword) && !DESCRIPTIVE.contains(&keyword.as_str()));
    if clash {
        let mut out = beside;
        let both = match out.remove("allOf") {
            Some(Value::Array(mut all)) => {
                all.push(Value::Object(behind));
                all
            }
            _ => vec![Value::Object(behind)],
        };
        out.insert("allOf".into(), Value::Array(both));
        return Value::Object(out);
    }
    behind.extend(beside);
    Value::Object(behind)
}

#[cfg(test)]
mod tests {
    use autonoe_core::tool::{InputSchema, plain_schema};
    use proptest::prelude::*;
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    fn refers(value: &Value) -> bool {
        let text = value.to_string();
        text.contains("\"$ref\"") || text.contains("\"$defs\"")
    }

    #[test]
    fn schema_references_are_inlined() {
        for (schema, expected) in [
            (
                json!({"properties": {"a": {"$ref": "#/$defs/A"}},
                       "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"type": "null"}}}),
                json!({"type": "object", "properties": {"a": {"items": {"type": "null"}}}}),
            ),
            (
                json!({"properties": {"a": {"$ref": "#/definitions/A", "description": "mine"}},
                       "definitions": {"A": {"type": "string", "description": "theirs"}}}),
                json!({"type": "object", "properties": {"a": {"type": "string", "description": "mine"}}}),
            ),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/A", "minLength": 2}},
                       "$defs": {"A": {"minLength": 1}}}),
                json!({"type": "object", "properties": {"a": {"minLength": 2, "allOf": [{"minLength": 1}]}}}),
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/None"}], "$defs": {"A": false}}),
                json!({"type": "object", "anyOf": [false, {}]}),
            ),
            // A `$ref` that is data or a property name stays.
            (
                json!({"properties": {"$ref": {"enum": [{"$ref": "#/$defs/A"}]}}, "$defs": {"A": {}}}),
                json!({"type": "object", "properties": {"$ref": {"enum": [{"$ref": "#/$defs/A"}]}}}),
            ),
            (json!(true), json!({"type": "object"})),
        ] {
            assert_eq!(Value::Object(flatten(&schema)), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_has_an_end() {
        let tree = json!({
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/Tree"}}}},
        });

        let flat = flatten(&tree);

        assert_eq!(
            Value::Object(flat),
            json!({"type": "object", "properties": {"below": {}}})
        );
    }

    #[test]
    fn definitions_that_use_each_other_do_not_grow_without_a_bound() {
        let mut definitions = Map::new();
        for n in 0..40 {
            let next = json!({"$ref": format!("#/$defs/D{}", n + 1)});
            definitions.insert(format!("D{n}"), json!({"anyOf": [next.clone(), next]}));
        }
        let schema = json!({"$ref": "#/$defs/D0", "$defs": definitions});

        let text = Value::Object(flatten(&schema)).to_string();

        assert!(text.len() < 1_000_000, "{} bytes", text.len());
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Plan {
        name: String,
        steps: Vec<Step>,
        first: Option<Step>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Step {
        Wait { seconds: u8 },
        Speak { words: Vec<Word> },
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Word(#[schemars(length(max = 3))] String);

    fn step() -> impl Strategy<Value = Value> {
        let word = prop_oneof![
            "[a-z]{0,4}".prop_map(Value::from),
            any::<u8>().prop_map(Value::from)
        ];
        prop_oneof![
            any::<i16>().prop_map(|seconds| json!({"kind": "wait", "seconds": seconds})),
            prop::collection::vec(word, 0..3)
                .prop_map(|words| json!({"kind": "say", "words": words})),
            Just(json!({"kind": "dance"})),
            Just(Value::Null),
        ]
    }

    proptest! {
        #[test]
        fn flat_schema_accepts_the_same_values(
            name in prop_oneof![Just(json!("n")), Just(json!(1))],
            steps in prop::collection::vec(step(), 0..3),
            first in step(),
        ) {
            let original = plain_schema::<Plan>().to_value();
            let written = Value::Object(flatten(&original));
            prop_assert!(refers(&original) && !refers(&written));
            let value = json!({"name": name, "steps": steps, "first": first});

            let fits = |schema: &Value| {
                let schema = InputSchema::new(schema).expect("it is understood");
                schema.violations(&value).is_empty()
            };

            prop_assert_eq!(fits(&original), fits(&written));
        }
    }
}
