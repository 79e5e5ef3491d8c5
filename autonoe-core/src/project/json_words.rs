//! What is wrong with a JSON text, in words for people.

/// Says where `error` stands and what it is about, without names of types.
///
/// ```
/// use autonoe_core::json_complaint;
///
/// let error = serde_json::from_str::<Vec<u64>>("[1, \"two\"]").expect_err("no number");
///
/// assert_eq!(
///     json_complaint(&error),
///     "line 1 column 9: expected a whole number from 0 on, found the text \"two\""
/// );
/// ```
pub fn json_complaint(error: &serde_json::Error) -> String {
    let (said, place) = parted(error);
    match place {
        Some(place) => format!("line {place}: {}", plain_words(&said)),
        None => plain_words(&said),
    }
}

/// Says what `error` is about, without the place.
pub(super) fn placeless_complaint(error: &serde_json::Error) -> String {
    plain_words(&parted(error).0)
}

/// Parts what is said from the place, which stands behind it if there is one.
fn parted(error: &serde_json::Error) -> (String, Option<String>) {
    let whole = error.to_string();
    match whole.rsplit_once(" at line ") {
        // Without a line there is no place, and what was found is somebody's text.
        Some((said, place)) if error.line() > 0 => (said.to_owned(), Some(place.to_owned())),
        _ => (whole, None),
    }
}

/// Puts what serde and its JSON reader say into words that need no knowledge of Rust.
fn plain_words(said: &str) -> String {
    if let Some(rest) = said.strip_prefix("EOF while parsing ") {
        return match rest {
            "a value" => "it ends where a value should stand".to_owned(),
            rest => format!("it ends in the middle of {rest}"),
        };
    }
    for start in ["invalid type: ", "invalid value: "] {
        let parts = said.strip_prefix(start);
        // What was found may be a text with a comma in it; what was expected is ours.
        if let Some((found, expected)) = parts.and_then(|it| it.rsplit_once(", expected ")) {
            return format!("expected {}, found {}", wanted(expected), seen(found));
        }
    }
    if let Some(rest) = said.strip_prefix("invalid length ") {
        let (length, expected) = rest.split_once(", expected ").unwrap_or((rest, "another"));
        return format!(
            "expected {}, found a list of {length} values",
            wanted(expected)
        );
    }
    for (start, what) in [("unknown field ", "field"), ("unknown variant ", "name")] {
        if let Some(rest) = said.strip_prefix(start) {
            return unknown(what, rest);
        }
    }
    if let Some(field) = said.strip_prefix("missing field ") {
        return format!("the field {field} is missing");
    }
    if let Some(field) = said.strip_prefix("duplicate field ") {
        return format!("the field {field} stands twice");
    }
    if said.starts_with("data did not match any variant of untagged enum") {
        return "it is none of the values that may stand here".to_owned();
    }
    match said {
        "expected value" | "expected ident" => "expected a value",
        "trailing characters" => "something follows behind the end",
        "recursion limit exceeded" => "it is nested too deeply",
        "invalid unicode code point" => "it is not UTF-8",
        _ => said,
    }
    .to_owned()
}

fn unknown(what: &str, rest: &str) -> String {
    let (name, known) = rest.split_once(", ").unwrap_or((rest, ""));
    let known = known
        .strip_prefix("expected one of ")
        .or_else(|| known.strip_prefix("expected "));
    match known {
        Some(known) => {
            let known = known.replace("` or `", "` and `");
            let is_one = !known.contains("` and `") && !known.contains("`, `");
            let are = if is_one { "is" } else { "are" };
            format!("unknown {what} {name}; known {are} {known}")
        }
        None => format!("unknown {what} {name}; none is known here"),
    }
}

/// Names what must stand somewhere.
fn wanted(expected: &str) -> &str {
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
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on",
            "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
            "f32" | "f64" => "a number",
            "unit" => "null",
            "a borrowed string" | "string" => "a string",
            _ => expected,
        }
    }
}

/// Names what stands there instead.
fn seen(found: &str) -> String {
    for kind in ["integer ", "floating point "] {
        if let Some(number) = found.strip_prefix(kind) {
            return format!("the number {}", number.trim_matches('`'));
        }
    }
    if let Some(truth) = found.strip_prefix("boolean ") {
        return truth.trim_matches('`').to_owned();
    }
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the text {text}");
    }
    match found {
        "map" => "an object",
        "sequence" => "a list",
        "unit value" => "null",
        other => other,
    }
    .to_owned()
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

    fn told<T: DeserializeOwned + std::fmt::Debug>(text: &[u8]) -> String {
        json_complaint(&serde_json::from_slice::<T>(text).expect_err("it is wrong"))
    }

    #[test]
    fn what_is_wrong_is_told_without_names_of_types() {
        for (text, words) in [
            ("7", "expected an object, found the number 7"),
            ("[]", "expected an object, found a list of 0 values"),
            ("{}", "the field `name` is missing"),
            (r#"{"name": {}}"#, "expected a string, found an object"),
            (r#"{"name": []}"#, "expected a string, found a list"),
            (r#"{"name": null}"#, "expected a string, found null"),
            (r#"{"name": true}"#, "expected a string, found true"),
            (
                r#"{"name": "a", "name": "b"}"#,
                "the field `name` stands twice",
            ),
            (
                r#"{"nme": "a"}"#,
                "unknown field `nme`; known are `name`, `count`, `colour`, `share`, `either`, `nothing`, `pair`, `single`",
            ),
            (
                r#"{"count": "a, expected b at line 9"}"#,
                "expected a whole number from 0 on, found the text \"a, expected b at line 9\"",
            ),
            (
                r#"{"count": 256}"#,
                "expected a whole number from 0 on, found the number 256",
            ),
            (
                r#"{"share": "x"}"#,
                "expected a number, found the text \"x\"",
            ),
            (
                r#"{"colour": "pink"}"#,
                "unknown name `pink`; known are `red`, `blue`, `green`",
            ),
            (
                r#"{"either": 1}"#,
                "it is none of the values that may stand here",
            ),
            (
                r#"{"nothing": {"a": 1}}"#,
                "unknown field `a`; none is known here",
            ),
            (
                r#"{"either": ["a"], "pair": {"a": 1}}"#,
                "unknown field `a`; known are `left` and `right`",
            ),
            (
                r#"{"single": {"a": 1}}"#,
                "unknown field `a`; known is `only`",
            ),
            (r#"{"name": "a"} x"#, "something follows behind the end"),
            (r#"{"name": "#, "it ends where a value should stand"),
            (r#"{"name": "a"#, "it ends in the middle of a string"),
            ("hello", "expected a value"),
        ] {
            let complaint = told::<Part>(text.as_bytes());

            let (place, said) = complaint.split_once(": ").expect("a place");
            assert_eq!(said, words, "{text}");
            assert!(place.starts_with("line 1 column "), "{text}: {place}");
        }
    }

    #[test]
    fn other_shapes_are_told_in_the_same_way() {
        let not_text = told::<Part>(b"{\"name\": \"\xff\"}");
        let deep = told::<serde_json::Value>("[".repeat(1000).as_bytes());
        let untagged = told::<Tagged>(b"7");
        let of_map = told::<BTreeMap<String, i64>>(b"\"x\"");

        assert!(not_text.ends_with(": it is not UTF-8"), "{not_text}");
        assert!(deep.ends_with(": it is nested too deeply"), "{deep}");
        assert!(
            untagged.contains(": expected an object, found"),
            "{untagged}"
        );
        assert!(
            of_map.contains(": expected an object, found the text"),
            "{of_map}"
        );
    }

    #[test]
    fn a_text_of_somebody_is_not_taken_for_a_place() {
        let value = serde_json::json!({"name": 1, "x at line 3": 2});
        let error = serde_json::from_value::<Part>(value).expect_err("it is wrong");

        assert_eq!(error.line(), 0);
        assert!(!json_complaint(&error).contains("column"), "{error}");
    }
}
