//! Survey of the variables that a script sets, anywhere in its text.

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

/// Every variable that a script sets, with its values.
///
/// Order and control flow are ignored: a property of a variable must hold for all values that it is
/// ever set to.
#[derive(Debug, Default)]
pub(crate) struct Survey<'s> {
    variables: HashMap<Text<'s>, Variable<'s>>,
    /// Whether patterns without a match vanish, because of `shopt -s nullglob`.
    pub(crate) drops_patterns: bool,
    /// Whether the script changes to a directory whose name is split because it is unquoted.
    pub(crate) enters_split_directory: bool,
    /// Whether the script changes its directory.
    pub(crate) changes_directory: bool,
}

/// Maximum number of values of a variable that are judged one by one.
pub(crate) const MOST_VALUES: usize = 64;

/// The effects of a script on one variable.
#[derive(Debug, Default)]
pub(crate) struct Variable<'s> {
    /// The assigned values, in the order of the text.
    pub(crate) values: Vec<AssignmentRecord<'s>>,
    /// Whether it is an array somewhere.
    pub(crate) is_array: bool,
    /// Whether it is declared without a value, or unset.
    pub(crate) is_declared: bool,
    /// The position from which it is certainly an associative array.
    pub(crate) associative_from: Option<usize>,
    /// Whether it is unset somewhere.
    pub(crate) is_unset: bool,
    /// Whether it is always a number; computed on demand.
    pub(crate) is_number: Memo,
    /// Whether it can never be an option in quotes; computed on demand.
    pub(crate) is_no_option_quoted: Memo,
    /// The same without quotes.
    pub(crate) is_no_option_split: Memo,
}

impl<'s> Variable<'s> {
    /// Returns whether `holds` is true for every value that the script sets. The script must set it
    /// somewhere, otherwise the value comes from the environment.
    pub(crate) fn always(&self, holds: impl Fn(&AssignmentRecord<'s>) -> bool) -> bool {
        !self.values.is_empty() && self.values.iter().all(holds)
    }

    /// Returns whether it has few enough values to judge each of them.
    pub(crate) fn has_few_values(&self) -> bool {
        let counts = self.values.iter().map(|given| match given.value {
            Value::OneOf(words) => words.len(),
            Value::Array(elements) => elements.len(),
            Value::String { .. } | Value::Number | Value::Unknown => 1,
        });
        counts.sum::<usize>() <= MOST_VALUES
    }
}

/// A result that is computed once and cached.
#[derive(Debug, Default)]
pub(crate) struct Memo(Cell<Option<bool>>);

impl Memo {
    /// Returns the result. While it is being computed it is `false`.
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

/// One assignment of a variable.
#[derive(Debug)]
pub(crate) struct AssignmentRecord<'s> {
    pub(crate) value: Value<'s>,
    pub(crate) position: AssignmentPosition,
    /// Whether nothing before it could fail and skip it.
    pub(crate) is_certain: bool,
    /// Whether something before it on the same line may fail, so that the shell continues with the
    /// next line.
    pub(crate) may_be_skipped: bool,
    /// The position in the text.
    pub(crate) at: usize,
}

/// The value of an assignment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'s> {
    /// A string: the literal `head`, followed by parts.
    String { head: &'s str, rest: &'s [Part<'s>] },
    /// One of the words after `in`.
    OneOf(&'s [Word<'s>]),
    /// An array.
    Array(&'s [ArrayElement<'s>]),
    /// The result of arithmetic.
    Number,
    /// A value that the text does not determine.
    Unknown,
}

/// The position of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignmentPosition {
    /// Standalone, at the top level, first in its item: it affects everything that follows.
    AtTop,
    Other,
}

impl<'s> Survey<'s> {
    /// Surveys a whole script, which was parsed from `text`.
    pub(crate) fn new(text: &'s str, script: &'s Script<'s>) -> Self {
        Surveyor::new(text).survey(script)
    }

    /// Records that the variables `names` have unknown values before the script starts.
    pub(crate) fn add_inherited(&mut self, names: &[String]) {
        for name in names {
            let variable = self.variable_mut(Cow::Owned(name.clone()));
            variable.associative_from = None;
            variable.values.push(AssignmentRecord {
                value: Value::Unknown,
                position: AssignmentPosition::Other,
                is_certain: false,
                may_be_skipped: false,
                at: 0,
            });
        }
    }

    /// Returns the names of all variables that the script sets or inherits.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(AsRef::as_ref)
    }

    /// Returns the effects of the script on `name`; `None` if it never sets it.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable<'s>> {
        self.variables.get(name)
    }

    /// Returns the effects of the script on `name` for modification.
    fn variable_mut(&mut self, name: Text<'s>) -> &mut Variable<'s> {
        self.variables.entry(name).or_default()
    }

    /// Records that `name` is declared as an associative array, which has an effect only if it is
    /// not declared otherwise yet.
    fn becomes_associative(&mut self, name: Text<'s>, at: usize) {
        let is_new = !self.variables.contains_key(&name) && !is_magic(&name);
        let variable = self.variables.entry(name).or_default();
        if is_new {
            variable.associative_from = Some(at);
        }
    }
}

/// Returns whether the shell itself sets a variable.
fn is_magic(name: &str) -> bool {
    words!(
        "_ REPLY MAPFILE OPTARG OPTIND PWD OLDPWD DIRSTACK PIPESTATUS COLUMNS LINES COPROC",
        "HISTCMD FUNCNAME GROUPS UID EUID PPID SECONDS LINENO EPOCHSECONDS EPOCHREALTIME RANDOM",
        "SRANDOM SHELLOPTS"
    )
    .contains(&name)
        || name.starts_with("BASH")
}
