//! A script and what is known of its variables.

use std::cell::OnceCell;

use super::survey::Survey;
use crate::syntax::Script;

/// A script whose variables are looked at once somebody asks.
///
/// Most commands have no variables, and then nobody does.
pub(crate) struct Scope<'s> {
    text: &'s str,
    script: &'s Script<'s>,
    /// Variables that a script around this one hands over, with values that nobody knows.
    handed: Vec<String>,
    survey: OnceCell<Survey<'s>>,
}

impl<'s> Scope<'s> {
    /// Makes the scope of `script`, which was read from `text` and gets the variables `handed`.
    pub(crate) fn of(text: &'s str, script: &'s Script<'s>, handed: Vec<String>) -> Self {
        Self {
            text,
            script,
            handed,
            survey: OnceCell::new(),
        }
    }

    pub(crate) fn script(&self) -> &'s Script<'s> {
        self.script
    }

    pub(crate) fn survey(&self) -> &Survey<'s> {
        self.survey.get_or_init(|| {
            let mut survey = Survey::of(self.text, self.script);
            survey.take_over(&self.handed);
            survey
        })
    }
}
