//! A script and the known facts about its variables.

use std::cell::{Cell, OnceCell, RefCell};

use super::protected_state;
use super::survey::{AssignmentPosition, Survey, Value, Variable};
use crate::syntax::{Operation, Part, Script, Span, Word};

/// A script whose variables are surveyed on demand.
///
/// Most commands have no variables, and then the survey is skipped.
pub(crate) struct Scope<'s> {
    text: &'s str,
    script: &'s Script<'s>,
    inherited: Inherited,
    survey: OnceCell<Survey<'s>>,
    /// The variables of the `for` loops around the current command.
    loop_variables: RefCell<Vec<&'s str>>,
    /// Cached facts about the whole text, which many checks need.
    facts: [OnceCell<bool>; 4],
    patch_problem: OnceCell<Option<&'static str>>,
    /// The remaining number of arguments that values of variables may produce.
    args_left: Cell<usize>,
}

/// Maximum number of arguments that values of variables may produce in one script.
const MOST_ARGS: usize = 1 << 14;

/// Maximum number of searches of the whole tree in one script.
const MOST_SEARCHES: usize = 128;

/// A fact about the whole text of a script.
#[derive(Clone, Copy)]
pub(crate) enum Fact {
    /// Names printed by one command become arguments of another.
    PassesNames,
    /// Arguments of one command become arguments of another.
    ReusesArguments,
    /// A builtin may store text of the script that starts with a dash in a variable.
    StoresOptions,
    /// Text is piped into an interpreter.
    PipesProgram,
}

/// Variables that a script inherits from the outer script.
#[derive(Default)]
pub(crate) struct Inherited {
    /// Variables with unknown values.
    pub(crate) unknown: Vec<String>,
    /// Variables with ids of processes that the outer script started.
    pub(crate) children: Vec<String>,
    /// Whether the script is the text of another one, which may use its output.
    pub(crate) is_nested: bool,
}

impl<'s> Scope<'s> {
    /// Creates the scope of `script`, which was parsed from `text`.
    pub(crate) fn new(text: &'s str, script: &'s Script<'s>, inherited: Inherited) -> Self {
        Self {
            text,
            script,
            inherited,
            survey: OnceCell::new(),
            loop_variables: RefCell::default(),
            facts: std::array::from_fn(|_| OnceCell::new()),
            patch_problem: OnceCell::new(),
            args_left: Cell::new(MOST_ARGS),
        }
    }

    /// Reserves `count` arguments for values of variables. Returns whether they were available.
    pub(crate) fn reserve_args(&self, count: usize) -> bool {
        let left = self.args_left.get().checked_sub(count);
        self.args_left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Reserves a search of the whole tree. Returns whether it was available, so that checking a text
    /// takes linear time.
    pub(crate) fn reserve_search(&self) -> bool {
        self.reserve_args(MOST_ARGS / MOST_SEARCHES)
    }

    /// Returns a fact about the text, which is computed once.
    pub(crate) fn fact(&self, fact: Fact, find: impl FnOnce(&str) -> bool) -> bool {
        *self.facts[fact as usize].get_or_init(|| find(self.text))
    }

    /// Describes the problem of a patch in the text.
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

    /// Returns whether the script is the text of another one, such as that of `bash -c`.
    pub(crate) fn is_nested(&self) -> bool {
        self.inherited.is_nested
    }

    /// Returns whether the variable `name` holds the id of a process of the outer script.
    pub(crate) fn is_child(&self, name: &str) -> bool {
        self.inherited.children.iter().any(|child| child == name)
    }

    /// Returns whether the script inherits the variable `name` from the outer one.
    pub(crate) fn inherits(&self, name: &str) -> bool {
        self.inherited.unknown.iter().any(|known| known == name)
    }

    /// Returns whether something may be appended to the variable `name`, so that its value has
    /// several parts.
    pub(crate) fn appends_to(&self, name: &str) -> bool {
        self.text
            .match_indices("+=")
            .any(|(at, _)| self.text[..at].ends_with(name))
    }

    /// Judges the body of a `for` loop that sets `variable`.
    pub(crate) fn in_loop<T>(&self, variable: &'s str, judge: impl FnOnce() -> T) -> T {
        self.loop_variables.borrow_mut().push(variable);
        let judged = judge();
        self.loop_variables.borrow_mut().pop();
        judged
    }

    /// Returns whether the script has set `variable`, called `name`, when it reaches `at`. Before
    /// that, it may have a value from the environment.
    pub(crate) fn is_set(&self, name: &str, variable: &Variable<'_>, at: usize) -> bool {
        let mut given = variable.values.iter();
        let is_given = given
            .any(|it| it.position == AssignmentPosition::AtTop && !it.may_be_skipped && it.at < at);
        is_given || self.loop_variables.borrow().contains(&name)
    }

    /// Returns the words of the `for` loops that set the variable `part`, used at `at`, if nothing
    /// else sets it.
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
        let words = variable.values.iter().map(|given| match given.value {
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
            let mut survey = Survey::new(self.text, self.script);
            survey.add_inherited(&self.inherited.unknown);
            survey
        })
    }
}
