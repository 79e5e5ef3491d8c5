//! [`ImportNote`]: a change or an omission of an import.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Map, Value};

use autonoe_core::project::config_parts::below;

/// A change or an omission of an import, with all of its places.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportNote {
    /// Whether it was changed or dropped.
    pub kind: ImportNoteKind,
    /// The change and its reason.
    pub message: String,
    /// The places in the imported folder.
    pub places: Vec<ImportPlace>,
}

/// The treatment of a feature that could not be imported as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportNoteKind {
    /// The flow has a replacement.
    Changed,
    /// The flow lacks it.
    Dropped,
}

/// A place in an imported folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ImportPlace {
    /// The file, relative to the folder.
    pub file: PathBuf,
    /// The JSON pointer; empty for the whole file.
    pub pointer: String,
}

/// The notes of an import. Notes with the same message are merged.
#[derive(Debug, Default)]
pub(super) struct Notes(RefCell<BTreeMap<(ImportNoteKind, String), BTreeSet<ImportPlace>>>);

impl Notes {
    pub(super) fn add(
        &self,
        kind: ImportNoteKind,
        file: impl Into<PathBuf>,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) {
        let place = ImportPlace {
            file: file.into(),
            pointer: pointer.into(),
        };
        let mut notes = self.0.borrow_mut();
        notes
            .entry((kind, message.into()))
            .or_default()
            .insert(place);
    }

    /// Returns the notes, ordered by their first places.
    pub(super) fn into_vec(self) -> Vec<ImportNote> {
        let places_by_note = self.0.into_inner().into_iter();
        let mut notes: Vec<_> = places_by_note
            .map(|((kind, message), places)| ImportNote {
                kind,
                message,
                places: places.into_iter().collect(),
            })
            .collect();
        notes.sort_by(|one, other| one.places.cmp(&other.places));
        notes
    }
}

/// An object of an imported file. Each field must be taken; the others become notes.
pub(super) struct Source<'n> {
    file: PathBuf,
    pointer: String,
    fields: Map<String, Value>,
    notes: &'n Notes,
}

impl<'n> Source<'n> {
    pub(super) fn new(
        file: impl Into<PathBuf>,
        fields: Map<String, Value>,
        notes: &'n Notes,
    ) -> Self {
        Self {
            file: file.into(),
            pointer: String::new(),
            fields,
            notes,
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    pub(super) fn has_object(&self, key: &str) -> bool {
        self.fields.get(key).is_some_and(Value::is_object)
    }

    pub(super) fn names(&self) -> BTreeSet<String> {
        self.fields.keys().cloned().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Removes a value. `null` counts as absent.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            _ => {
                self.dropped(key, "it is not a text");
                None
            }
        }
    }

    /// Removes a list of strings; empty if absent.
    pub(super) fn take_texts(&mut self, key: &str) -> Vec<String> {
        let value = self.take(key).unwrap_or_else(|| Value::Array(Vec::new()));
        serde_json::from_value(value).unwrap_or_else(|_| {
            self.dropped(key, "it is not a list of texts");
            Vec::new()
        })
    }

    /// Removes an object; empty if absent.
    pub(super) fn take_object(&mut self, key: &str) -> Source<'n> {
        let fields = match self.take(key) {
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                self.dropped(key, "it is not an object");
                Map::new()
            }
            None => Map::new(),
        };
        Source {
            file: self.file.clone(),
            pointer: below(&self.pointer, key),
            fields,
            notes: self.notes,
        }
    }

    /// Returns item `number` of the list that was in `key`.
    pub(super) fn item(&self, key: &str, number: usize, item: &Value) -> Source<'n> {
        let pointer = below(&below(&self.pointer, key), &number.to_string());
        Source {
            file: self.file.clone(),
            pointer,
            fields: item.as_object().cloned().unwrap_or_default(),
            notes: self.notes,
        }
    }

    /// Removes all objects, by name.
    pub(super) fn into_objects(mut self) -> BTreeMap<String, Source<'n>> {
        let objects = self.names().into_iter().map(|name| {
            let object = self.take_object(&name);
            (name, object)
        });
        objects.collect()
    }

    /// Returns the remaining fields.
    pub(super) fn into_value(self) -> Value {
        Value::Object(self.fields)
    }

    pub(super) fn changed(&self, key: &str, message: impl Into<String>) {
        self.add(ImportNoteKind::Changed, &[key], message);
    }

    pub(super) fn dropped(&self, key: &str, message: impl Into<String>) {
        self.add(ImportNoteKind::Dropped, &[key], message);
    }

    /// Adds a note about `item` of the object that was in `key`.
    pub(super) fn dropped_item(&self, key: &str, item: &str, message: impl Into<String>) {
        self.add(ImportNoteKind::Dropped, &[key, item], message);
    }

    /// Adds a note about the value at `keys`; an empty key is the object itself.
    fn add(&self, kind: ImportNoteKind, keys: &[&str], message: impl Into<String>) {
        let keys = keys.iter().filter(|key| !key.is_empty());
        let pointer = keys.fold(self.pointer.clone(), |pointer, key| below(&pointer, key));
        self.notes.add(kind, &self.file, pointer, message);
    }

    /// Adds a note for each remaining field, with its reason.
    pub(super) fn drop_rest(self, reasons: &[(&str, &str)]) {
        for key in self.fields.keys() {
            let reason = reasons.iter().find(|(name, _)| name == key);
            let reason = reason.map_or("flows have no such field", |(_, reason)| reason);
            self.dropped(key, reason);
        }
    }
}
