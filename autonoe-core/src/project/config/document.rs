//! The text of a configuration file, and where its values stand.

use std::io;
use std::path::{Path, PathBuf};

use super::json_tree::{Node, tree};
use super::{ConfigError, ConfigErrorKind};
use crate::project::json_words::placeless_complaint;
use crate::project::plain_file::{Unread, read_plain_file};

/// The largest file that is read.
const LARGEST: u64 = 1024 * 1024;

/// A JSON text with its file.
pub(super) struct Document {
    pub(super) file: PathBuf,
    pub(super) text: String,
    pub(super) root: Node,
    /// Where each line starts, so that a file of many values is explained in time.
    line_starts: Vec<usize>,
}

impl Document {
    /// Reads `text`, which came from `file`.
    pub(super) fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        // Some editors mark UTF-8 so.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let invalid = |message: &str, hint: &str| {
            ConfigError::new(ConfigErrorKind::Syntax, message)
                .in_file(file)
                .hint(hint.to_owned())
        };
        if text.trim().is_empty() {
            return Err(invalid("it is empty", "write {} or remove it"));
        }
        if text.len() as u64 > LARGEST {
            return Err(too_large(file));
        }
        // As a value, which bounds the depth; `IgnoredAny` does not.
        serde_json::from_str::<serde_json::Value>(text)
            .map_err(|error| syntax(&error, text, file))?;
        let root = tree(text).map_err(|twice| {
            let message = format!("the field `{}` stands twice", twice.key);
            ConfigError::new(ConfigErrorKind::UnknownField, message)
                .in_file(file)
                .at_position(position(text, twice.at))
                .at_pointer(twice.pointer)
                .hint("keep one of them".to_owned())
        })?;
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            root,
            line_starts: line_starts(text).collect(),
        })
    }

    /// Places `error` at the value at `pointer`.
    pub(super) fn at_value(&self, pointer: &str, error: ConfigError) -> ConfigError {
        let at = self.root.find(pointer).map(|node| node.span.start);
        self.at(at, pointer, error)
    }

    /// Places `error` at the key of the field at `pointer`.
    pub(super) fn at_key(&self, pointer: &str, error: ConfigError) -> ConfigError {
        let at = self.root.find(pointer).and_then(|node| node.key_at);
        self.at(at, pointer, error)
    }

    fn at(&self, at: Option<usize>, pointer: &str, error: ConfigError) -> ConfigError {
        error
            .in_file(&self.file)
            .at_position(at.map(|at| position(&self.text, at)))
            .at_pointer(pointer)
    }

    /// Returns the line of the value at `pointer`, or that of the nearest value around it.
    pub(super) fn line_of(&self, pointer: &str) -> usize {
        let mut pointer = pointer;
        loop {
            if let Some(node) = self.root.find(pointer) {
                let at = node.span.start;
                return self.line_starts.partition_point(|start| *start <= at);
            }
            pointer = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        }
    }
}

/// Returns the text of `file`, or `None` if there is none.
pub(super) fn read(file: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable =
        |message: &str| ConfigError::new(ConfigErrorKind::Unreadable, message).in_file(file);
    let bytes = read_plain_file(file, LARGEST).map_err(|unread| match unread {
        Unread::NotAFile(found) => {
            let message = format!("it is {}", found.instead_of("a file"));
            unreadable(&message).hint("move it away".to_owned())
        }
        Unread::TooLarge => too_large(file),
        Unread::Refused(error) => {
            let hint = match error.kind() {
                io::ErrorKind::NotADirectory => "its folder is not a folder; move that away",
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

fn too_large(file: &Path) -> ConfigError {
    ConfigError::new(ConfigErrorKind::Unreadable, "it is larger than 1 MiB")
        .in_file(file)
        .hint("a configuration is a page or two; is this the right file?".to_owned())
}

fn syntax(error: &serde_json::Error, text: &str, file: &Path) -> ConfigError {
    let said = placeless_complaint(error);
    // serde_json counts bytes, and stands behind what it has read.
    let line_start = line_starts(text).nth(error.line().saturating_sub(1));
    let mut at = line_start.unwrap_or(0) + error.column().saturating_sub(1);
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    ConfigError::new(ConfigErrorKind::Syntax, format!("not valid JSON: {said}"))
        .in_file(file)
        .at_position(position(text, at))
        .hint(syntax_hint(error, &text[at..]).to_owned())
}

/// Returns how to mend a text that `error` complains of at the start of `rest`.
fn syntax_hint(error: &serde_json::Error, rest: &str) -> &'static str {
    let starts_with = |signs: &[&str]| signs.iter().any(|sign| rest.starts_with(sign));
    if error.is_eof() {
        "the end is missing; add it or move the file away"
    } else if starts_with(&["//", "/*", "#"]) {
        "JSON has no comments"
    } else if starts_with(&["'"]) {
        "JSON has double quotes"
    } else if starts_with(&["]", "}"]) {
        "remove the comma before it"
    } else {
        "mend it or move the file away"
    }
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}

/// Returns line and column of byte `at`, from 1, the column in characters.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    (line, column)
}
