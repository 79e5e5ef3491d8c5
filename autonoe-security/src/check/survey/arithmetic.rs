//! Variables that arithmetic sets.

use crate::syntax::{Arithmetic, ArithmeticToken};

/// Returns the names that an expression assigns to, and their positions.
pub(crate) fn assigned_in<'t>(arithmetic: &'t Arithmetic<'_>) -> Vec<(&'t str, usize)> {
    let tokens = &arithmetic.tokens;
    let mut assigned = Vec::new();
    // The end of the subscript that starts at a token, found in one pass from the end.
    let mut open: Vec<usize> = Vec::new();
    let mut behind: Vec<usize> = (1..=tokens.len()).collect();
    for (at, token) in tokens.iter().enumerate() {
        if is_operator(Some(token), |operator| operator == "[") {
            open.push(at);
        } else if is_operator(Some(token), |operator| operator == "]")
            && let Some(start) = open.pop()
        {
            behind[start] = at + 1;
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let ArithmeticToken::Name { name, span } = token else {
            continue;
        };
        let steps = |token| is_operator(token, |operator| matches!(operator, "++" | "--"));
        let has_subscript = is_operator(tokens.get(at + 1), |operator| operator == "[");
        let after = if has_subscript {
            behind.get(at + 1).and_then(|end| tokens.get(*end))
        } else {
            tokens.get(at + 1)
        };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        if is_operator(after, is_assignment) || steps(before) || steps(after) {
            assigned.push((name.as_ref(), span.start()));
        }
    }
    assigned
}

fn is_operator(token: Option<&ArithmeticToken<'_>>, holds: impl Fn(&str) -> bool) -> bool {
    matches!(token, Some(ArithmeticToken::Operator(operator)) if holds(operator))
}

fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">=")
}
