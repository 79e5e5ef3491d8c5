//! Messages of JSON errors, without names of Rust types.

/// Returns the message of `error` with its position, if it has one, and without names of types.
///
/// For a value of the wrong type, the message contains only its kind: the value may be a secret.
///
/// ```
/// use autonoe_core::project::json_error_message;
///
/// let error = serde_json::from_str::<Vec<u64>>("[1, \"two\"]").expect_err("no number");
///
/// assert_eq!(
///     json_error_message(&error),
///     "line 1 column 9: expected a whole number of at least 0, found a string"
/// );
/// ```
pub fn json_error_message(error: &serde_json::Error) -> String {
    match split_position(error) {
        (message, Some(position)) => format!("line {position}: {}", plain_words(&message)),
        (message, None) => plain_words(&message),
    }
}

/// Returns the message of `error` without its position.
pub(super) fn json_error_message_without_position(error: &serde_json::Error) -> String {
    plain_words(&split_position(error).0)
}

/// Splits the text of `error` into message and position.
fn split_position(error: &serde_json::Error) -> (String, Option<String>) {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        // An error without a line has no position; these words come from the value.
        Some((message, position)) if error.line() > 0 => {
            (message.to_owned(), Some(position.to_owned()))
        }
        _ => (text, None),
    }
}

/// Rewrites a message of serde or serde_json in terms that need no knowledge of Rust.
fn plain_words(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("EOF while parsing ") {
        return match rest {
            "a value" => "it ends where a value is expected".to_owned(),
            rest => format!("it ends in the middle of {rest}"),
        };
    }
    for (start, found_words) in [
        ("invalid type: ", kind_found as fn(&str) -> String),
        ("invalid value: ", value_found),
    ] {
        let parts = message.strip_prefix(start);
        // The value may be a text with a comma in it; the expectation is ours.
        if let Some((found, expected)) = parts.and_then(|it| it.rsplit_once(", expected ")) {
            return format!(
                "expected {}, found {}",
                expected_name(expected),
                found_words(found)
            );
        }
    }
    if let Some(rest) = message.strip_prefix("invalid length ") {
        let (length, expected) = rest.split_once(", expected ").unwrap_or((rest, "another"));
        return format!(
            "expected {}, found a list of {length} values",
            expected_name(expected)
        );
    }
    for (start, noun) in [("unknown field ", "field"), ("unknown variant ", "name")] {
        if let Some(rest) = message.strip_prefix(start) {
            return unknown(noun, rest);
        }
    }
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("the field {field} is missing");
    }
    if let Some(field) = message.strip_prefix("duplicate field ") {
        return format!("the field {field} occurs twice");
    }
    if message.starts_with("data did not match any variant of untagged enum") {
        return "it matches none of the allowed forms".to_owned();
    }
    match message {
        "expected value" | "expected ident" => "expected a value",
        "trailing characters" => "unexpected text after the end",
        "recursion limit exceeded" => "it is nested too deeply",
        "invalid unicode code point" => "it is not UTF-8",
        _ => message,
    }
    .to_owned()
}

fn unknown(noun: &str, rest: &str) -> String {
    let expected = rest
        .split_once(", expected one of ")
        .or_else(|| rest.split_once(", expected "));
    match expected {
        Some((name, known)) => {
            let known = known.replace("` or `", "` and `");
            let is_one = !known.contains("` and `") && !known.contains("`, `");
            let are = if is_one { "is" } else { "are" };
            format!("unknown {noun} {name}; known {are} {known}")
        }
        // A part of a file has its own reader, whose message is already rewritten.
        None if rest.contains("; ") => format!("unknown {noun} {rest}"),
        None => {
            let (name, _) = rest.split_once(", ").unwrap_or((rest, ""));
            format!("unknown {noun} {name}; none is allowed here")
        }
    }
}

/// Returns the name of the expected value.
fn expected_name(expected: &str) -> &str {
    let is_one_of = |starts: &[&str]| starts.iter().any(|start| expected.starts_with(start));
    if is_one_of(&[
        "struct ",
        "internally tagged enum ",
        "adjacently tagged enum ",
    ]) {
        "an object"
    } else if is_one_of(&["enum ", "variant identifier", "field identifier"]) {
        "a known name"
    } else if is_one_of(&["tuple ", "unit "]) {
        "another value"
    } else {
        match expected {
            "a map" | "map" => "an object",
            "a sequence" | "sequence" | "an array" => "a list",
            "u8" => "a whole number from 0 to 255",
            "u16" => "a whole number from 0 to 65535",
            "u32" => "a whole number from 0 to 4294967295",
            "u64" | "usize" => "a whole number of at least 0",
            "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
            "f32" | "f64" => "a number",
            "unit" => "null",
            "a borrowed string" | "string" => "a string",
            _ => expected,
        }
    }
}

/// Returns the name of the kind of a value.
fn kind_found(found: &str) -> String {
    match found.split(' ').next() {
        Some("map") => "an object",
        Some("sequence") => "a list",
        Some("unit") => "null",
        Some("boolean") => "a boolean",
        Some("integer" | "floating" | "number") => "a number",
        Some("string") => "a string",
        _ => found,
    }
    .to_owned()
}

/// Returns the name of a value that has the right type.
fn value_found(found: &str) -> String {
    for kind in ["integer ", "floating point "] {
        if let Some(number) = found.strip_prefix(kind) {
            return format!("the number {}", number.trim_matches('`'));
        }
    }
    match found.strip_prefix("string ") {
        Some(text) => format!("the text {text}"),
        None => kind_found(found),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Part {
        name: String,
        #[serde(default)]
        count: u8,
        #[serde(default)]
        colour: Option<Colour>,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        either: Option<Either>,
        #[serde(default)]
        nothing: Nothing,
        #[serde(default)]
        pair: Pair,
        #[serde(default)]
        single: Single,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Pair {
        left: u8,
        right: u8,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Single {
        only: u8,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
        Blue,
        Green,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only read")]
    enum Either {
        Text(String),
        List(Vec<String>),
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only read")]
    enum Tagged {
        One { number: i64 },
    }

    fn complaint_about<T: DeserializeOwned + std::fmt::Debug>(text: &[u8]) -> String {
        json_error_message(&serde_json::from_slice::<T>(text).expect_err("it is wrong"))
    }

    #[test]
    fn messages_have_no_names_of_types() {
        for (text, words) in [
            ("7", "expected an object, found a number"),
            ("[]", "expected an object, found a list of 0 values"),
            ("{}", "the field `name` is missing"),
            (r#"{"name": {}}"#, "expected a string, found an object"),
            (r#"{"name": []}"#, "expected a string, found a list"),
            (r#"{"name": null}"#, "expected a string, found null"),
            (r#"{"name": true}"#, "expected a string, found a boolean"),
            (
                r#"{"name": "a", "name": "b"}"#,
                "the field `name` occurs twice",
            ),
            (
                r#"{"nme": "a"}"#,
                "unknown field `nme`; known are `name`, `count`, `colour`, `share`, `either`, `nothing`, `pair`, `single`",
            ),
            (
                r#"{"count": "a, expected b at line 9"}"#,
                "expected a whole number from 0 to 255, found a string",
            ),
            (
                r#"{"count": 256}"#,
                "expected a whole number from 0 to 255, found the number 256",
            ),
            (r#"{"share": "x"}"#, "expected a number, found a string"),
            (
                r#"{"colour": "pink"}"#,
                "unknown name `pink`; known are `red`, `blue`, `green`",
            ),
            (r#"{"either": 1}"#, "it matches none of the allowed forms"),
            (
                r#"{"nothing": {"a": 1}}"#,
                "unknown field `a`; none is allowed here",
            ),
            (
                r#"{"either": ["a"], "pair": {"a": 1}}"#,
                "unknown field `a`; known are `left` and `right`",
            ),
            (
                r#"{"single": {"a": 1}}"#,
                "unknown field `a`; known is `only`",
            ),
            (r#"{"name": "a"} x"#, "unexpected text after the end"),
            (r#"{"name": "#, "it ends where a value is expected"),
            (r#"{"name": "a"#, "it ends in the middle of a string"),
            ("hello", "expected a value"),
        ] {
            let complaint = complaint_about::<Part>(text.as_bytes());

            let (place, message) = complaint.split_once(": ").expect("a place");
            assert_eq!(message, words, "{text}");
            assert!(place.starts_with("line 1 column "), "{text}: {place}");
        }
    }

    #[test]
    fn other_shapes_have_the_same_messages() {
        let not_text = complaint_about::<Part>(b"{\"name\": \"\xff\"}");
        let deep = complaint_about::<serde_json::Value>("[".repeat(1000).as_bytes());
        let untagged = complaint_about::<Tagged>(b"7");
        let of_map = complaint_about::<BTreeMap<String, i64>>(b"\"x\"");

        assert!(not_text.ends_with(": it is not UTF-8"), "{not_text}");
        assert!(deep.ends_with(": it is nested too deeply"), "{deep}");
        assert!(
            untagged.contains(": expected an object, found"),
            "{untagged}"
        );
        assert!(
            of_map.contains(": expected an object, found a string"),
            "{of_map}"
        );
    }

    #[test]
    fn a_field_name_is_not_read_as_a_position() {
        let value = serde_json::json!({"name": 1, "x at line 3": 2});
        let error = serde_json::from_value::<Part>(value).expect_err("it is wrong");

        assert_eq!(error.line(), 0);
        assert!(!json_error_message(&error).contains("column"), "{error}");
    }
}
