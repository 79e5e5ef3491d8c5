//! A JSON file of a definition, read into its type.

use std::path::Path;

use autonoe_core::json_complaint;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::json_places::JsonPlaces;
use super::loader::LoadError;
use crate::definition::nested::{below, pointer_to, split_pointer};
use crate::definition::strict::Strict;
use crate::finding::{Finding, FindingKind};
use crate::suggest::suggest;

/// Reads `text`, which came from `file`, and says where its values stand.
pub(super) fn parse<T: DeserializeOwned>(
    text: &str,
    file: &Path,
) -> Result<(T, JsonPlaces), LoadError> {
    if text.trim().is_empty() {
        return Err(LoadError::new(Finding::new(
            FindingKind::Syntax,
            file,
            "",
            "it is empty",
            "write an object",
        )));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| syntax(&error, text, file))?;
    let places = JsonPlaces::of(text).map_err(|twice| {
        let message = match twice.pointer.strip_prefix("/steps/") {
            Some(rest) if !rest.contains('/') => format!("the step `{}` stands twice", twice.key),
            _ => format!("the field `{}` stands twice", twice.key),
        };
        let hint = "keep one of them, or give the other another name";
        let finding = Finding::new(FindingKind::Duplicate, file, twice.pointer, message, hint);
        LoadError::new(finding.at(Some(twice.position)))
    })?;
    match serde_path_to_error::deserialize(Strict(value)) {
        Ok(value) => Ok((value, places)),
        Err(error) => Err(shape(&error, &places, file)),
    }
}

fn syntax(error: &serde_json::Error, text: &str, file: &Path) -> LoadError {
    let line = text.lines().nth(error.line().saturating_sub(1));
    let line = line.unwrap_or_default();
    // serde_json counts bytes, and stands behind what it has read.
    let mut at = error.column().saturating_sub(1).min(line.len());
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    let (before, rest) = line.split_at(at);
    let starts_with = |signs: &[&str]| signs.iter().any(|sign| rest.starts_with(sign));
    let hint = if error.is_eof() {
        "the end is missing"
    } else if starts_with(&["//", "/*", "#"]) {
        "JSON has no comments"
    } else if starts_with(&["'"]) {
        "JSON has double quotes"
    } else if starts_with(&["]", "}"]) {
        "remove the comma before it"
    } else {
        "mend it here or just before"
    };
    let message = format!("not valid JSON: {}", placeless(error));
    let finding = Finding::new(FindingKind::Syntax, file, "", message, hint);
    LoadError::new(finding.at(Some((error.line(), before.chars().count() + 1))))
}

/// Says what `error` is about, without the place, which is told otherwise.
fn placeless(error: &serde_json::Error) -> String {
    let complaint = json_complaint(error);
    match complaint.split_once(": ") {
        Some((_, said)) if error.line() > 0 => said.to_owned(),
        _ => complaint,
    }
}

fn shape(
    error: &serde_path_to_error::Error<serde_json::Error>,
    places: &JsonPlaces,
    file: &Path,
) -> LoadError {
    let said = placeless(error.inner());
    let (inner, said) = split_pointer(&said);
    let mut pointer = format!("{}{inner}", pointer_to(error.path()));
    let (message, hint) = words(said);
    let position = match unknown_field(said) {
        Some(name) => {
            let ending = below("", name);
            if !pointer.ends_with(&ending) {
                pointer.push_str(&ending);
            }
            places.of_key(&pointer)
        }
        None => places.of_value(&pointer),
    };
    let finding = Finding::new(FindingKind::Shape, file, pointer, message, hint);
    LoadError::new(finding.at(position))
}

fn unknown_field(said: &str) -> Option<&str> {
    let rest = said.strip_prefix("unknown field `")?;
    rest.split_once('`').map(|(name, _)| name)
}

/// Parts what is said into what is wrong and how to mend it.
fn words(said: &str) -> (String, String) {
    let (message, rest) = said.split_once("; ").unwrap_or((said, ""));
    if let Some(known) = rest
        .strip_prefix("known are ")
        .or_else(|| rest.strip_prefix("known is "))
    {
        let word = message.split('`').nth(1).unwrap_or_default();
        let names = known.split('`').skip(1).step_by(2);
        let hint = match (word, suggest(word, names)) {
            ("bypassPermissions", _) => {
                "guards judge every call of an agent; name what it may use in `allowedTools`"
                    .to_owned()
            }
            (_, Some(meant)) => format!("did you mean `{meant}`?"),
            _ => rest.to_owned(),
        };
        return (message.to_owned(), hint);
    }
    let hint = match rest {
        "" if message.ends_with("is missing") => "add it",
        "" if message.ends_with("found null") => "write a value, or leave it out",
        "" if message.contains("it is none of the values") => {
            "a value is a text, a number, true, false, or an object with `from`"
        }
        rest => rest,
    };
    (message.to_owned(), hint.to_owned())
}
