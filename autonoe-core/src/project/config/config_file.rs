//! A JSON file of settings, read section by section.

use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::cursor::Cursor;
use super::document::{Document, read};
use super::expected::Expected;
use super::json_tree::{Content, Node, below};
use super::{ConfigError, ConfigErrorKind};
use crate::project::json_words::placeless_complaint;

const OBJECT: Expected<'_> = Expected::new("an object", "{}");

/// A JSON file of settings that is read section by section, so that a mistake is told with the
/// file, the line and the field.
///
/// For files of whoever embeds the library; `.autonoe/agent.json` is an
/// [`AgentConfig`](super::AgentConfig).
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::ConfigFile;
///
/// let text = "{\"ports\": {\"web\": 8080,\n\"mail\": \"x\"}}";
/// let file = ConfigFile::parse(text, Path::new("ports.json"))?;
///
/// assert_eq!(file.names("/ports")?, ["web", "mail"]);
/// assert_eq!(file.read::<u16>("/ports/web")?, Some(8080));
/// assert_eq!(file.read::<u16>("/ports/ftp")?, None);
/// assert_eq!(
///     file.read::<u16>("/ports/mail").expect_err("it is no number").to_string(),
///     "ports.json:2:9: /ports/mail: expected a whole number from 0 on, found the text \"x\""
/// );
/// # Ok::<(), autonoe_core::ConfigError>(())
/// ```
pub struct ConfigFile {
    document: Document,
}

impl ConfigFile {
    /// Reads a file, or returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// There is something that is no JSON, has a field twice, or is larger than 1 MiB.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>, ConfigError> {
        let path = path.as_ref();
        match read(path)? {
            Some(text) => Self::parse(&text, path).map(Some),
            None => Ok(None),
        }
    }

    /// Reads `text`; `file` is where it came from, for messages.
    ///
    /// # Errors
    ///
    /// As for [`load`](Self::load).
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let document = Document::parse(text, file)?;
        Ok(Self { document })
    }

    /// Returns the JSON pointer to the field `name` of the value at `pointer`.
    pub fn below(pointer: &str, name: &str) -> String {
        below(pointer, name)
    }

    /// Returns the names of the fields of the object at `pointer`, in the order of the file;
    /// none if nothing is there.
    ///
    /// # Errors
    ///
    /// There is something else than an object.
    pub fn names(&self, pointer: &str) -> Result<Vec<&str>, ConfigError> {
        let Some(cursor) = self.cursor(pointer) else {
            return Ok(Vec::new());
        };
        let fields = cursor.fields(OBJECT)?;
        Ok(fields.into_iter().map(|(name, _)| name).collect())
    }

    /// Checks that the object at `pointer`, if there is one, has no other fields than `known`.
    ///
    /// # Errors
    ///
    /// It has, or is something else.
    pub fn expect_only(&self, pointer: &str, known: &[&str]) -> Result<(), ConfigError> {
        match self.cursor(pointer) {
            Some(cursor) => cursor.known_fields(OBJECT, known).map(drop),
            None => Ok(()),
        }
    }

    /// Reads the value at `pointer`; `None` if nothing is there.
    ///
    /// # Errors
    ///
    /// It is no `T`. The error is placed at the field that it is about, as far as that is known.
    pub fn read<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>, ConfigError> {
        let Some(cursor) = self.cursor(pointer) else {
            return Ok(None);
        };
        serde_json::from_str(cursor.text())
            .map(Some)
            .map_err(|error| {
                let said = placeless_complaint(&error);
                if let Some(place) = unknown_field(&said).and_then(|key| only(&cursor, key)) {
                    let error = ConfigError::new(ConfigErrorKind::UnknownField, said);
                    return self.document.at_key(&place, error);
                }
                let place = innermost(&cursor, end_of(cursor.text(), &error));
                let error = ConfigError::new(ConfigErrorKind::InvalidValue, said);
                self.document.at_value(&place, error)
            })
    }

    /// Makes an error about the value at `pointer`.
    pub fn problem(
        &self,
        pointer: &str,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) -> ConfigError {
        let error = ConfigError::new(ConfigErrorKind::InvalidValue, message).hint(hint);
        self.document.at_value(pointer, error)
    }

    fn cursor(&self, pointer: &str) -> Option<Cursor<'_>> {
        Some(Cursor {
            document: &self.document,
            node: self.document.root.find(pointer)?,
            pointer: pointer.to_owned(),
        })
    }
}

impl fmt::Debug for ConfigFile {
    // What stands in it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfigFile")
            .field(&self.document.file)
            .finish()
    }
}

/// Returns the field that a complaint does not know.
fn unknown_field(said: &str) -> Option<&str> {
    said.strip_prefix("unknown field `")?.split('`').next()
}

/// Returns the pointer to the field `key` below `cursor`, if there is one of this name only.
fn only(cursor: &Cursor<'_>, key: &str) -> Option<String> {
    let mut found = Vec::new();
    collect(cursor.node, &cursor.pointer, key, &mut found);
    match found.len() {
        1 => found.pop(),
        _ => None,
    }
}

fn collect(node: &Node, pointer: &str, key: &str, found: &mut Vec<String>) {
    for (name, child) in children(node) {
        let place = below(pointer, &name);
        collect(child, &place, key, found);
        if name == key && child.key_at.is_some() {
            found.push(place);
        }
    }
}

/// Returns the pointer to the innermost value that ends at byte `at` of the value of `cursor`,
/// or around it.
fn innermost(cursor: &Cursor<'_>, at: usize) -> String {
    let at = cursor.node.span.start + at;
    let (mut node, mut pointer) = (cursor.node, cursor.pointer.clone());
    loop {
        let inner = children(node)
            .into_iter()
            .find(|(_, child)| child.span.start < at && at <= child.span.end);
        let Some((name, child)) = inner else {
            return pointer;
        };
        (node, pointer) = (child, below(&pointer, &name));
    }
}

fn children(node: &Node) -> Vec<(String, &Node)> {
    match &node.content {
        Content::Object(fields) => fields
            .iter()
            .map(|(name, node)| (name.clone(), node))
            .collect(),
        Content::List(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, node)| (index.to_string(), node))
                .collect()
        }
        Content::Scalar(_) => Vec::new(),
    }
}

/// Returns the byte behind what was read when `error` was met.
fn end_of(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    before + error.column()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is only read")]
    struct Shelf {
        #[serde(default)]
        books: Vec<Book>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is only read")]
    struct Book {
        pages: u32,
    }

    fn complaint(text: &str) -> String {
        let file = ConfigFile::parse(text, Path::new("s.json")).expect("JSON");
        let error = file.read::<Shelf>("/shelf").expect_err("it is no shelf");
        error.to_string()
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_field() {
        for (text, expected) in [
            (
                r#"{"shelf": 1}"#,
                "s.json:1:11: /shelf: expected an object, found the number 1",
            ),
            (
                "{\"shelf\":\n {\"boks\": []}}",
                "s.json:2:3: /shelf/boks: unknown field `boks`; known is `books`",
            ),
            (
                "{\"shelf\": {\"books\": [{\"pages\": 1},\n {\"pages\": \"x\"}]}}",
                "s.json:2:12: /shelf/books/1/pages: expected a whole number from 0 on, found the text \"x\"",
            ),
            (
                "{\"shelf\": {\"books\": [\n{}]}}",
                "s.json:2:1: /shelf/books/0: the field `pages` is missing",
            ),
        ] {
            assert_eq!(complaint(text), expected);
        }
    }

    #[test]
    fn fields_that_nobody_knows_are_told_with_what_was_meant() {
        let file = ConfigFile::parse(r#"{"providres": {}}"#, Path::new("m.json")).expect("JSON");

        let error = file.expect_only("", &["providers"]).expect_err("a slip");

        let expected =
            "m.json:1:2: /providres: unknown field `providres`; did you mean `providers`?";
        assert_eq!(error.to_string(), expected);
    }
}
