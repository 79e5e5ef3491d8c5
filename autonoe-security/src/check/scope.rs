//! A script and what is known of its variables.

use std::cell::{Cell, OnceCell, RefCell};

use super::protected_state;
use super::survey::{Stands, Survey, Value, Variable};
use crate::syntax::{Operation, Part, Script, Span, Word};

/// A script whose variables are looked at once somebody asks.
///
/// Most commands have no variables, and then nobody does.
pub(crate) struct Scope<'s> {
    text: &'s str,
    script: &'s Script<'s>,
    inherited: Inherited,
    survey: OnceCell<Survey<'s>>,
    /// The variables of the `for` loops around the command that is judged.
    loop_variables: RefCell<Vec<&'s str>>,
    /// Facts about the whole text, which many commands ask for.
    facts: [OnceCell<bool>; 2],
    patch_problem: OnceCell<Option<&'static str>>,
    /// How many arguments may still be made of the values of variables.
    args_left: Cell<usize>,
}

/// The most arguments that are made of the values of variables in one script.
const MOST_ARGS: usize = 1 << 14;

/// A fact about the whole text of a script.
#[derive(Clone, Copy)]
pub(crate) enum Fact {
    /// Names that one command prints become arguments of another.
    PassesNames,
    /// Text is piped into an interpreter.
    PipesProgram,
}

/// Variables that a script gets from the one around it.
#[derive(Default)]
pub(crate) struct Inherited {
    /// Their values are not known.
    pub(crate) unknown: Vec<String>,
    /// They hold numbers of processes that the script around started.
    pub(crate) children: Vec<String>,
}

impl<'s> Scope<'s> {
    /// Makes the scope of `script`, which was read from `text`.
    pub(crate) fn of(text: &'s str, script: &'s Script<'s>, inherited: Inherited) -> Self {
        Self {
            text,
            script,
            inherited,
            survey: OnceCell::new(),
            loop_variables: RefCell::default(),
            facts: [OnceCell::new(), OnceCell::new()],
            patch_problem: OnceCell::new(),
            args_left: Cell::new(MOST_ARGS),
        }
    }

    /// Reserves room for `count` arguments with values of variables. Returns whether there was room.
    pub(crate) fn reserve_args(&self, count: usize) -> bool {
        let left = self.args_left.get().checked_sub(count);
        self.args_left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns a fact about the text, which is found once.
    pub(crate) fn fact(&self, fact: Fact, find: impl FnOnce(&str) -> bool) -> bool {
        *self.facts[fact as usize].get_or_init(|| find(self.text))
    }

    /// Says what is wrong with a patch in the text.
    pub(crate) fn patch_problem(&self, project: &str) -> Option<&'static str> {
        let find = || protected_state::patch_problem(self.text, project);
        *self.patch_problem.get_or_init(find)
    }

    pub(crate) fn text(&self) -> &'s str {
        self.text
    }

    pub(crate) fn script(&self) -> &'s Script<'s> {
        self.script
    }

    /// Returns whether the variable `name` holds the number of a process of the script around.
    pub(crate) fn is_child(&self, name: &str) -> bool {
        self.inherited.children.iter().any(|child| child == name)
    }

    /// Returns whether the script gets the variable `name` from the one around it.
    pub(crate) fn inherits(&self, name: &str) -> bool {
        self.inherited.unknown.iter().any(|known| known == name)
    }

    /// Returns whether something may be appended to the variable `name`, so that its value is put
    /// together.
    pub(crate) fn appends_to(&self, name: &str) -> bool {
        self.text
            .match_indices("+=")
            .any(|(at, _)| self.text[..at].ends_with(name))
    }

    /// Judges the body of a `for` loop, in which `variable` is set.
    pub(crate) fn in_loop<T>(&self, variable: &'s str, judge: impl FnOnce() -> T) -> T {
        self.loop_variables.borrow_mut().push(variable);
        let judged = judge();
        self.loop_variables.borrow_mut().pop();
        judged
    }

    /// Returns whether the script has set `variable`, called `name`, when it comes to `at`.
    /// Before, it may have a value from the environment.
    pub(crate) fn is_set(&self, name: &str, variable: &Variable<'_>, at: usize) -> bool {
        let mut given = variable.given.iter();
        let is_given =
            given.any(|it| it.stands == Stands::AtTop && !it.may_be_left_out && it.at < at);
        is_given || self.loop_variables.borrow().contains(&name)
    }

    /// Returns the words of the `for` loops that set the variable `part`, used at `at`, if nothing
    /// else does.
    pub(crate) fn loop_words(&self, part: &Part<'_>, at: usize) -> Option<Vec<&'s Word<'s>>> {
        let Part::Parameter(parameter) = part else {
            return None;
        };
        let variable = self.survey().variable(&parameter.name)?;
        let is_plain = parameter.operation == Operation::Value && parameter.subscript.is_none();
        let is_set = self.is_set(&parameter.name, variable, at);
        let is_usable = is_plain && is_set && variable.has_few_values();
        if !is_usable || variable.is_array || variable.is_declared {
            return None;
        }
        let words = variable.given.iter().map(|given| match given.value {
            Value::OneOf(words) => Some(words),
            _ => None,
        });
        let words: Option<Vec<&[Word<'_>]>> = words.collect();
        Some(words?.into_iter().flatten().collect())
    }

    /// Returns whether nothing follows `span` in the text.
    pub(crate) fn is_last(&self, span: Span) -> bool {
        let rest = self.text.get(span.end()..).unwrap_or_default();
        rest.trim_matches([' ', '\t', '\n', ';']).is_empty()
    }

    pub(crate) fn survey(&self) -> &Survey<'s> {
        self.survey.get_or_init(|| {
            let mut survey = Survey::of(self.text, self.script);
            survey.take_over(&self.inherited.unknown);
            survey
        })
    }
}
