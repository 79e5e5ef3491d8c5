//! Errors that make the shell skip the rest of a line.
//!
//! A value that is not a number, a division by zero and similar errors end the line in which they
//! occur. The shell continues with the next line, and assignments after the error are not executed.

use crate::check::text::is_digits;
use crate::syntax::{
    Arithmetic, ArithmeticToken, Operation, Parameter, Span, Subscript, Substitute,
};

pub(super) struct Failures<'s> {
    text: &'s str,
    /// The end of the previous item.
    behind: usize,
    /// Whether something on this line may fail.
    on_this_line: bool,
    /// Whether something may fail on every line.
    everywhere: bool,
    /// Whether there are numbers like `08`, which are invalid in arithmetic.
    has_odd_numbers: bool,
}

impl<'s> Failures<'s> {
    pub(super) fn in_text(text: &'s str) -> Self {
        Self {
            text,
            behind: 0,
            on_this_line: false,
            everywhere: false,
            has_odd_numbers: has_odd_number(text),
        }
    }

    pub(super) fn add_possible(&mut self) {
        self.on_this_line = true;
    }

    pub(super) fn add_everywhere(&mut self) {
        self.everywhere = true;
    }

    pub(super) fn are_possible(&self) -> bool {
        self.on_this_line || self.everywhere
    }

    /// Moves to the next item at the top level, possibly on another line.
    pub(super) fn next_item(&mut self, item: Span) {
        let between = self.text.get(self.behind..item.start()).unwrap_or_default();
        let lines = between.replace("\\\n", "");
        self.on_this_line &= !lines.contains('\n');
        self.behind = item.end();
    }

    pub(super) fn in_parameter(&mut self, parameter: &Parameter<'_>) {
        let in_operation = match &parameter.operation {
            Operation::Substring { .. } => true,
            Operation::Substitute { when, .. } => *when == Substitute::Error,
            _ => false,
        };
        let in_subscript = match &parameter.subscript {
            Some(Subscript::Index(index)) => !is_plain_number(index),
            _ => false,
        };
        self.on_this_line |= in_operation || in_subscript;
    }

    pub(super) fn in_arithmetic(&mut self, arithmetic: &Arithmetic<'_>) {
        self.on_this_line |= !always_works(&arithmetic.tokens, self.has_odd_numbers);
    }

    /// Records the subscript of a name that is assigned to.
    pub(super) fn in_subscript(&mut self, subscript: &Subscript<'_>) {
        let is_plain = matches!(subscript, Subscript::Index(index) if is_plain_number(index));
        self.on_this_line |= !is_plain;
    }
}

/// Operators that work on any two numbers.
const HARMLESS: &[&str] = words!("+ - * < > <= >= == != && || & | ^ ,");

/// Operators that set the name before them, and work with any number.
const SETTING: &[&str] = words!("= += -= *= &= |= ^=");

/// Returns whether an expression is certainly valid, and has a value whatever its variables are.
fn always_works(tokens: &[ArithmeticToken<'_>], has_odd_numbers: bool) -> bool {
    let (mut wants_operand, mut was_name, mut depth) = (true, false, 0_usize);
    for token in tokens {
        let operator = match token {
            ArithmeticToken::Operator(operator) => operator.as_ref(),
            operand => {
                let is_known = match operand {
                    ArithmeticToken::Number(number) => {
                        let is_decimal = is_digits(number);
                        is_decimal && (number.len() == 1 || !number.starts_with('0'))
                    }
                    _ => !has_odd_numbers,
                };
                if !wants_operand || !is_known {
                    return false;
                }
                wants_operand = false;
                was_name = matches!(operand, ArithmeticToken::Name { .. });
                continue;
            }
        };
        match (operator, wants_operand) {
            ("(", true) => depth += 1,
            ("-" | "+" | "!" | "~", true) => {}
            (")", false) if depth > 0 => depth -= 1,
            ("++" | "--", false) if was_name => {}
            (operator, false) if HARMLESS.contains(&operator) => wants_operand = true,
            (operator, false) if was_name && SETTING.contains(&operator) => wants_operand = true,
            _ => return false,
        }
        was_name = false;
    }
    tokens.is_empty() || (!wants_operand && depth == 0)
}

fn is_plain_number(index: &Arithmetic<'_>) -> bool {
    matches!(&index.tokens[..], [ArithmeticToken::Number(number)]
        if is_digits(number))
}

/// Returns whether there is a number with a leading zero and an 8 or 9 in it.
fn has_odd_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers
        .into_iter()
        .any(|number| number.len() > 1 && number.starts_with('0') && number.contains(['8', '9']))
}
