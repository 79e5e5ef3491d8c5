//! Turns words into arguments.

use std::borrow::Cow;

use super::arg::{Arg, Unknown};
use super::braces::{self, MOST_ARGS};
use super::scope::Scope;
use super::survey::{AssignmentPosition, Value};
use crate::syntax::{Operation, Part, Span, Subscript, Word, static_text};
use crate::{Denial, Rule};

/// Adds the arguments that `word` expands to: mostly one, several with braces, none for an empty
/// variable.
pub(crate) fn arguments<'s>(
    word: &'s Word<'s>,
    scope: &Scope<'s>,
    args: &mut Vec<Arg<'s>>,
) -> Result<(), Denial> {
    // Most words are plain text.
    if let [part] = &word.parts[..] {
        let text = match part {
            Part::Literal(text) | Part::Quoted(text) => Some(text),
            Part::DoubleQuoted(inner) => match &inner[..] {
                [Part::Literal(text) | Part::Quoted(text)] => Some(text),
                _ => None,
            },
            _ => None,
        };
        if let Some(text) = text {
            let is_bare = matches!(part, Part::Literal(_));
            args.push(Arg {
                parts: Cow::Borrowed(if is_bare { &[] } else { &word.parts }),
                ..Arg::plain(text.as_ref(), word.span)
            });
            return Ok(());
        }
    }
    if !word.parts.iter().any(is_brace) {
        args.extend(argument(Cow::Borrowed(&word.parts), word.span, scope));
        return Ok(());
    }
    let Some(words) = braces::expand(&word.parts) else {
        let reason = format!("the braces make more than {MOST_ARGS} words");
        return Err(Denial::by(Rule::R1, word.span, reason).instead("write the words out"));
    };
    for parts in words {
        let made = argument(Cow::Owned(parts), word.span, scope);
        args.extend(made.map(|arg| Arg {
            braced: true,
            ..arg
        }));
    }
    Ok(())
}

fn is_brace(part: &Part<'_>) -> bool {
    matches!(part, Part::Brace(_))
}

/// Returns the argument that `parts` form, or `None` if they expand to nothing.
fn argument<'s>(parts: Cow<'s, [Part<'s>]>, span: Span, scope: &Scope<'s>) -> Option<Arg<'s>> {
    let mut builder = ArgBuilder {
        text: String::new(),
        unknown: None,
        globs: Vec::new(),
        tilde: false,
        is_there: false,
        without_variables: None,
        before: span.start(),
        scope,
    };
    match &parts {
        Cow::Borrowed(parts) => builder.add_all(parts),
        // References to its expansions are impossible; their unknown parts stay unknown.
        Cow::Owned(parts) => builder.add_copies(parts),
    }
    builder.is_there.then_some(Arg {
        text: Cow::Owned(builder.text),
        span,
        unknown: builder.unknown,
        globs: builder.globs,
        tilde: builder.tilde,
        braced: false,
        without_variables: builder.without_variables,
        parts,
    })
}

struct ArgBuilder<'s, 'f> {
    text: String,
    unknown: Option<Unknown<'s>>,
    globs: Vec<usize>,
    tilde: bool,
    /// Whether there is an argument at all.
    is_there: bool,
    without_variables: Option<String>,
    before: usize,
    scope: &'f Scope<'s>,
}

impl<'s> ArgBuilder<'s, '_> {
    fn add_all(&mut self, parts: &'s [Part<'s>]) {
        for part in parts {
            match part {
                Part::DoubleQuoted(inner) => {
                    self.is_there = true;
                    for part in inner {
                        self.add(part, Some(part), true);
                    }
                }
                part => self.add(part, Some(part), false),
            }
        }
    }

    fn add_copies(&mut self, parts: &[Part<'s>]) {
        for part in parts {
            match part {
                Part::DoubleQuoted(inner) => {
                    self.is_there = true;
                    for part in inner {
                        self.add(part, None, true);
                    }
                }
                part => self.add(part, None, false),
            }
        }
    }

    fn add(&mut self, part: &Part<'s>, place: Option<&'s Part<'s>>, quoted: bool) {
        let is_first = self.text.is_empty() && self.unknown.is_none();
        match part {
            Part::Literal(text) | Part::Quoted(text) => self.push(text),
            Part::Glob(glob) => {
                match &mut self.unknown {
                    None => self.globs.push(self.text.len()),
                    // It may match several names.
                    Some(unknown) => unknown.quoted = false,
                }
                self.push(glob.encode_utf8(&mut [0; 4]));
            }
            // `~-`, `~+` and `~1` are directories that the shell has been in.
            Part::Tilde(text) if is_first && !is_visited_directory(text) => {
                self.tilde = true;
                self.push(text);
            }
            part => match self.value_of(part, quoted) {
                Some((value, _)) if value.is_empty() && !quoted => {}
                Some((value, true)) => self.push(&value),
                Some((value, false)) => {
                    let before = self.without_variables.take();
                    let before = before.unwrap_or_else(|| self.text.clone());
                    self.push(&value);
                    self.without_variables = Some(before);
                }
                None => {
                    self.is_there = true;
                    let quoted = quoted && !is_several(part);
                    let unknown = self.unknown.get_or_insert(Unknown {
                        part: place,
                        quoted,
                    });
                    unknown.quoted &= quoted;
                }
            },
        }
    }

    fn push(&mut self, text: &str) {
        self.is_there = true;
        if self.unknown.is_none() {
            self.text.push_str(text);
            if let Some(other) = &mut self.without_variables {
                other.push_str(text);
            }
        }
    }

    /// Returns the value of a variable that is the same for all uses.
    fn value_of(&self, part: &Part<'s>, quoted: bool) -> Option<(Cow<'s, str>, bool)> {
        let Part::Parameter(parameter) = part else {
            return None;
        };
        if parameter.operation != Operation::Value || parameter.subscript.is_some() {
            return None;
        }
        let (value, is_sure) = static_value(self.scope, &parameter.name, self.before)?;
        let splits = |c: char| matches!(c, ' ' | '\t' | '\n' | '*' | '?' | '[');
        (quoted || !value.contains(splits)).then_some((value, is_sure))
    }
}

/// Returns whether an expansion makes several words even in quotes: `"$@"`, `"${a[@]}"`.
fn is_several(part: &Part<'_>) -> bool {
    let Part::Parameter(parameter) = part else {
        return false;
    };
    if parameter.operation == Operation::Length {
        return false;
    }
    parameter.name == "@"
        || parameter.subscript == Some(Subscript::All)
        || matches!(parameter.operation, Operation::Keys | Operation::Names)
}

/// Returns the value of the variable `name` if it is set once, to plain text, before `before`; and
/// whether the assignment is certainly executed.
pub(crate) fn static_value<'s>(
    scope: &Scope<'s>,
    name: &str,
    before: usize,
) -> Option<(Cow<'s, str>, bool)> {
    let variable = scope.survey().variable(name)?;
    let [given] = &variable.values[..] else {
        return None;
    };
    if given.position != AssignmentPosition::AtTop
        || given.may_be_skipped
        || given.at >= before
        || variable.is_array
        || variable.is_declared
    {
        return None;
    }
    match given.value {
        Value::String { head: "", rest } => Some((static_text(rest)?, given.is_certain)),
        _ => None,
    }
}

/// Returns whether a word behind `~` is not the name of a user.
fn is_visited_directory(text: &str) -> bool {
    text.starts_with(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit())
}
