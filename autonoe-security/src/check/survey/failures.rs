//! What makes the shell leave out the rest of a line.
//!
//! A value that is no number, a division by zero and the like end the line that they stand in; the
//! shell goes on with the next one. An assignment behind them is not carried out then.

use crate::syntax::{
    Arithmetic, ArithmeticToken, Operation, Parameter, Span, Subscript, Substitute,
};

pub(super) struct Failures<'s> {
    text: &'s str,
    /// Where the item before this one ends.
    behind: usize,
    /// Something on this line may fail.
    on_this_line: bool,
    /// Something may fail on every line.
    everywhere: bool,
    /// There are numbers like `08`, which are none in arithmetic.
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

    pub(super) fn may_happen(&mut self) {
        self.on_this_line = true;
    }

    pub(super) fn may_always_happen(&mut self) {
        self.everywhere = true;
    }

    pub(super) fn are_possible(&self) -> bool {
        self.on_this_line || self.everywhere
    }

    /// Goes on to the next item at the top level, maybe on another line.
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
        let may_fail = arithmetic.tokens.iter().any(|token| match token {
            ArithmeticToken::Operator(operator) => {
                operator.contains(['/', '%', '[']) || operator.starts_with("**")
            }
            ArithmeticToken::Number(number) => {
                !number.bytes().all(|byte| byte.is_ascii_digit())
                    || number.starts_with('0') && number.len() > 1
            }
            ArithmeticToken::Name { .. } | ArithmeticToken::Part(_) => self.has_odd_numbers,
        });
        self.on_this_line |= may_fail;
    }
}

fn is_plain_number(index: &Arithmetic<'_>) -> bool {
    matches!(&index.tokens[..], [ArithmeticToken::Number(number)]
        if number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Tells whether there is a number with a zero in front and an 8 or 9 in it.
fn has_odd_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers
        .into_iter()
        .any(|number| number.len() > 1 && number.starts_with('0') && number.contains(['8', '9']))
}
