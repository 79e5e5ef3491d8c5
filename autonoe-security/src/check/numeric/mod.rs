//! Checks that arithmetic only uses values known to be numbers.
//!
//! Bash evaluates the value of a variable as an expression in turn, and an expression can contain a
//! command: `x='a[$(id)]'; echo $((x))` runs `id`. Every value used in arithmetic must therefore be
//! known to be a number.

mod counts;
mod sequences;

use self::counts::prints_a_number;
use self::sequences::prints_numbers;
use super::scope::Scope;
use super::survey::{AssignmentRecord, Value};
use crate::check::text;
use crate::syntax::{
    Arithmetic, ArithmeticToken, Brace, Operation, Parameter, Part, Span, Subscript, Word,
};
use crate::{Denial, Rule};

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 8;

/// Checks that an expression only uses numbers.
pub(crate) fn check(scope: &Scope<'_>, arithmetic: &Arithmetic<'_>) -> Result<(), Denial> {
    if let Some(name) = joined_name(&arithmetic.tokens) {
        return Err(deny(name, arithmetic.span));
    }
    if let Some(part) = arithmetic.tokens.iter().find_map(hidden_bracket) {
        return Err(deny("", span_of(part).unwrap_or(arithmetic.span)));
    }
    let mut free_depth = 0_usize;
    let mut opens_free = false;
    for token in &arithmetic.tokens {
        // The subscript of an associative array is a word, not an expression.
        if let ArithmeticToken::Operator(operator) = token {
            match operator.as_ref() {
                "[" if opens_free || free_depth > 0 => free_depth += 1,
                "]" => free_depth = free_depth.saturating_sub(1),
                _ => {}
            }
        }
        opens_free = matches!(token, ArithmeticToken::Name { name, span }
            if is_associative(scope, name, *span));
        if free_depth > 0 {
            continue;
        }
        let (is_safe, construct, span) = match token {
            ArithmeticToken::Number(_) | ArithmeticToken::Operator(_) => continue,
            ArithmeticToken::Name { name, span } => (
                is_numeric_variable(scope, name, DEEPEST),
                name.as_ref(),
                *span,
            ),
            ArithmeticToken::Part(part) => (
                is_numeric_part(scope, part, DEEPEST),
                name_in(part),
                span_of(part).unwrap_or(arithmetic.span),
            ),
        };
        if !is_safe {
            return Err(deny(construct, span));
        }
    }
    Ok(())
}

/// Returns a name that continues in the adjacent token: `x$n` is another variable than `x`.
fn joined_name<'t>(tokens: &'t [ArithmeticToken<'_>]) -> Option<&'t str> {
    tokens.windows(2).find_map(|pair| match pair {
        [ArithmeticToken::Operator(_), _] | [_, ArithmeticToken::Operator(_)] => None,
        [ArithmeticToken::Name { name, .. }, _] | [_, ArithmeticToken::Name { name, .. }] => {
            Some(name.as_ref())
        }
        _ => None,
    })
}

/// Returns a part with a quoted bracket; Bash removes the quotes before it looks for brackets.
fn hidden_bracket<'t, 's>(token: &'t ArithmeticToken<'s>) -> Option<&'t Part<'s>> {
    fn has_bracket(part: &Part<'_>) -> bool {
        match part {
            Part::Literal(text) | Part::Quoted(text) => text.contains(['[', ']']),
            Part::DoubleQuoted(inner) => inner.iter().any(has_bracket),
            _ => false,
        }
    }
    match token {
        ArithmeticToken::Part(part) if has_bracket(part) => Some(part),
        _ => None,
    }
}

/// Checks the subscript of the variable `name`.
pub(crate) fn check_subscript(
    scope: &Scope<'_>,
    name: &str,
    subscript: Option<&Subscript<'_>>,
) -> Result<(), Denial> {
    match subscript {
        Some(Subscript::Index(index)) if !is_associative(scope, name, index.span) => {
            check(scope, index)
        }
        _ => Ok(()),
    }
}

/// Checks a word that is compared as a number, which evaluates it.
pub(crate) fn check_operand(scope: &Scope<'_>, word: &Word<'_>) -> Result<(), Denial> {
    let is_safe = match word.static_text() {
        Some(text) => is_integer(&text) || is_numeric_variable(scope, &text, DEEPEST),
        None => is_numeric(scope, &word.parts, DEEPEST),
    };
    if is_safe {
        return Ok(());
    }
    let name = word.parts.first().map_or("", name_in);
    Err(deny(name, word.span))
}

/// Returns whether an expansion always yields a number.
pub(crate) fn is_safe_part(scope: &Scope<'_>, part: &Part<'_>) -> bool {
    is_numeric_part(scope, part, DEEPEST)
}

fn deny(name: &str, span: Span) -> Denial {
    let reason = match name {
        "" => "the expression uses a value that may not be a number".to_owned(),
        name => format!("the expression uses '{name}', which may not be a number"),
    };
    Denial::by(Rule::R18, span, reason)
        .instead("set the variable to a number in the same command, or compare with [ ]")
}

fn is_numeric(scope: &Scope<'_>, parts: &[Part<'_>], depth: usize) -> bool {
    !parts.is_empty() && parts.iter().all(|part| is_numeric_part(scope, part, depth))
}

fn is_numeric_part(scope: &Scope<'_>, part: &Part<'_>, depth: usize) -> bool {
    match part {
        Part::Literal(text) | Part::Quoted(text) => is_integer(text),
        Part::DoubleQuoted(inner) => is_numeric(scope, inner, depth),
        // Its contents are checked separately.
        Part::Arithmetic(_) => true,
        Part::Parameter(parameter) => is_numeric_parameter(scope, parameter, depth),
        Part::CommandSubstitution(inner) => prints_a_number(scope, &inner.script),
        Part::Brace(brace) => match brace.as_ref() {
            Brace::Sequence { first, last, .. } => is_integer(first) && is_integer(last),
            Brace::Alternatives(alternatives) => alternatives
                .iter()
                .all(|parts| is_numeric(scope, parts, depth)),
        },
        _ => false,
    }
}

fn is_numeric_parameter(scope: &Scope<'_>, parameter: &Parameter<'_>, depth: usize) -> bool {
    match parameter.operation {
        Operation::Length => true,
        Operation::Value => is_numeric_variable(scope, &parameter.name, depth),
        _ => false,
    }
}

fn is_numeric_variable(scope: &Scope<'_>, name: &str, depth: usize) -> bool {
    if matches!(
        name,
        "?" | "#" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "EPOCHSECONDS" | "UID" | "PPID"
    ) {
        // Whatever they are set to, the shell keeps a number in them until they are unset.
        let variable = scope.survey().variable(name);
        if variable.is_none_or(|variable| !variable.is_declared && !variable.is_array) {
            return true;
        }
    }
    let (Some(depth), Some(variable)) = (depth.checked_sub(1), scope.survey().variable(name))
    else {
        return false;
    };
    let given = || variable.always(|given| is_number(scope, given, depth));
    variable.is_number.or_find(given)
}

fn is_number(scope: &Scope<'_>, given: &AssignmentRecord<'_>, depth: usize) -> bool {
    match given.value {
        Value::Number => true,
        Value::String { head: "", rest } => is_numeric(scope, rest, depth),
        Value::String { head, rest: [] } => is_integer(head),
        Value::OneOf(words) => words
            .iter()
            .all(|word| is_numeric(scope, &word.parts, depth) || is_sequence(scope, word)),
        Value::Array(elements) => elements
            .iter()
            .all(|element| is_numeric(scope, &element.value.parts, depth)),
        Value::String { .. } | Value::Unknown => false,
    }
}

/// Returns whether a word after `in` is `$(seq ..)`.
fn is_sequence(scope: &Scope<'_>, word: &Word<'_>) -> bool {
    match &word.parts[..] {
        [Part::CommandSubstitution(inner)] => prints_numbers(scope, &inner.script),
        _ => false,
    }
}

/// Returns whether `name` is certainly an associative array at the position of `used`.
fn is_associative(scope: &Scope<'_>, name: &str, used: Span) -> bool {
    let variable = scope.survey().variable(name);
    variable.is_some_and(|variable| {
        let declared = variable.associative_from;
        declared.is_some_and(|from| from < used.start()) && !variable.is_unset
    })
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    match digits.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => text::is_number(digits),
    }
}

fn name_in<'p>(part: &'p Part<'_>) -> &'p str {
    match part {
        Part::Parameter(parameter) => &parameter.name,
        Part::DoubleQuoted(inner) => inner.first().map_or("", name_in),
        _ => "",
    }
}

fn span_of(part: &Part<'_>) -> Option<Span> {
    match part {
        Part::Parameter(parameter) => Some(parameter.span),
        Part::CommandSubstitution(inner) => Some(inner.span),
        Part::Arithmetic(arithmetic) => Some(arithmetic.span),
        _ => None,
    }
}
