//! Parses the commands on standard input, one JSON value per line.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufRead, Read};

use autonoe_core::project::json_error_message;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// Maximum length of a line, in bytes.
const MAX_LINE_LEN: u64 = 1024 * 1024;

/// Returns the next line without its line break, or `None` at the end of the input.
pub(super) fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(MAX_LINE_LEN + 1).read_until(b'\n', &mut line)?;
    if line.len() as u64 > MAX_LINE_LEN {
        return Err(io::Error::other("a line is longer than 1 MiB"));
    }
    let is_end = line.is_empty();
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok((!is_end).then_some(line))
}

/// Parses the command of a line: a string, or an object with a `command`.
pub(super) fn parse_command(line: &[u8]) -> Result<String, String> {
    let error = match serde_json::from_slice(line) {
        Ok(Line(command)) => return Ok(command),
        Err(error) => error,
    };
    let complaint = json_error_message(&error);
    // Every line is parsed on its own, so the line number in the message is useless.
    let (_, reason) = complaint.split_once(": ").unwrap_or(("", &complaint));
    Err(if error.is_data() {
        reason.to_owned()
    } else {
        format!("it is not JSON: {reason} at column {}", error.column())
    })
}

/// A line of standard input.
struct Line(String);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LineVisitor).map(Line)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#""COMMAND" or {"command": "COMMAND"}"#)
    }

    fn visit_str<E: Error>(self, command: &str) -> Result<String, E> {
        Ok(command.to_owned())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut object: M) -> Result<String, M::Error> {
        let mut seen = HashSet::new();
        let mut command = None;
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "command" => command = Some(object.next_value()?),
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
            // Other parsers may use the other value, so the judged command could differ from the
            // executed one.
            if let Some(key) = seen.replace(key) {
                return Err(M::Error::custom(format!("the field `{key}` occurs twice")));
            }
        }
        command.ok_or_else(|| M::Error::custom("the field `command` is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_string_or_an_object_with_a_command() {
        for (line, command) in [
            (r#""ls -l""#, Ok("ls -l")),
            (r#" {"command": "ls", "id": 7} "#, Ok("ls")),
            (r#"{"id": {"a": [1]}, "command": "ls \u0041"}"#, Ok("ls A")),
            (r#"{"cmd": "ls"}"#, Err("the field `command` is missing")),
            (
                r#"{"command": "ls", "command": "curl x"}"#,
                Err("the field `command` occurs twice"),
            ),
            (
                r#"{"command": "ls", "comman\u0064": "curl x"}"#,
                Err("the field `command` occurs twice"),
            ),
            (
                r#"{"id": 1, "command": "ls", "id": 2}"#,
                Err("the field `id` occurs twice"),
            ),
            (
                r#"{"command": 7}"#,
                Err("expected a string, found a number"),
            ),
            (
                "7",
                Err(r#"expected "COMMAND" or {"command": "COMMAND"}, found a number"#),
            ),
            ("ls", Err("it is not JSON: expected a value at column 1")),
            (
                "",
                Err("it is not JSON: it ends where a value is expected at column 0"),
            ),
        ] {
            let found = parse_command(line.as_bytes());
            assert_eq!(found.as_deref().map_err(String::as_str), command, "{line}");
        }
        assert!(parse_command(b"\"\xff\"").is_err());
    }

    #[test]
    fn lines_are_split_and_limited_in_length() {
        let mut input = &b"one\n\ntwo"[..];
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).expect("short lines") {
            lines.push(line);
        }
        assert_eq!(lines, [&b"one"[..], b"", b"two"]);

        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert!(next_line(&mut endless).is_err());
    }
}
