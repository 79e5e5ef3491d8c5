//! What is said to other programs about amounts of money.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::CostUsd;

/// What is written is a string; what is read may be a number too.
impl JsonSchema for CostUsd {
    fn schema_name() -> Cow<'static, str> {
        "CostUsd".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        match generator.contract().is_serialize() {
            true => json_schema!({
                "description": "An amount of US dollars as a decimal string, exact to the \
                    pico-dollar: `\"0.0123\"`.",
                "type": "string",
                "pattern": r"^[0-9]+(\.[0-9]{1,12})?$",
            }),
            false => json_schema!({
                "description": "An amount of US dollars: a decimal string (`\"0.0123\"`), which is \
                    how it is written and exact to the pico-dollar, or a number. At most about \
                    18 million.",
                "type": ["string", "number"],
                "pattern": r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)$",
                "minimum": 0,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::*;

    /// Whether it is described as something that is read, or that is written.
    fn is_described(settings: SchemaSettings, value: &Value) -> bool {
        let schema = settings.into_generator().into_root_schema_for::<CostUsd>();
        jsonschema::is_valid(schema.as_value(), value)
    }

    fn read() -> SchemaSettings {
        SchemaSettings::draft2020_12().for_deserialize()
    }

    fn written() -> SchemaSettings {
        SchemaSettings::draft2020_12().for_serialize()
    }

    /// Whether the schema lets it in, and whether we do.
    fn judged(value: &Value) -> (bool, bool) {
        let is_read = serde_json::from_value::<CostUsd>(value.clone()).is_ok();
        (is_described(read(), value), is_read)
    }

    #[test]
    fn the_schema_lets_in_what_is_read_and_nothing_else() {
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
            assert_eq!(judged(&value), (is_amount, is_amount), "{value}");
        }
    }

    proptest! {
        #[test]
        fn they_agree_about_texts_and_numbers(
            text in "[-+$ .0-9e]{0,6}", number in -1.0..18_000_000.0,
        ) {
            for value in [Value::from(text), Value::from(number)] {
                let (is_described, is_read) = judged(&value);
                prop_assert_eq!(is_described, is_read, "{}", value);
            }
        }

        #[test]
        fn what_is_written_is_as_described(picos: u64) {
            let value = json!(CostUsd::from_picos(picos));

            prop_assert!(is_described(written(), &value));
            prop_assert_eq!(judged(&value), (true, true));
        }
    }

    #[test]
    fn a_number_is_never_written() {
        assert!(!is_described(written(), &json!(1.25)));
    }
}
