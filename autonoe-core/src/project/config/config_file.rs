//! [`ConfigFile`], a JSON settings file with positions for error messages.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::field_values::read_spec;
use super::json_positions::{JsonPositions, position};
use super::strict::{below, kind, read_part, split_pointer};
use super::suggest::suggest;
use super::{ConfigError, ConfigErrorKind};
use crate::project::json_error::json_error_message_without_position;
use crate::project::safe_read::{ReadError, read_file};
use crate::spec::SpecPort;

/// The maximum size of a file, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// The longest value that a hint quotes, in bytes.
const LONGEST_REPEATED: usize = 60;

/// A JSON settings file. Errors name the file, the line, the column and the JSON pointer.
///
/// It reads `agent.json`, `models.json` and the files of flows; you can use it for your own files.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::project::ConfigFile;
///
/// let text = "{\"ports\": {\"web\": 8080,\n\"mail\": \"x\"}}";
/// let file = ConfigFile::parse(text, Path::new("ports.json"))?;
///
/// assert_eq!(file.names("/ports")?, ["web", "mail"]);
/// assert_eq!(file.read::<u16>("/ports/web")?, Some(8080));
/// assert_eq!(file.read::<u16>("/ports/ftp")?, None);
/// assert_eq!(
///     file.read::<u16>("/ports/mail").expect_err("no number").to_string(),
///     "ports.json:2:9: /ports/mail: expected a whole number from 0 to 65535, found a string"
/// );
/// # Ok::<(), autonoe_core::project::ConfigError>(())
/// ```
pub struct ConfigFile {
    path: PathBuf,
    text: String,
    value: Value,
    positions: JsonPositions,
}

impl ConfigFile {
    /// Reads a file, or returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not valid JSON, has a field twice, or is larger than 1 MiB.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>, ConfigError> {
        let path = path.as_ref();
        match read_text(path)? {
            Some(text) => Self::parse(&text, path).map(Some),
            None => Ok(None),
        }
    }

    /// Parses `text`; `path` is its file, for messages.
    ///
    /// # Errors
    ///
    /// As for [`load`](Self::load).
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        // Some editors write a byte order mark at the start.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ConfigError::new(ConfigErrorKind::Syntax, "it is empty")
                .in_file(path)
                .hint("write a JSON object or remove the file".to_owned()));
        }
        if text.len() as u64 > LARGEST {
            return Err(too_large(path));
        }
        let value = serde_json::from_str(text).map_err(|error| syntax(&error, text, path))?;
        let positions = JsonPositions::scan(text).map_err(|duplicate| {
            let message = format!("the field `{}` occurs twice", duplicate.key);
            ConfigError::new(ConfigErrorKind::Duplicate, message)
                .in_file(path)
                .at_position(duplicate.position)
                .at_pointer(duplicate.pointer)
                .hint("keep one of them".to_owned())
        })?;
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            value,
            positions,
        })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the JSON pointer to the field `name` of the value at `pointer`.
    pub fn below(pointer: &str, name: &str) -> String {
        below(pointer, name)
    }

    /// Returns line and column of the value at `pointer`, or of the innermost value around it.
    pub fn position(&self, pointer: &str) -> (usize, usize) {
        position(&self.text, self.positions.value(pointer))
    }

    /// Returns the line of the value at `pointer`. It is faster than [`position`](Self::position).
    pub(super) fn line(&self, pointer: &str) -> usize {
        self.positions.line(pointer)
    }

    /// Returns the names of the fields of the object at `pointer`, in the order of the file; none
    /// if there is no value.
    ///
    /// # Errors
    ///
    /// The value is not an object.
    pub fn names(&self, pointer: &str) -> Result<Vec<&str>, ConfigError> {
        let Some(value) = self.value.pointer(pointer) else {
            return Ok(Vec::new());
        };
        let Some(fields) = value.as_object() else {
            let message = format!("expected an object, found {}", kind(value));
            return Err(self.mistake(pointer, &message));
        };
        let mut names: Vec<&str> = fields.keys().map(String::as_str).collect();
        names.sort_by_cached_key(|name| self.positions.key(&below(pointer, name)));
        Ok(names)
    }

    /// Checks that the object at `pointer`, if there is one, has only the fields `known`.
    ///
    /// # Errors
    ///
    /// It has another field, or is not an object.
    pub fn expect_only(&self, pointer: &str, known: &[&str]) -> Result<(), ConfigError> {
        let names = self.names(pointer)?;
        match names.into_iter().find(|name| !known.contains(name)) {
            Some(unknown) => {
                let known = known.join("`, `");
                let message = format!("unknown field `{unknown}`; known are `{known}`");
                Err(self.mistake(pointer, &message))
            }
            None => Ok(()),
        }
    }

    /// Reads the value at `pointer`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The value is not a `T`. The error has the position of the innermost wrong value.
    pub fn read<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>, ConfigError> {
        let value = self.value.pointer(pointer);
        let read = value.map(read_part).transpose();
        read.map_err(|error| self.mistake(pointer, &error))
    }

    /// Reads the spec of a plugin of `port` at `pointer`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The value is not a spec that this program knows.
    pub fn read_spec<T: DeserializeOwned>(
        &self,
        port: SpecPort,
        pointer: &str,
    ) -> Result<Option<T>, ConfigError> {
        let value = self.value.pointer(pointer);
        let read = value.map(|value| read_spec(port, value)).transpose();
        read.map_err(|error| self.mistake(pointer, &error))
    }

    /// Returns an error about the value at `pointer`.
    pub fn problem(
        &self,
        pointer: &str,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) -> ConfigError {
        let error = ConfigError::new(ConfigErrorKind::InvalidValue, message).hint(hint);
        self.at_value(pointer, error)
    }

    /// Adds the position of the value at `pointer` to `error`.
    pub(super) fn at_value(&self, pointer: &str, error: ConfigError) -> ConfigError {
        self.at(self.positions.value(pointer), pointer, error)
    }

    /// Adds the position of the key of the field at `pointer` to `error`.
    pub(super) fn at_key(&self, pointer: &str, error: ConfigError) -> ConfigError {
        self.at(self.positions.key(pointer), pointer, error)
    }

    fn at(&self, at: usize, pointer: &str, error: ConfigError) -> ConfigError {
        error
            .in_file(&self.path)
            .at_position(position(&self.text, at))
            .at_pointer(pointer)
    }

    /// Returns the value at `pointer`.
    pub(super) fn value(&self, pointer: &str) -> Option<&Value> {
        self.value.pointer(pointer)
    }

    /// Removes fields of the root object before it is read.
    pub(super) fn remove_fields<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        if let Value::Object(fields) = &mut self.value {
            for name in names {
                fields.remove(name);
            }
        }
    }

    /// Converts an error of [`read_part`] in the value at `around` into one with a position and a
    /// hint.
    fn mistake(&self, around: &str, error: &str) -> ConfigError {
        let (inner, message) = split_pointer(error);
        let pointer = format!("{around}{inner}");
        let (message, rest) = message.split_once("; ").unwrap_or((message, ""));
        if let Some(name) = between(message, "unknown field `", "`") {
            let error = ConfigError::new(ConfigErrorKind::UnknownField, message);
            return self.at_key(
                &self.field(&pointer, name),
                error.hint(known_names(message, rest)),
            );
        }
        let found = between(message, "expected ", ", found ").and(self.value(&pointer));
        let (kind, hint) = match (found, rest) {
            (None, "") if message.ends_with(" is missing") => {
                (ConfigErrorKind::InvalidValue, Some("add it".to_owned()))
            }
            (None, rest) => (ConfigErrorKind::InvalidValue, known_names(message, rest)),
            (Some(found), "") => (ConfigErrorKind::WrongType, repair(message, found)),
            (Some(_), rest) => (ConfigErrorKind::WrongType, Some(rest.to_owned())),
        };
        self.at_value(&pointer, ConfigError::new(kind, message).hint(hint))
    }

    /// Returns the pointer to the unknown field `name`, which is at `pointer` or below it.
    fn field(&self, pointer: &str, name: &str) -> String {
        let child = below(pointer, name);
        if self.value(&child).is_some() {
            child
        } else if pointer.ends_with(&below("", name)) {
            pointer.to_owned()
        } else {
            self.positions.only_field(pointer, name).unwrap_or(child)
        }
    }
}

impl fmt::Debug for ConfigFile {
    // The values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfigFile").field(&self.path).finish()
    }
}

/// Returns the text between the prefix `start` and `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (found, _) = text.strip_prefix(start)?.split_once(end)?;
    Some(found)
}

/// Returns the hint for an unknown name: a similar name, or else the known ones.
fn known_names(message: &str, rest: &str) -> Option<String> {
    let known = rest.split('`').skip(1).step_by(2);
    let unknown = message.split('`').nth(1);
    match unknown.filter(|_| message.starts_with("unknown ")) {
        Some(name) => match suggest(name, known) {
            Some(suggestion) => Some(format!("did you mean `{suggestion}`?")),
            None => Some(rest.to_owned()),
        },
        None => Some(rest.to_owned()),
    }
    .filter(|hint| !hint.is_empty())
}

/// Returns the hint for a value of the wrong type.
fn repair(message: &str, found: &Value) -> Option<String> {
    let list = format!("[{found}]");
    match found {
        Value::Null => Some("write a value, or leave it out".to_owned()),
        Value::String(_)
            if message.starts_with("expected a list") && list.len() <= LONGEST_REPEATED =>
        {
            Some(format!("did you mean `{list}`?"))
        }
        _ => None,
    }
}

/// Returns the text of the file at `path`, or `None` if there is no file.
fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable =
        |message: &str| ConfigError::new(ConfigErrorKind::Unreadable, message).in_file(path);
    let bytes = read_file(path, LARGEST).map_err(|unread| match unread {
        ReadError::NotAFile(found) => {
            let message = format!("it is {}", found.instead_of("a file"));
            unreadable(&message).hint("move it away".to_owned())
        }
        ReadError::TooLarge => too_large(path),
        ReadError::Refused(error) => {
            let hint = match error.kind() {
                io::ErrorKind::NotADirectory => {
                    "a parent of its path is not a folder; move that file away"
                }
                _ => "check its owner and permissions",
            };
            unreadable("it cannot be read")
                .hint(hint.to_owned())
                .caused_by(error)
        }
    })?;
    let Some(bytes) = bytes else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let before = std::str::from_utf8(valid).unwrap_or_default();
        unreadable("it is not UTF-8 from here on")
            .at_position(position(before, before.len()))
            .hint("save it as UTF-8".to_owned())
    })
}

fn too_large(path: &Path) -> ConfigError {
    ConfigError::new(ConfigErrorKind::Unreadable, "it is larger than 1 MiB")
        .in_file(path)
        .hint(
            "check that this is the right file: a configuration is one or two pages long"
                .to_owned(),
        )
}

fn syntax(error: &serde_json::Error, text: &str, path: &Path) -> ConfigError {
    let lines = text.split_inclusive('\n');
    let line_start: usize = lines
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    // serde_json counts bytes, and its column is the last byte that it has read.
    let mut at = line_start + error.column().saturating_sub(1);
    at = text.floor_char_boundary(at);
    let rest = &text[at..];
    let hint = if error.is_eof() {
        "the end is missing; add it or move the file away"
    } else if ["//", "/*", "#"].iter().any(|sign| rest.starts_with(sign)) {
        "remove the comment, because JSON has none"
    } else if rest.starts_with('\'') {
        "use double quotes"
    } else if rest.starts_with([']', '}']) {
        "remove the comma before it"
    } else {
        "repair it or move the file away"
    };
    let message = format!(
        "not valid JSON: {}",
        json_error_message_without_position(error)
    );
    ConfigError::new(ConfigErrorKind::Syntax, message)
        .in_file(path)
        .at_position(position(text, at))
        .hint(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Shelf {
        #[serde(default)]
        books: Vec<Book>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Book {
        pages: u32,
    }

    fn message(text: &str) -> String {
        let file = ConfigFile::parse(text, Path::new("s.json")).expect("JSON");
        let error = file.read::<Shelf>("/shelf").expect_err("no shelf");
        error.to_string()
    }

    #[test]
    fn a_mistake_has_its_line_and_field() {
        for (text, expected) in [
            (
                r#"{"shelf": 1}"#,
                "s.json:1:11: /shelf: expected an object, found a number",
            ),
            (
                "{\"shelf\":\n {\"boks\": []}}",
                "s.json:2:3: /shelf/boks: unknown field `boks`; did you mean `books`?",
            ),
            (
                "{\"shelf\": {\"books\": [{\"pages\": 1},\n {\"pages\": \"x\"}]}}",
                "s.json:2:12: /shelf/books/1/pages: expected a whole number from 0 to 4294967295, found a string",
            ),
            (
                "{\"shelf\": {\"books\": [\n{}]}}",
                "s.json:2:1: /shelf/books/0: the field `pages` is missing; add it",
            ),
        ] {
            assert_eq!(message(text), expected);
        }
    }

    #[test]
    fn unknown_fields_have_a_suggestion() {
        let file = ConfigFile::parse(r#"{"providres": {}}"#, Path::new("m.json")).expect("JSON");

        let error = file.expect_only("", &["providers"]).expect_err("a slip");

        let expected =
            "m.json:1:2: /providres: unknown field `providres`; did you mean `providers`?";
        assert_eq!(error.to_string(), expected);
    }
}
