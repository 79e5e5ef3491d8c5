//! Schemas without references.

use serde_json::{Map, Value, json};

/// How many schemas a flat one may have. Definitions that use each other grow without a bound
/// when they are written out.
const MOST: usize = 20_000;

/// How deep references may lead. A schema that contains itself has no end.
const DEEPEST: usize = 64;

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

/// Keywords whose value has schemas by name.
const NAMED: [&str; 3] = ["dependentSchemas", "patternProperties", "properties"];

/// Keywords that only matter for references, or say which draft it is.
const LEFT_OUT: [&str; 6] = ["$anchor", "$defs", "$id", "$ref", "$schema", "definitions"];

/// Keywords that only describe: beside a reference they take the place of those behind it.
const DESCRIBING: [&str; 6] = [
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "title",
];

/// Writes a schema out, so that nothing in it refers to anything.
///
/// Agents hand schemas on to models, and not all services understand references. What cannot be
/// written out, because it contains itself, allows anything there; the toolbox still checks
/// arguments by the original.
pub(crate) fn flat(schema: &Value) -> Map<String, Value> {
    let mut flattening = Flattening {
        root: schema,
        left: MOST,
    };
    let mut object = match flattening.schema(schema, &mut Vec::new()) {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    // The protocol asks for it.
    object.insert("type".into(), json!("object"));
    object
}

struct Flattening<'s> {
    root: &'s Value,
    left: usize,
}

impl<'s> Flattening<'s> {
    /// Writes one schema out. `within` are the references that led here.
    fn schema(&mut self, schema: &'s Value, within: &mut Vec<&'s str>) -> Value {
        let Value::Object(keywords) = schema else {
            return schema.clone();
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return json!({});
        }
        let mut out = Map::new();
        for (keyword, said) in keywords {
            if LEFT_OUT.contains(&keyword.as_str()) {
                continue;
            }
            let said = self.keyword(keyword, said, within);
            out.insert(keyword.clone(), said);
        }
        match keywords.get("$ref").and_then(Value::as_str) {
            Some(reference) => merged(self.behind(reference, within), out),
            None => Value::Object(out),
        }
    }

    fn keyword(&mut self, keyword: &str, said: &'s Value, within: &mut Vec<&'s str>) -> Value {
        match said {
            Value::Object(_) if ONE.contains(&keyword) => self.schema(said, within),
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
            _ => said.clone(),
        }
    }

    /// Writes out what a reference leads to.
    fn behind(&mut self, reference: &'s str, within: &mut Vec<&'s str>) -> Value {
        let root = self.root;
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        let Some(target) = target else {
            return json!({});
        };
        if within.contains(&reference) || within.len() >= DEEPEST || reference == "#" {
            return json!({});
        }
        within.push(reference);
        let written = self.schema(target, within);
        within.pop();
        written
    }
}

/// Puts together what a reference leads to and what stands beside it.
fn merged(behind: Value, beside: Map<String, Value>) -> Value {
    let mut behind = match behind {
        Value::Object(behind) => behind,
        // Whatever stands beside it, nothing fits.
        Value::Bool(false) => return Value::Bool(false),
        _ => return Value::Object(beside),
    };
    let clash = beside
        .keys()
        .any(|keyword| behind.contains_key(keyword) && !DESCRIBING.contains(&keyword.as_str()));
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
    use autonoe_core::{InputSchema, plain_schema};
    use proptest::prelude::*;
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    fn refers(value: &Value) -> bool {
        let text = value.to_string();
        text.contains("\"$ref\"") || text.contains("\"$defs\"")
    }

    #[test]
    fn references_are_written_out() {
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
            // What is called `$ref` but is data, or a name, stays.
            (
                json!({"properties": {"$ref": {"enum": [{"$ref": "#/$defs/A"}]}}, "$defs": {"A": {}}}),
                json!({"type": "object", "properties": {"$ref": {"enum": [{"$ref": "#/$defs/A"}]}}}),
            ),
            (json!(true), json!({"type": "object"})),
        ] {
            assert_eq!(Value::Object(flat(&schema)), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_has_an_end() {
        let tree = json!({
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/Tree"}}}},
        });

        let flat = flat(&tree);

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

        let text = Value::Object(flat(&schema)).to_string();

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
        Say { words: Vec<Word> },
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
        fn the_flat_schema_says_the_same_as_the_original(
            name in prop_oneof![Just(json!("n")), Just(json!(1))],
            steps in prop::collection::vec(step(), 0..3),
            first in step(),
        ) {
            let original = plain_schema::<Plan>().to_value();
            let written = Value::Object(flat(&original));
            prop_assert!(refers(&original) && !refers(&written));
            let value = json!({"name": name, "steps": steps, "first": first});

            let fits = |schema: &Value| {
                let schema = InputSchema::new(schema).expect("it is understood");
                schema.complaints(&value).is_empty()
            };

            prop_assert_eq!(fits(&original), fits(&written));
        }
    }
}
