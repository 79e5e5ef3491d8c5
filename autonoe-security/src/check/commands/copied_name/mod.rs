//! What the copy of a file may be called, with the values that the script gives to its variables.

mod reached;

use self::reached::Reached;
use crate::check::arg::Arg;
use crate::check::scope::Scope;
use crate::check::survey::Value;
use crate::syntax::{Brace, CommandKind, Operation, Parameter, Part, Script, Word};

/// How much text is followed before everything counts as possible.
const MOST: usize = 10_000;

/// How many variables are followed that are set to one another.
const DEEPEST: usize = 8;

/// Tells whether the last component of `path` may be `name`; with `anywhere`, whether any may be.
///
/// A component of which nothing is known does not count.
pub(super) fn may_be(
    scope: &Scope<'_>,
    path: &Arg<'_>,
    name: &'static str,
    anywhere: bool,
) -> bool {
    let mut follower = Follower {
        scope,
        left: MOST,
        depth: DEEPEST,
    };
    let start = Reached::start(name);
    let end = if path.is_static() || path.parts.is_empty() {
        let known = start.written(&path.text, &path.globs);
        if path.is_static() {
            known
        } else {
            known.unknown()
        }
    } else {
        follower.parts(&path.parts, start)
    };
    follower.left == 0 || end.is_name() || (anywhere && end.is_above())
}

/// Follows the parts of a word.
struct Follower<'f, 's> {
    scope: &'f Scope<'s>,
    /// How much text is still followed.
    left: usize,
    /// How many variables are still followed into one another.
    depth: usize,
}

impl Follower<'_, '_> {
    fn parts(&mut self, parts: &[Part<'_>], mut now: Reached) -> Reached {
        for part in parts {
            now = self.part(part, now);
        }
        now
    }

    fn part(&mut self, part: &Part<'_>, now: Reached) -> Reached {
        self.left = self.left.saturating_sub(1);
        match part {
            _ if self.left == 0 => now,
            Part::Literal(text) | Part::Quoted(text) => self.text(text, now),
            Part::DoubleQuoted(inner) => self.parts(inner, now),
            Part::Glob(glob) => now.glob(*glob),
            Part::Brace(brace) => match brace.as_ref() {
                Brace::Alternatives(all) => {
                    let ends = all.iter().map(|parts| self.parts(parts, now));
                    ends.reduce(Reached::or).unwrap_or(now)
                }
                Brace::Sequence { .. } => now.unknown(),
            },
            Part::Parameter(parameter) => self.parameter(parameter, now),
            Part::CommandSubstitution(inner) => self.printed(&inner.script, now),
            _ => now.unknown(),
        }
    }

    fn text(&mut self, text: &str, now: Reached) -> Reached {
        self.left = self.left.saturating_sub(text.len());
        now.written(text, &[])
    }

    /// Follows everything that a parameter may be: what the script sets it to, or anything.
    fn parameter(&mut self, parameter: &Parameter<'_>, now: Reached) -> Reached {
        let mut ends = now.unknown();
        let Some(depth) = self.depth.checked_sub(1) else {
            return ends;
        };
        let above = std::mem::replace(&mut self.depth, depth);
        if let Operation::Substitute { word, .. } = &parameter.operation {
            ends = ends.or(self.parts(&word.parts, now));
        }
        let variable = self.scope.survey().variable(&parameter.name);
        for given in variable.map_or(&[][..], |variable| &variable.given) {
            ends = ends.or(match given.value {
                Value::String { head, rest } => {
                    let behind_head = self.text(head, now);
                    self.parts(rest, behind_head)
                }
                Value::OneOf(words) => self.one_of(words, now),
                Value::Array(elements) => {
                    let values = elements.iter().map(|element| &element.value);
                    self.one_of(values, now)
                }
                Value::Number | Value::Unknown => now.unknown(),
            });
        }
        self.depth = above;
        ends
    }

    fn one_of<'w, 's: 'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word<'s>>,
        now: Reached,
    ) -> Reached {
        let ends = words.into_iter().map(|word| self.parts(&word.parts, now));
        ends.reduce(Reached::or).unwrap_or(now)
    }

    /// Follows what a command may print: one of its words, or anything.
    fn printed(&mut self, script: &Script<'_>, now: Reached) -> Reached {
        let command = script.only_command().map(|command| &command.kind);
        let Some(CommandKind::Simple(simple)) = command else {
            return now.unknown();
        };
        let words = simple.words.iter().filter_map(|word| word.static_text());
        let ends = words.map(|word| self.text(&word, now));
        ends.fold(now.unknown(), Reached::or)
    }
}
