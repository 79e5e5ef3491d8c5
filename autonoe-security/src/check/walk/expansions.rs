//! Judges the commands and the arithmetic inside words.

use super::Checked;
use crate::check::context::Context;
use crate::check::directories::Directories;
use crate::check::survey::assigned_in;
use crate::check::{assignments, numeric, process_memory};
use crate::syntax::{
    Arithmetic, ArithmeticToken, Brace, Operation, Parameter, Part, Span, Subscript, Substitute,
    Word,
};

impl<'w, 's> Context<'w, 's> {
    /// Judges the commands and the arithmetic in a word.
    pub(crate) fn word(&self, word: &'s Word<'s>, here: &Directories<'w>) -> Checked {
        self.parts(&word.parts, here)?;
        process_memory::check_word(&word.parts, word.span)
    }

    pub(super) fn parts(&self, parts: &'s [Part<'s>], here: &Directories<'w>) -> Checked {
        for part in parts {
            match part {
                Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
                Part::DoubleQuoted(inner) => self.parts(inner, here)?,
                Part::Brace(brace) => {
                    if let Brace::Alternatives(alternatives) = brace.as_ref() {
                        for alternative in alternatives {
                            self.parts(alternative, here)?;
                        }
                    }
                }
                Part::Parameter(parameter) => self.parameter(parameter, here)?,
                Part::CommandSubstitution(inner) | Part::ProcessSubstitution(inner) => {
                    self.in_subshell(&inner.script, here)?;
                }
                Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic, here)?,
            }
        }
        Ok(())
    }

    fn parameter(&self, parameter: &'s Parameter<'s>, here: &Directories<'w>) -> Checked {
        if let Some(subscript) = &parameter.subscript {
            self.subscript(&parameter.name, subscript, here)?;
        }
        match &parameter.operation {
            Operation::Value | Operation::Length | Operation::Keys | Operation::Names => Ok(()),
            Operation::Transform(_) => Ok(()),
            Operation::Substitute { when, word, .. } => {
                self.word(word, here)?;
                match when {
                    Substitute::Assign => assignments::check_name(&parameter.name, parameter.span),
                    _ => Ok(()),
                }
            }
            Operation::Trim { pattern } | Operation::ChangeCase { pattern } => {
                self.word(pattern, here)
            }
            Operation::Replace {
                pattern,
                replacement,
            } => {
                self.word(pattern, here)?;
                replacement
                    .iter()
                    .try_for_each(|word| self.word(word, here))
            }
            Operation::Substring { offset, length } => {
                self.arithmetic(offset, here)?;
                length
                    .iter()
                    .try_for_each(|length| self.arithmetic(length, here))
            }
        }
    }

    pub(super) fn subscript(
        &self,
        name: &str,
        subscript: &'s Subscript<'s>,
        here: &Directories<'w>,
    ) -> Checked {
        if let Subscript::Index(index) = subscript {
            self.commands_in(index, here)?;
            self.assigned_names(index)?;
        }
        numeric::check_subscript(self.scope, name, Some(subscript))
    }

    pub(super) fn arithmetic(
        &self,
        arithmetic: &'s Arithmetic<'s>,
        here: &Directories<'w>,
    ) -> Checked {
        self.commands_in(arithmetic, here)?;
        self.assigned_names(arithmetic)?;
        numeric::check(self.scope, arithmetic)
    }

    fn assigned_names(&self, arithmetic: &Arithmetic<'_>) -> Checked {
        for (name, at) in assigned_in(arithmetic) {
            assignments::check_name(name, Span::new(at, at + name.len()))?;
        }
        Ok(())
    }

    fn commands_in(&self, arithmetic: &'s Arithmetic<'s>, here: &Directories<'w>) -> Checked {
        for token in &arithmetic.tokens {
            if let ArithmeticToken::Part(part) = token {
                self.parts(std::slice::from_ref(part), here)?;
            }
        }
        Ok(())
    }
}
