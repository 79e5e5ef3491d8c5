//! Words rendered as short text.
//!
//! Plain text is unchanged, quoted text is in single quotes, and everything that the shell expands
//! is in angle brackets: `<*>`, `<~>`, `<$x>`, `<{a|b}>`, `<$([ls])>`.

use autonoe_security::syntax::{
    Arithmetic, ArithmeticToken, Brace, Operation, Parameter, Part, Subscript, Substitute, Word,
};

use crate::syntax::outline::{joined, script};

pub(crate) fn word(word: &Word<'_>) -> String {
    parts(&word.parts)
}

pub(crate) fn parts(all: &[Part<'_>]) -> String {
    all.iter().map(part).collect()
}

fn part(part: &Part<'_>) -> String {
    match part {
        Part::Literal(text) => text.to_string(),
        Part::Quoted(text) => format!("'{text}'"),
        Part::DoubleQuoted(inner) => format!("\"{}\"", parts(inner)),
        Part::Glob(character) => format!("<{character}>"),
        Part::Tilde(name) => format!("<~{name}>"),
        Part::Brace(inner) => match inner.as_ref() {
            Brace::Alternatives(all) => format!("<{{{}}}>", joined(all, "|", |one| parts(one))),
            Brace::Sequence { first, last, step } => {
                let step = step
                    .as_ref()
                    .map_or(String::new(), |step| format!("..{step}"));
                format!("<{first}..{last}{step}>")
            }
        },
        Part::Parameter(inner) => format!("<{}>", parameter(inner)),
        Part::CommandSubstitution(inner) => format!("<$({})>", script(&inner.script)),
        Part::ProcessSubstitution(inner) => format!("<@({})>", script(&inner.script)),
        Part::Arithmetic(inner) => format!("<(({}))>", arithmetic(inner)),
        other => panic!("{other:?}"),
    }
}

fn parameter(parameter: &Parameter<'_>) -> String {
    let key = parameter
        .subscript
        .as_ref()
        .map_or(String::new(), subscript);
    let subject = format!("${}{key}", parameter.name);
    match &parameter.operation {
        Operation::Value => subject,
        Operation::Length => format!("{subject} length"),
        Operation::Keys => format!("{subject} keys"),
        Operation::Names => format!("{subject} names"),
        Operation::Substitute {
            when,
            colon,
            word: operand,
        } => {
            let colon = if *colon { ":" } else { "" };
            let operator = match when {
                Substitute::Default => "-",
                Substitute::Assign => "=",
                Substitute::Error => "?",
                Substitute::Alternative => "+",
            };
            format!("{subject} {colon}{operator} {}", word(operand))
        }
        Operation::Trim { pattern } => format!("{subject} trim {}", word(pattern)),
        Operation::ChangeCase { pattern } => format!("{subject} case {}", word(pattern)),
        Operation::Replace {
            pattern,
            replacement,
        } => {
            let replacement = replacement.as_ref();
            let replacement =
                replacement.map_or(String::new(), |inner| format!(" by {}", word(inner)));
            format!("{subject} replace {}{replacement}", word(pattern))
        }
        Operation::Substring { offset, length } => {
            let length = length.as_ref();
            let length = length.map_or(String::new(), |inner| format!(" : {}", arithmetic(inner)));
            format!("{subject} from {}{length}", arithmetic(offset))
        }
        Operation::Transform(letter) => format!("{subject} @{letter}"),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn subscript(subscript: &Subscript<'_>) -> String {
    match subscript {
        Subscript::All => "[all]".to_owned(),
        Subscript::Index(index) => format!("[{}]", arithmetic(index)),
    }
}

pub(crate) fn arithmetic(arithmetic: &Arithmetic<'_>) -> String {
    joined(&arithmetic.tokens, " ", |token| match token {
        ArithmeticToken::Number(text) | ArithmeticToken::Operator(text) => text.to_string(),
        ArithmeticToken::Name { name, .. } => name.to_string(),
        ArithmeticToken::Part(inner) => part(inner),
    })
}
