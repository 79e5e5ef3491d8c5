//! Variables that builtins set, whose names are their arguments.

use super::surveyor::Surveyor;
use super::{Stands, Value};
use crate::syntax::{ArgWord, Part, SimpleCommand, Word};

impl<'s> Surveyor<'s> {
    /// Finds the variables that a builtin sets whose names are its arguments.
    pub(super) fn names_of_builtin(&mut self, simple: &'s SimpleCommand<'s>) {
        let mut words = simple.words.iter().filter_map(|word| match word {
            ArgWord::Word(word) => Some(word),
            ArgWord::Array(_) => None,
        });
        // `command` may stand in front of any of them.
        let name = words
            .by_ref()
            .map(Word::static_text)
            .find(|name| !matches!(name.as_deref(), Some("command" | "-p" | "--")));
        let Some(Some(name)) = name else {
            return;
        };
        match name.as_ref() {
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                self.declaration(simple, words);
            }
            "unset" => {
                for word in words {
                    if let Some(name) = name_of(word) {
                        let variable = self.survey.variable_mut(name);
                        variable.is_declared = true;
                        variable.is_unset = true;
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "printf" => {
                for word in words {
                    if let Some(text) = name_of(word) {
                        self.named(text, word.span.start());
                    }
                }
            }
            "shopt" => {
                let mut words = words.map(Word::static_text);
                self.survey.drops_patterns |= words.any(|word| word.as_deref() == Some("nullglob"));
            }
            _ => {}
        }
    }

    /// Takes notice of `NAME`, `NAME=value` and `NAME=( .. )` behind a declaration.
    fn declaration(
        &mut self,
        simple: &'s SimpleCommand<'s>,
        words: impl Iterator<Item = &'s Word<'s>>,
    ) {
        let mut associative = false;
        for word in words {
            let at = word.span.start();
            let Some((Part::Literal(text) | Part::Quoted(text), rest)) = word.parts.split_first()
            else {
                continue;
            };
            if let Some(letters) = text.strip_prefix('-') {
                associative |= letters.contains('A');
            }
            match text.split_once('=') {
                Some((name, head)) => {
                    let name = name.trim_end_matches('+');
                    self.set(name, at, Value::String { head, rest }, Stands::Elsewhere);
                }
                None => {
                    let variable = self.survey.variable_mut(text);
                    variable.is_declared = true;
                    if associative && self.stands == Stands::AtTop {
                        variable.associative_from.get_or_insert(at);
                    }
                }
            }
        }
        for word in &simple.words {
            if let ArgWord::Array(array) = word
                && associative
                && self.stands == Stands::AtTop
            {
                let variable = self.survey.variable_mut(&array.name);
                variable.associative_from.get_or_insert(array.span.start());
            }
        }
    }

    /// Takes notice of a name, which may be written together with its option: `-vname`.
    fn named(&mut self, text: &'s str, at: usize) {
        let is_option = text.starts_with('-') && text.len() < 40;
        let starts = if is_option { 1..text.len() } else { 0..1 };
        for start in starts {
            if let Some(name) = text.get(start..).filter(|name| !name.is_empty()) {
                self.set(name, at, Value::Unknown, Stands::Elsewhere);
            }
        }
    }
}

/// Returns the text with which a word begins, if it begins with text.
fn name_of<'s>(word: &'s Word<'s>) -> Option<&'s str> {
    match word.parts.first() {
        Some(Part::Literal(text) | Part::Quoted(text)) => Some(text),
        Some(Part::DoubleQuoted(inner)) => match inner.first() {
            Some(Part::Literal(text) | Part::Quoted(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
