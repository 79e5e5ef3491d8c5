//! Variables that builtins set by name.

use std::borrow::Cow;

use super::surveyor::Surveyor;
use super::{AssignmentPosition, Value};
use crate::syntax::{ArgWord, Part, SimpleCommand, Text, Word};

impl<'s> Surveyor<'s> {
    /// Finds the variables that a builtin sets by the names in its arguments.
    pub(super) fn names_of_builtin(&mut self, simple: &'s SimpleCommand<'s>) {
        let mut words = simple.words.iter().filter_map(|word| match word {
            ArgWord::Word(word) => Some(word),
            ArgWord::Array(_) => None,
        });
        // `command` may precede any of them.
        let name = words
            .by_ref()
            .map(Word::static_text)
            .find(|name| !matches!(name.as_deref(), Some("command" | "-p" | "--")));
        let Some(Some(name)) = name else {
            return;
        };
        match name.as_ref() {
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                self.declaration(&name, simple, &words.collect::<Vec<_>>());
            }
            "unset" => {
                for name in words.map(literal_prefix) {
                    let variable = self.survey.variable_mut(name);
                    variable.is_declared = true;
                    variable.is_unset = true;
                }
            }
            "mapfile" | "readarray" => self.named(words, "", true),
            "read" => {
                let words: Vec<_> = words.collect();
                let makes_array = words
                    .iter()
                    .any(|word| has_letter(&literal_prefix(word), 'a'));
                self.named(words, "a", makes_array);
            }
            "getopts" => self.named(words, "", false),
            "printf" => {
                let words: Vec<_> = words.collect();
                let first = words.first().map(|word| literal_prefix(word));
                if first.is_some_and(|first| first.starts_with("-v")) {
                    self.named(words, "v", false);
                }
            }
            "shopt" => self.shell_option(words),
            "pushd" | "popd" => self.survey.changes_directory = true,
            "cd" => {
                self.survey.changes_directory = true;
                // Unknown text may contain blanks.
                let splits = |word: &Word<'_>| {
                    let text = word.static_text();
                    text.is_none_or(|text| text.contains([' ', '\t', '\n', '*', '?', '[']))
                };
                self.survey.enters_split_directory |= words.into_iter().any(splits);
            }
            _ => {}
        }
    }

    /// Records `NAME`, `NAME=value` and `NAME=( .. )` after a declaration.
    fn declaration(
        &mut self,
        builtin: &str,
        simple: &'s SimpleCommand<'s>,
        words: &[&'s Word<'s>],
    ) {
        let has = |letter| {
            words
                .iter()
                .any(|word| has_letter(&literal_prefix(word), letter))
        };
        let (indexed, associative) = (has('a'), has('A'));
        if builtin == "readonly" || has('r') {
            self.assignments_may_fail();
        }
        // The others create such an array in a function only, or not at all without a value.
        let makes_associative = associative
            && matches!(builtin, "declare" | "typeset")
            && self.position == AssignmentPosition::AtTop
            && !self.may_be_skipped();
        for word in words {
            let text = literal_prefix(word);
            if text.starts_with(['-', '+']) {
                continue;
            }
            let at = word.span.start();
            let name = match text.split_once('=') {
                Some((name, _)) => Cow::Owned(name.trim_end_matches('+').to_owned()),
                None => text.clone(),
            };
            if makes_associative {
                self.survey.becomes_associative(name.clone(), at);
            }
            if text.contains('=') {
                self.set(name.clone(), at, value_of(word), AssignmentPosition::Other);
            } else {
                self.survey.variable_mut(name.clone()).is_declared = true;
            }
            self.survey.variable_mut(name).is_array |= indexed || associative;
        }
        for word in &simple.words {
            if let ArgWord::Array(array) = word
                && makes_associative
            {
                let name = Cow::Borrowed(array.name.as_ref());
                self.survey.becomes_associative(name, array.span.start());
            }
        }
    }

    /// Records names, which may be in the same argument as one of `options`.
    fn named(
        &mut self,
        words: impl IntoIterator<Item = &'s Word<'s>>,
        options: &str,
        are_arrays: bool,
    ) {
        for word in words {
            let (text, at) = (literal_prefix(word), word.span.start());
            let name = match text.strip_prefix('-') {
                // Letters may precede the one that takes a name.
                Some(letters) => letters
                    .find(|letter| options.contains(letter))
                    .map(|at| at + 2),
                None => Some(0),
            };
            let name = name.and_then(|start| text.get(start..));
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let name: Text<'s> = Cow::Owned(name.to_owned());
                self.set(name.clone(), at, Value::Unknown, AssignmentPosition::Other);
                self.survey.variable_mut(name).is_array |= are_arrays;
            }
        }
    }

    fn shell_option(&mut self, words: impl Iterator<Item = &'s Word<'s>>) {
        for word in words {
            match literal_prefix(word).as_ref() {
                "nullglob" => self.survey.drops_patterns = true,
                // A pattern without a match ends the line.
                "failglob" => self.assignments_may_fail(),
                _ => {}
            }
        }
    }
}

/// Returns the text of a word up to the first expansion.
fn literal_prefix<'s>(word: &'s Word<'s>) -> Text<'s> {
    fn add(parts: &[Part<'_>], text: &mut String) -> bool {
        parts.iter().all(|part| match part {
            Part::Literal(more) | Part::Quoted(more) => {
                text.push_str(more);
                true
            }
            Part::DoubleQuoted(inner) => add(inner, text),
            _ => false,
        })
    }
    match &word.parts[..] {
        [Part::Literal(text) | Part::Quoted(text), ..] if word.parts.len() == 1 => {
            Cow::Borrowed(text)
        }
        parts => {
            let mut text = String::new();
            add(parts, &mut text);
            Cow::Owned(text)
        }
    }
}

/// Returns the text after `=`, if it is easy to determine.
fn value_of<'s>(word: &'s Word<'s>) -> Value<'s> {
    match word.parts.split_first() {
        Some((Part::Literal(first) | Part::Quoted(first), rest)) => match first.split_once('=') {
            Some((_, head)) => Value::String { head, rest },
            None => Value::Unknown,
        },
        _ => Value::Unknown,
    }
}

fn has_letter(text: &str, letter: char) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
}
