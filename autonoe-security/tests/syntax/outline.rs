//! Syntax trees rendered as short text, for comparison with expected trees.
//!
//! `a | b && (c) &` is rendered as `[a] | [b] && ([c]) &`: a simple command is in brackets,
//! followed by its redirections.

use autonoe_security::syntax::{
    ArgWord, AssignedValue, Assignment, Command, CommandKind, Condition, Connector, Item,
    LoopCondition, Redirect, RedirectOperator, RedirectTarget, Runs, Script, ShellPipeline,
    SimpleCommand, parse,
};

use crate::syntax::outline_words::{arithmetic, parts, subscript, word};

/// Parses `text` and outlines its tree.
pub(crate) fn outline(text: &str) -> String {
    match parse(text) {
        Ok(tree) => script(&tree),
        Err(error) => panic!("{text:?}: {error}"),
    }
}

/// Compares the outlines of texts with the expected ones.
pub(crate) fn check<const N: usize>(table: [(&str, &str); N]) {
    for (text, expected) in table {
        assert_eq!(outline(text), expected, "{text:?}");
    }
}

pub(crate) fn script(script: &Script<'_>) -> String {
    joined(&script.items, "; ", item)
}

fn item(item: &Item<'_>) -> String {
    let mut text = String::new();
    for (connector, next) in &item.pipelines {
        text += match connector {
            Connector::First => "",
            Connector::And => " && ",
            Connector::Or => " || ",
        };
        text += &pipeline(next);
    }
    match item.runs {
        Runs::InOrder => text,
        Runs::InBackground => text + " &",
    }
}

fn pipeline(pipeline: &ShellPipeline<'_>) -> String {
    let timed = if pipeline.timed { "time " } else { "" };
    let negated = if pipeline.negated { "! " } else { "" };
    format!(
        "{timed}{negated}{}",
        joined(&pipeline.commands, " | ", command)
    )
}

fn command(command: &Command<'_>) -> String {
    let kind = match &command.kind {
        CommandKind::Simple(inner) => format!("[{}]", simple(inner)),
        CommandKind::Subshell(inner) => format!("({})", script(inner)),
        CommandKind::Group(inner) => format!("{{{}}}", script(inner)),
        CommandKind::If(inner) => {
            let branches = joined(&inner.branches, " elif ", |branch| {
                format!(
                    "{} then {}",
                    script(&branch.condition),
                    script(&branch.body)
                )
            });
            let otherwise = inner.otherwise.as_ref();
            let otherwise =
                otherwise.map_or(String::new(), |inner| format!(" else {}", script(inner)));
            format!("if {branches}{otherwise} fi")
        }
        CommandKind::While(inner) => {
            let name = match inner.kind {
                LoopCondition::While => "while",
                LoopCondition::Until => "until",
            };
            format!(
                "{name} {} do {} done",
                script(&inner.condition),
                script(&inner.body)
            )
        }
        CommandKind::For(inner) => {
            let words = inner.words.as_ref();
            let words = words.map_or("@".to_owned(), |words| joined(words, " ", word));
            format!(
                "for {} in {words} do {} done",
                inner.variable,
                script(&inner.body)
            )
        }
        CommandKind::ArithmeticFor(inner) => {
            let clauses = joined(&inner.clauses, "; ", arithmetic);
            format!("for (({clauses})) do {} done", script(&inner.body))
        }
        CommandKind::Case(inner) => {
            let arms = joined(&inner.arms, " ", |arm| {
                format!(
                    "{}) {};;",
                    joined(&arm.patterns, "|", word),
                    script(&arm.body)
                )
            });
            format!("case {} in {arms} esac", word(&inner.subject))
        }
        CommandKind::Condition(inner) => format!("[[ {} ]]", condition(inner)),
        CommandKind::Arithmetic(inner) => format!("(({}))", arithmetic(inner)),
        other => panic!("{other:?}"),
    };
    let redirects: String = command.redirects.iter().map(redirect).collect();
    kind + &redirects
}

fn simple(simple: &SimpleCommand<'_>) -> String {
    let assignments = simple.assignments.iter().map(assignment);
    let words = simple.words.iter().map(|argument| match argument {
        ArgWord::Word(inner) => word(inner),
        ArgWord::Array(inner) => assignment(inner),
    });
    assignments.chain(words).collect::<Vec<_>>().join(" ")
}

fn assignment(assignment: &Assignment<'_>) -> String {
    let value = match &assignment.value {
        AssignedValue::Word(inner) => word(inner),
        AssignedValue::Array(elements) => {
            let elements = joined(elements, " ", |element| match &element.subscript {
                None => word(&element.value),
                Some(key) => format!("{}={}", subscript(key), word(&element.value)),
            });
            format!("({elements})")
        }
    };
    let key = assignment
        .subscript
        .as_ref()
        .map_or(String::new(), subscript);
    let operator = if assignment.appends { "+=" } else { "=" };
    format!("{}{key}{operator}{value}", assignment.name)
}

fn redirect(redirect: &Redirect<'_>) -> String {
    let descriptor = redirect
        .descriptor
        .map_or(String::new(), |number| number.to_string());
    let operator = match redirect.operator {
        RedirectOperator::Read => "<",
        RedirectOperator::Write => ">",
        RedirectOperator::Clobber => ">|",
        RedirectOperator::Append => ">>",
        RedirectOperator::ReadWrite => "<>",
        RedirectOperator::DuplicateInput => "<&",
        RedirectOperator::DuplicateOutput => ">&",
        RedirectOperator::WriteAll => "&>",
        RedirectOperator::AppendAll => "&>>",
        RedirectOperator::HereDocument => "<<",
        RedirectOperator::HereString => "<<<",
    };
    let target = match &redirect.target {
        RedirectTarget::Word(inner) => word(inner),
        RedirectTarget::HereDocument(inner) => {
            format!("{}:{}", inner.delimiter, parts(&inner.body))
        }
    };
    format!(" {descriptor}{operator}{target}")
}

fn condition(inner: &Condition<'_>) -> String {
    match inner {
        Condition::And(left, right) => format!("{} && {}", condition(left), condition(right)),
        Condition::Or(left, right) => format!("{} || {}", condition(left), condition(right)),
        Condition::Not(inner, _) => format!("! {}", condition(inner)),
        Condition::Group(inner, _) => format!("( {} )", condition(inner)),
        Condition::Unary {
            operator, operand, ..
        } => format!("{operator} {}", word(operand)),
        Condition::Binary {
            operator,
            left,
            right,
            ..
        } => format!("{} {operator} {}", word(left), word(right)),
        Condition::Word(inner) => word(inner),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn joined<T>(all: &[T], by: &str, outline: impl Fn(&T) -> String) -> String {
    all.iter().map(outline).collect::<Vec<_>>().join(by)
}
