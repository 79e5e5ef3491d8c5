//! What a script does to its variables, anywhere in it.

mod arithmetic;
mod builtins;
mod failures;
mod surveyor;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use self::surveyor::Surveyor;
use crate::syntax::{ArrayElement, Part, Script, Text, Word};

pub(crate) use self::arithmetic::assigned_in;

/// Every variable that a script sets, and to what.
///
/// Order and control flow do not count: what holds of a variable must hold of
/// all that it is ever set to.
#[derive(Debug, Default)]
pub(crate) struct Survey<'s> {
    variables: HashMap<Text<'s>, Variable<'s>>,
    /// Patterns that match nothing vanish, because of `shopt -s nullglob`.
    pub(crate) drops_patterns: bool,
    /// Somewhere it goes to a directory whose name is split without quotes.
    pub(crate) moves_to_blanks: bool,
}

/// The most values of a variable that are judged one by one.
pub(crate) const MOST_VALUES: usize = 64;

/// What a script does to one variable.
#[derive(Debug, Default)]
pub(crate) struct Variable<'s> {
    /// What it is set to, in the order of the text.
    pub(crate) given: Vec<Given<'s>>,
    /// It is an array somewhere.
    pub(crate) is_array: bool,
    /// It is named by a declaration without a value, or unset.
    pub(crate) is_declared: bool,
    /// From where on it is an associative array for sure.
    pub(crate) associative_from: Option<usize>,
    /// It is unset somewhere.
    pub(crate) is_unset: bool,
    /// Whether it is always a number, once somebody has asked.
    pub(crate) is_number: Memo,
    /// Whether it can never be taken for an option in quotes, once somebody has asked.
    pub(crate) is_no_option_quoted: Memo,
    /// The same without quotes.
    pub(crate) is_no_option_split: Memo,
}

impl<'s> Variable<'s> {
    /// Tells whether `holds` for everything that the script sets it to. It must set it somewhere:
    /// else the value comes from elsewhere.
    pub(crate) fn always(&self, holds: impl Fn(&Given<'s>) -> bool) -> bool {
        !self.given.is_empty() && self.given.iter().all(holds)
    }

    /// Returns whether its values are few enough to look at each.
    pub(crate) fn has_few_values(&self) -> bool {
        let counts = self.given.iter().map(|given| match given.value {
            Value::OneOf(words) => words.len(),
            Value::Array(elements) => elements.len(),
            Value::String { .. } | Value::Number | Value::Unknown => 1,
        });
        counts.sum::<usize>() <= MOST_VALUES
    }
}

/// An answer that is worked out once, so that asking often costs little.
#[derive(Debug, Default)]
pub(crate) struct Memo(Cell<Option<bool>>);

impl Memo {
    /// Returns the answer. While it is being worked out it is no.
    pub(crate) fn or_find(&self, find: impl FnOnce() -> bool) -> bool {
        if let Some(known) = self.0.get() {
            return known;
        }
        self.0.set(Some(false));
        let found = find();
        self.0.set(Some(found));
        found
    }
}

/// One way in which a variable is set.
#[derive(Debug)]
pub(crate) struct Given<'s> {
    pub(crate) value: Value<'s>,
    pub(crate) stands: Stands,
    /// Nothing stands in front of it that could fail and take it along.
    pub(crate) is_sure: bool,
    /// Something in front of it on the same line may fail, and then the shell goes on with the next
    /// line.
    pub(crate) may_be_left_out: bool,
    /// Where in the text.
    pub(crate) at: usize,
}

/// What a variable is set to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'s> {
    /// A string: `head`, which is literal, and then parts.
    String { head: &'s str, rest: &'s [Part<'s>] },
    /// One of the words behind `in`.
    OneOf(&'s [Word<'s>]),
    /// An array.
    Array(&'s [ArrayElement<'s>]),
    /// The result of arithmetic.
    Number,
    /// Something that the text does not tell.
    Unknown,
}

/// Where an assignment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Alone, at the top level, first in its item: it takes effect for all that follows.
    AtTop,
    Elsewhere,
}

impl<'s> Survey<'s> {
    /// Looks through a whole script, which was read from `text`.
    pub(crate) fn of(text: &'s str, script: &'s Script<'s>) -> Self {
        Surveyor::new(text).look_through(script)
    }

    /// Takes notice that the variables `names` have values from elsewhere before the script begins.
    pub(crate) fn take_over(&mut self, names: &[String]) {
        for name in names {
            let variable = self.variable_mut(Cow::Owned(name.clone()));
            variable.associative_from = None;
            variable.given.push(Given {
                value: Value::Unknown,
                stands: Stands::Elsewhere,
                is_sure: false,
                may_be_left_out: false,
                at: 0,
            });
        }
    }

    /// Returns the names of all variables that the script sets or gets.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(AsRef::as_ref)
    }

    /// Returns what the script does to `name`; `None` if it never sets it.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable<'s>> {
        self.variables.get(name)
    }

    /// Returns what the script does to `name`, to add to it.
    fn variable_mut(&mut self, name: Text<'s>) -> &mut Variable<'s> {
        self.variables.entry(name).or_default()
    }

    /// Takes notice that `name` is declared as an associative array, which has an effect only if it
    /// is nothing else yet.
    fn becomes_associative(&mut self, name: Text<'s>, at: usize) {
        let is_new = !self.variables.contains_key(&name) && !is_magic(&name);
        let variable = self.variables.entry(name).or_default();
        if is_new {
            variable.associative_from = Some(at);
        }
    }
}

/// Tells whether the shell sets a variable by itself.
fn is_magic(name: &str) -> bool {
    words!(
        "_ REPLY MAPFILE OPTARG OPTIND PWD OLDPWD DIRSTACK PIPESTATUS COLUMNS LINES COPROC",
        "HISTCMD FUNCNAME GROUPS UID EUID PPID SECONDS LINENO EPOCHSECONDS EPOCHREALTIME RANDOM",
        "SRANDOM SHELLOPTS"
    )
    .contains(&name)
        || name.starts_with("BASH")
}
