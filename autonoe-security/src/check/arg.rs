//! Arguments of a command after the shell's expansions.

use std::borrow::Cow;

use crate::syntax::{Operation, Part, Span};

/// One argument, as far as the text determines it.
#[derive(Clone, Debug)]
pub(crate) struct Arg<'s> {
    /// The text, up to the first expansion with an unknown value.
    pub(crate) text: Cow<'s, str>,
    /// The position in the script.
    pub(crate) span: Span,
    /// The unknown part.
    pub(crate) unknown: Option<Unknown<'s>>,
    /// Positions of glob characters in the text.
    pub(crate) globs: Vec<usize>,
    /// Whether it starts with an unquoted `~`.
    pub(crate) tilde: bool,
    /// Whether it results from a brace expansion.
    pub(crate) braced: bool,
    /// The text without the variables whose values are known, if there are any: an assignment may
    /// have been skipped.
    pub(crate) without_variables: Option<String>,
    /// The parts of the word.
    pub(crate) parts: Cow<'s, [Part<'s>]>,
}

/// The unknown part of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unknown<'s> {
    /// The first expansion; `None` for a `~` in the middle, or for text that a program inserts,
    /// such as `{}` of find.
    pub(crate) part: Option<&'s Part<'s>>,
    /// Whether quotes keep the whole part in one word.
    pub(crate) quoted: bool,
}

impl<'s> Arg<'s> {
    /// Creates an argument of plain text.
    pub(crate) fn plain(text: impl Into<Cow<'s, str>>, span: Span) -> Self {
        Self {
            text: text.into(),
            span,
            unknown: None,
            globs: Vec::new(),
            tilde: false,
            braced: false,
            without_variables: None,
            parts: Cow::Borrowed(&[]),
        }
    }

    /// Returns whether its text is known.
    pub(crate) fn is_static(&self) -> bool {
        self.unknown.is_none()
    }

    /// Returns whether the shell may match it with names of files.
    pub(crate) fn is_pattern(&self) -> bool {
        !self.globs.is_empty()
    }

    /// Returns whether it is a pattern that may match a file called `name`; false positives are
    /// possible.
    pub(crate) fn may_match(&self, name: &str) -> bool {
        let (Some(first), Some(last)) = (self.globs.first(), self.globs.last()) else {
            return false;
        };
        let (front, end) = (&self.text[..*first], &self.text[*last..]);
        let end = match end.strip_prefix('[') {
            // The first character after `[` may be `]` itself.
            Some(set) => set
                .char_indices()
                .skip(1)
                .find(|(_, c)| *c == ']')
                .map_or("", |(at, _)| &set[at + 1..]),
            None => end.get(1..).unwrap_or_default(),
        };
        name.starts_with(front) && (!self.is_static() || name.ends_with(end))
    }

    /// Returns the text, if it is known and not a pattern.
    pub(crate) fn known(&self) -> Option<&str> {
        (self.is_static() && !self.is_pattern() && !self.tilde).then_some(&self.text)
    }

    /// Returns whether it is literal: it contains no variable, not even one whose value is known.
    pub(crate) fn is_literal(&self) -> bool {
        fn is_text(part: &Part<'_>) -> bool {
            match part {
                Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => true,
                Part::DoubleQuoted(inner) => inner.iter().all(is_text),
                _ => false,
            }
        }
        self.is_static() && self.parts.iter().all(is_text)
    }

    /// Returns whether it is exactly `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.known() == Some(text)
    }

    /// Returns the argument without its first `count` bytes, for the value of an option in the same
    /// argument.
    pub(crate) fn without_first(&self, count: usize) -> Self {
        let text = self.text.get(count..).unwrap_or_default().to_owned();
        Self {
            text: Cow::Owned(text),
            globs: self
                .globs
                .iter()
                .filter_map(|at| at.checked_sub(count))
                .collect(),
            tilde: false,
            ..self.clone()
        }
    }

    /// Returns whether it is a path that starts in the home directory: `~/x` or `"$HOME/x"`.
    pub(crate) fn is_in_home(&self) -> bool {
        let first = self.parts.first().map(|part| match part {
            Part::DoubleQuoted(inner) => inner.first().unwrap_or(part),
            part => part,
        });
        let is_home = matches!(first, Some(Part::Parameter(parameter))
            if parameter.name == "HOME" && parameter.operation == Operation::Value);
        self.tilde || (is_home && self.text.is_empty())
    }

    /// Returns its parts, those in double quotes one by one.
    pub(crate) fn flat_parts(&self) -> impl Iterator<Item = &Part<'s>> {
        flat_parts(&self.parts)
    }

    /// Returns whether `holds` is true for the literal parts of its text.
    pub(crate) fn mentions(&self, holds: impl Fn(&str) -> bool) -> bool {
        if self.is_static() {
            return holds(&self.text);
        }
        mention(&self.parts, holds)
    }
}

/// Returns the parts of a word, those in double quotes one by one.
pub(crate) fn flat_parts<'p, 's>(parts: &'p [Part<'s>]) -> impl Iterator<Item = &'p Part<'s>> {
    parts.iter().flat_map(|part| match part {
        Part::DoubleQuoted(inner) => &inner[..],
        part => std::slice::from_ref(part),
    })
}

/// Placeholder for unknown text.
const UNKNOWN: &str = "\u{fffd}";

/// Returns whether `holds` is true for the literal parts of `parts`.
pub(crate) fn mention(parts: &[Part<'_>], holds: impl Fn(&str) -> bool) -> bool {
    if let [Part::Quoted(text) | Part::Literal(text)] = parts {
        return holds(text);
    }
    // Unknown text may be empty, or anything.
    [UNKNOWN, ""].into_iter().any(|unknown| {
        let mut text = String::new();
        write_down(parts, unknown, &mut text);
        holds(&text)
    })
}

fn write_down(parts: &[Part<'_>], unknown: &str, text: &mut String) {
    for part in parts {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            Part::DoubleQuoted(inner) => write_down(inner, unknown, text),
            Part::Glob(glob) => text.push(*glob),
            _ => text.push_str(unknown),
        }
    }
}
