//! Possible texts of a word, as path patterns.

use crate::check::arg::{Arg, Unknown};
use crate::check::path_pattern::{self, ANY, EXPANSION, STAR};
use crate::check::scope::Scope;
use crate::check::survey::Value;
use crate::syntax::{ArgWord, Brace, CommandKind, Operation, Parameter, Part, Script, Word};

/// Placeholder for the user's home as a whole component.
pub(super) const HOME: &str = "\u{4}";
/// Placeholder for the command's working directory, or the root of the project.
pub(super) const PROJECT: &str = "\u{5}";

/// A value that an expansion changes, such as `${x%y}`, or that is too long to follow: any text.
pub(crate) const CHANGED: char = '\u{6}';

/// Maximum number of possible texts of one word.
const MOST: usize = 64;

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 4;

/// Maximum number of parts of one word.
const MOST_PARTS: usize = 500;

/// Returns the possible texts of an argument.
pub(super) fn from_arg(scope: &Scope<'_>, arg: &Arg<'_>) -> Vec<String> {
    // The text of an argument does not include its tilde.
    let is_written = (arg.is_static() && !arg.tilde) || arg.parts.is_empty();
    match arg.unknown {
        // The input of xargs, which the same script may contain.
        Some(Unknown { part: None, .. }) => any_text(vec![arg.text.to_string()]),
        _ if is_written => vec![path_pattern::from_arg(arg)],
        _ => from_parts(scope, &arg.parts),
    }
}

/// Returns the possible texts of the parts of a word.
pub(super) fn from_parts(scope: &Scope<'_>, parts: &[Part<'_>]) -> Vec<String> {
    let mut writer = Writer {
        scope,
        depth: DEEPEST,
        left: MOST_PARTS,
        in_set: false,
    };
    writer.parts(parts, vec![String::new()])
}

struct Writer<'f, 's> {
    scope: &'f Scope<'s>,
    /// The remaining depth of variables.
    depth: usize,
    /// The remaining number of parts.
    left: usize,
    /// Whether a bracket of a pattern is open.
    in_set: bool,
}

impl Writer<'_, '_> {
    fn parts(&mut self, parts: &[Part<'_>], mut texts: Vec<String>) -> Vec<String> {
        for part in parts {
            texts = self.part(part, texts);
        }
        texts
    }

    fn part(&mut self, part: &Part<'_>, texts: Vec<String>) -> Vec<String> {
        self.left = self.left.saturating_sub(1);
        match part {
            _ if self.left == 0 => any_text(texts),
            Part::Literal(text) | Part::Quoted(text) if self.in_set => match text.split_once(']') {
                Some((_, rest)) => {
                    self.in_set = false;
                    push(texts, rest)
                }
                None => texts,
            },
            Part::Literal(text) | Part::Quoted(text) => push(texts, text),
            Part::DoubleQuoted(inner) => self.parts(inner, texts),
            Part::Glob('*') => push(texts, STAR.encode_utf8(&mut [0; 4])),
            Part::Glob(glob) => {
                self.in_set |= *glob == '[';
                push(texts, ANY.encode_utf8(&mut [0; 4]))
            }
            Part::Tilde(text) if text.starts_with(['+', '-']) => any_text(texts),
            Part::Tilde(_) => push(texts, HOME),
            Part::Brace(brace) => match brace.as_ref() {
                Brace::Alternatives(all) if all.len() > MOST => any_text(texts),
                Brace::Alternatives(all) => {
                    let ends = all.iter().map(|parts| self.parts(parts, texts.clone()));
                    capped(ends.flatten().collect(), texts)
                }
                Brace::Sequence { .. } => unknown(texts),
            },
            Part::Parameter(parameter) => self.parameter(parameter, texts),
            Part::CommandSubstitution(inner) => self.printed(&inner.script, texts),
            _ => unknown(texts),
        }
    }

    fn parameter(&mut self, parameter: &Parameter<'_>, texts: Vec<String>) -> Vec<String> {
        match (parameter.name.as_ref(), &parameter.operation) {
            (_, Operation::Length) => return push(texts, "0"),
            ("HOME", _) => return push(texts, HOME),
            ("PWD" | "OLDPWD", _) if self.scope.survey().variable(&parameter.name).is_none() => {
                return push(texts, PROJECT);
            }
            (_, Operation::Value | Operation::Substitute { .. }) => {}
            _ => return any_text(texts),
        }
        let Some(depth) = self.depth.checked_sub(1) else {
            return unknown(texts);
        };
        let above = std::mem::replace(&mut self.depth, depth);
        let mut ends = Vec::new();
        if let Operation::Substitute { word, .. } = &parameter.operation {
            ends.extend(self.parts(&word.parts, texts.clone()));
        }
        let variable = self.scope.survey().variable(&parameter.name);
        if variable.is_some_and(|variable| !variable.has_few_values()) {
            self.depth = above;
            return any_text(texts);
        }
        let given = variable.map_or(&[][..], |variable| &variable.values);
        for given in given {
            match given.value {
                Value::String { head, rest } => {
                    let start = push(texts.clone(), head);
                    ends.extend(self.parts(rest, start));
                }
                Value::OneOf(words) => ends.extend(self.one_of(words.iter(), &texts)),
                Value::Array(elements) => {
                    let words = elements.iter().map(|element| &element.value);
                    ends.extend(self.one_of(words, &texts));
                }
                Value::Number => ends.extend(push(texts.clone(), "0")),
                // The script may set it in other ways, as in `read x <<< ..` and `x=.. bash -c ..`.
                Value::Unknown => ends.extend(any_text(texts.clone())),
            }
        }
        if given.is_empty() {
            ends.extend(unknown(texts.clone()));
        }
        self.depth = above;
        capped(ends, texts)
    }

    fn one_of<'w, 's: 'w>(
        &mut self,
        words: impl Iterator<Item = &'w Word<'s>>,
        texts: &[String],
    ) -> Vec<String> {
        let ends = words.map(|word| self.parts(&word.parts, texts.to_vec()));
        ends.flatten().collect()
    }

    /// Adds the output of a command, if it is known.
    fn printed(&mut self, script: &Script<'_>, texts: Vec<String>) -> Vec<String> {
        let command = script.only_command().map(|command| &command.kind);
        let Some(CommandKind::Simple(simple)) = command else {
            return unknown(texts);
        };
        let words: Vec<_> = simple.words.iter().map(ArgWord::static_text).collect();
        let words: Vec<Option<&str>> = words.iter().map(|word| word.as_deref()).collect();
        match words[..] {
            [Some("pwd")] | [Some("git"), Some("rev-parse"), Some("--show-toplevel")] => {
                push(texts, PROJECT)
            }
            [Some("printf"), Some(format)] if !format.contains(['%', '\\']) => push(texts, format),
            [Some("echo"), _] => match &simple.words[1] {
                ArgWord::Word(word) => self.parts(&word.parts, texts),
                ArgWord::Array(_) => unknown(texts),
            },
            _ => unknown(texts),
        }
    }
}

fn push(mut texts: Vec<String>, end: &str) -> Vec<String> {
    for text in &mut texts {
        text.push_str(end);
    }
    texts
}

fn unknown(texts: Vec<String>) -> Vec<String> {
    push(texts, EXPANSION.encode_utf8(&mut [0; 4]))
}

fn any_text(texts: Vec<String>) -> Vec<String> {
    push(texts, CHANGED.encode_utf8(&mut [0; 4]))
}

/// Returns `ends`, or `texts` with any suffix if there are too many.
fn capped(ends: Vec<String>, texts: Vec<String>) -> Vec<String> {
    if ends.len() <= MOST {
        ends
    } else {
        any_text(texts)
    }
}
