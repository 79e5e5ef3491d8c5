//! Commands that come as JSON lines.

use serde::Deserialize;

/// A line of standard input.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Text(String),
    Object { command: String },
}

/// Returns the command of a line: a string, or an object with a `command`.
pub(super) fn command_of(line: &[u8]) -> Result<String, String> {
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|error| format!("it is not JSON: {error}"))?;
    match serde_json::from_value(value) {
        Ok(Line::Text(command) | Line::Object { command }) => Ok(command),
        Err(_) => Err(r#"write "COMMAND" or {"command": "COMMAND"}"#.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_string_or_an_object_with_a_command() {
        for (line, command) in [
            (r#""ls -l""#, Some("ls -l")),
            (r#" {"command": "ls", "id": 7} "#, Some("ls")),
            (r#"{"cmd": "ls"}"#, None),
            ("ls", None),
            ("7", None),
            ("", None),
        ] {
            assert_eq!(
                command_of(line.as_bytes()).ok().as_deref(),
                command,
                "{line}"
            );
        }
        assert!(command_of(b"\"\xff\"").is_err());
    }
}
