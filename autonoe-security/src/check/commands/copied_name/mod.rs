//! Possible names of a copied file, given the values that the script assigns to its variables.

mod name_matcher;

use self::name_matcher::NameMatcher;
use crate::check::arg::Arg;
use crate::check::scope::Scope;
use crate::check::survey::Value;
use crate::syntax::{Brace, CommandKind, Operation, Parameter, Part, Script, Word};

/// Maximum amount of text to follow before everything counts as possible.
const MOST: usize = 10_000;

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 8;

/// Returns whether the last component of `path` may be `name`; with `anywhere`, whether any
/// component may be.
///
/// A completely unknown component does not count.
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
    let start = NameMatcher::start(name);
    let end = if path.is_static() || path.parts.is_empty() {
        let known = start.push_text(&path.text, &path.globs);
        if path.is_static() {
            known
        } else {
            known.push_unknown()
        }
    } else {
        follower.parts(&path.parts, start)
    };
    follower.left == 0 || end.is_name() || (anywhere && end.is_above())
}

/// Follows the parts of a word.
struct Follower<'f, 's> {
    scope: &'f Scope<'s>,
    /// The remaining amount of text.
    left: usize,
    /// The remaining depth of variables.
    depth: usize,
}

impl Follower<'_, '_> {
    fn parts(&mut self, parts: &[Part<'_>], mut now: NameMatcher) -> NameMatcher {
        for part in parts {
            now = self.part(part, now);
        }
        now
    }

    fn part(&mut self, part: &Part<'_>, now: NameMatcher) -> NameMatcher {
        self.left = self.left.saturating_sub(1);
        match part {
            _ if self.left == 0 => now,
            Part::Literal(text) | Part::Quoted(text) => self.text(text, now),
            Part::DoubleQuoted(inner) => self.parts(inner, now),
            Part::Glob(glob) => now.push_glob(*glob),
            Part::Brace(brace) => match brace.as_ref() {
                Brace::Alternatives(all) => {
                    let ends = all.iter().map(|parts| self.parts(parts, now));
                    ends.reduce(NameMatcher::or).unwrap_or(now)
                }
                Brace::Sequence { .. } => now.push_unknown(),
            },
            Part::Parameter(parameter) => self.parameter(parameter, now),
            Part::CommandSubstitution(inner) => self.printed(&inner.script, now),
            _ => now.push_unknown(),
        }
    }

    fn text(&mut self, text: &str, now: NameMatcher) -> NameMatcher {
        self.left = self.left.saturating_sub(text.len());
        now.push_text(text, &[])
    }

    /// Follows all possible values of a parameter: those that the script assigns, or anything.
    fn parameter(&mut self, parameter: &Parameter<'_>, now: NameMatcher) -> NameMatcher {
        let mut ends = now.push_unknown();
        let Some(depth) = self.depth.checked_sub(1) else {
            return ends;
        };
        let above = std::mem::replace(&mut self.depth, depth);
        if let Operation::Substitute { word, .. } = &parameter.operation {
            ends = ends.or(self.parts(&word.parts, now));
        }
        let variable = self.scope.survey().variable(&parameter.name);
        for given in variable.map_or(&[][..], |variable| &variable.values) {
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
                Value::Number | Value::Unknown => now.push_unknown(),
            });
        }
        self.depth = above;
        ends
    }

    fn one_of<'w, 's: 'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word<'s>>,
        now: NameMatcher,
    ) -> NameMatcher {
        let ends = words.into_iter().map(|word| self.parts(&word.parts, now));
        ends.reduce(NameMatcher::or).unwrap_or(now)
    }

    /// Follows the possible output of a command: one of its words, or anything.
    fn printed(&mut self, script: &Script<'_>, now: NameMatcher) -> NameMatcher {
        let command = script.only_command().map(|command| &command.kind);
        let Some(CommandKind::Simple(simple)) = command else {
            return now.push_unknown();
        };
        let words = simple.words.iter().filter_map(|word| word.static_text());
        let ends = words.map(|word| self.text(&word, now));
        ends.fold(now.push_unknown(), NameMatcher::or)
    }
}
