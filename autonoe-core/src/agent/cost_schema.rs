//! JSON Schema of [`CostUsd`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::agent::CostUsd;

/// The serialised form is a string; the deserialiser accepts numbers, too.
impl JsonSchema for CostUsd {
    fn schema_name() -> Cow<'static, str> {
        "CostUsd".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            json_schema!({
                "description": "An amount of US dollars as a decimal string, exact to the \
                    pico-dollar: `\"0.0123\"`.",
                "type": "string",
                "pattern": r"^[0-9]+(\.[0-9]{1,12})?$",
            })
        } else {
            json_schema!({
                "description": "An amount of US dollars: a decimal string (`\"0.0123\"`), which is \
                    how it is written and exact to the pico-dollar, or a number. At most about \
                    18 million.",
                "type": ["string", "number"],
                "pattern": r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)$",
                "minimum": 0,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::*;

    /// Returns whether the schema with these settings accepts the value.
    fn is_valid(settings: SchemaSettings, value: &Value) -> bool {
        let schema = settings.into_generator().into_root_schema_for::<CostUsd>();
        jsonschema::is_valid(schema.as_value(), value)
    }

    fn read() -> SchemaSettings {
        SchemaSettings::draft2020_12().for_deserialize()
    }

    fn written() -> SchemaSettings {
        SchemaSettings::draft2020_12().for_serialize()
    }

    /// Returns whether the schema accepts the value, and whether the deserialiser does.
    fn accepted(value: &Value) -> (bool, bool) {
        let is_read = serde_json::from_value::<CostUsd>(value.clone()).is_ok();
        (is_valid(read(), value), is_read)
    }

    #[test]
    fn the_schema_accepts_exactly_the_deserialisable_values() {
        for (value, is_amount) in [
            (json!("1.25"), true),
            (json!("1"), true),
            (json!("1."), true),
            (json!(".5"), true),
            (json!(1.25), true),
            (json!(3), true),
            (json!(0), true),
            (json!(-0.0), true),
            (json!(-1), false),
            (json!("-1"), false),
            (json!("$1"), false),
            (json!("1e3"), false),
            (json!("."), false),
            (json!(""), false),
            (json!(" 1"), false),
            (json!("1\n"), false),
            (json!(null), false),
            (json!(true), false),
            (json!([1]), false),
        ] {
            assert_eq!(accepted(&value), (is_amount, is_amount), "{value}");
        }
    }

    proptest! {
        #[test]
        fn schema_and_deserialiser_agree_about_texts_and_numbers(
            text in "[-+$ .0-9e]{0,6}", number in -1.0..18_000_000.0,
        ) {
            for value in [Value::from(text), Value::from(number)] {
                let (is_valid, is_read) = accepted(&value);
                prop_assert_eq!(is_valid, is_read, "{}", value);
            }
        }

        #[test]
        fn serialised_amounts_match_the_schema(picos: u64) {
            let value = json!(CostUsd::from_picos(picos));

            prop_assert!(is_valid(written(), &value));
            prop_assert_eq!(accepted(&value), (true, true));
        }
    }

    #[test]
    fn the_output_schema_accepts_no_number() {
        assert!(!is_valid(written(), &json!(1.25)));
    }
}
