//! Visitor over the nodes of a syntax tree.

use super::{
    ArgWord, Arithmetic, ArithmeticToken, AssignedValue, Assignment, Brace, Command, CommandKind,
    Condition, For, Item, Operation, Parameter, Part, Redirect, RedirectTarget, Script,
    SimpleCommand, Subscript, Word,
};

/// Visits the nodes of a tree, in the order of the text as far as there is one.
///
/// Each method visits the children of its node. An override calls the function of the same name in
/// this module to visit them, or skips them.
///
/// ```
/// use autonoe_security::syntax::visit::{self, Visitor};
/// use autonoe_security::syntax::{Parameter, parse};
///
/// /// Collects the names of the variables that are used.
/// #[derive(Default)]
/// struct Used(Vec<String>);
///
/// impl<'t, 'a: 't> Visitor<'t, 'a> for Used {
///     fn parameter(&mut self, parameter: &'t Parameter<'a>) {
///         self.0.push(parameter.name.to_string());
///         visit::parameter(self, parameter);
///     }
/// }
///
/// let script = parse("echo \"${x:-$y}\" $(cat <<< $z)")?;
/// let mut used = Used::default();
/// used.script(&script);
///
/// assert_eq!(used.0, ["x", "y", "z"]);
/// # Ok::<(), autonoe_security::syntax::SyntaxError>(())
/// ```
pub trait Visitor<'t, 'a: 't> {
    /// Visits a list of commands.
    fn script(&mut self, script: &'t Script<'a>) {
        self::script(self, script);
    }

    /// Visits joined pipelines.
    fn item(&mut self, item: &'t Item<'a>) {
        self::item(self, item);
    }

    /// Visits a command of any kind.
    fn command(&mut self, command: &'t Command<'a>) {
        self::command(self, command);
    }

    /// Visits a simple command.
    fn simple(&mut self, simple: &'t SimpleCommand<'a>) {
        self::simple(self, simple);
    }

    /// Visits a loop over words.
    fn each(&mut self, each: &'t For<'a>) {
        self::each(self, each);
    }

    /// Visits an assignment.
    fn assignment(&mut self, assignment: &'t Assignment<'a>) {
        self::assignment(self, assignment);
    }

    /// Visits a word.
    fn word(&mut self, word: &'t Word<'a>) {
        self::word(self, word);
    }

    /// Visits a redirection.
    fn redirect(&mut self, redirect: &'t Redirect<'a>) {
        self::redirect(self, redirect);
    }

    /// Visits a parameter expansion.
    fn parameter(&mut self, parameter: &'t Parameter<'a>) {
        self::parameter(self, parameter);
    }

    /// Visits arithmetic.
    fn arithmetic(&mut self, arithmetic: &'t Arithmetic<'a>) {
        self::arithmetic(self, arithmetic);
    }
}

/// Visits the items of a list of commands.
pub fn script<'t, 'a: 't, V>(visitor: &mut V, script: &'t Script<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    for item in &script.items {
        visitor.item(item);
    }
}

/// Visits the commands of joined pipelines.
pub fn item<'t, 'a: 't, V>(visitor: &mut V, item: &'t Item<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    for (_, pipeline) in &item.pipelines {
        for command in &pipeline.commands {
            visitor.command(command);
        }
    }
}

/// Visits the contents of a command, then its redirections.
pub fn command<'t, 'a: 't, V>(visitor: &mut V, command: &'t Command<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    match &command.kind {
        CommandKind::Simple(simple) => visitor.simple(simple),
        CommandKind::Subshell(script) | CommandKind::Group(script) => visitor.script(script),
        CommandKind::If(choice) => {
            for branch in &choice.branches {
                visitor.script(&branch.condition);
                visitor.script(&branch.body);
            }
            if let Some(otherwise) = &choice.otherwise {
                visitor.script(otherwise);
            }
        }
        CommandKind::While(repeat) => {
            visitor.script(&repeat.condition);
            visitor.script(&repeat.body);
        }
        CommandKind::For(each) => visitor.each(each),
        CommandKind::ArithmeticFor(each) => {
            for clause in &each.clauses {
                visitor.arithmetic(clause);
            }
            visitor.script(&each.body);
        }
        CommandKind::Case(case) => {
            visitor.word(&case.subject);
            for arm in &case.arms {
                words(visitor, &arm.patterns);
                visitor.script(&arm.body);
            }
        }
        CommandKind::Condition(inner) => condition(visitor, inner),
        CommandKind::Arithmetic(inner) => visitor.arithmetic(inner),
    }
    for inner in &command.redirects {
        visitor.redirect(inner);
    }
}

/// Visits the assignments of a simple command, then its words.
pub fn simple<'t, 'a: 't, V>(visitor: &mut V, simple: &'t SimpleCommand<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    for assignment in &simple.assignments {
        visitor.assignment(assignment);
    }
    for argument in &simple.words {
        match argument {
            ArgWord::Word(inner) => visitor.word(inner),
            ArgWord::Array(assignment) => visitor.assignment(assignment),
        }
    }
}

/// Visits the words of a loop, then its body.
pub fn each<'t, 'a: 't, V>(visitor: &mut V, each: &'t For<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    words(visitor, each.words.iter().flatten());
    visitor.script(&each.body);
}

/// Visits the subscript of an assignment, then its value.
pub fn assignment<'t, 'a: 't, V>(visitor: &mut V, assignment: &'t Assignment<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    subscript(visitor, assignment.subscript.as_ref());
    match &assignment.value {
        AssignedValue::Word(inner) => visitor.word(inner),
        AssignedValue::Array(elements) => {
            for element in elements {
                subscript(visitor, element.subscript.as_ref());
                visitor.word(&element.value);
            }
        }
    }
}

/// Visits the subscript of a parameter expansion, then its operation.
pub fn parameter<'t, 'a: 't, V>(visitor: &mut V, parameter: &'t Parameter<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    subscript(visitor, parameter.subscript.as_ref());
    match &parameter.operation {
        Operation::Value
        | Operation::Length
        | Operation::Keys
        | Operation::Names
        | Operation::Transform(_) => {}
        Operation::Substitute { word: inner, .. } => visitor.word(inner),
        Operation::Trim { pattern } | Operation::ChangeCase { pattern } => visitor.word(pattern),
        Operation::Replace {
            pattern,
            replacement,
        } => {
            visitor.word(pattern);
            words(visitor, replacement);
        }
        Operation::Substring { offset, length } => {
            visitor.arithmetic(offset);
            if let Some(length) = length {
                visitor.arithmetic(length);
            }
        }
    }
}

/// Visits the expansions in an expression.
pub fn arithmetic<'t, 'a: 't, V>(visitor: &mut V, arithmetic: &'t Arithmetic<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    for token in &arithmetic.tokens {
        match token {
            ArithmeticToken::Number(_)
            | ArithmeticToken::Name { .. }
            | ArithmeticToken::Operator(_) => {}
            ArithmeticToken::Part(inner) => part(visitor, inner),
        }
    }
}

fn words<'t, 'a: 't, V>(visitor: &mut V, words: impl IntoIterator<Item = &'t Word<'a>>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    for inner in words {
        visitor.word(inner);
    }
}

/// Visits the expansions in a word.
pub fn word<'t, 'a: 't, V>(visitor: &mut V, word: &'t Word<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    parts(visitor, &word.parts);
}

fn parts<'t, 'a: 't, V>(visitor: &mut V, parts: &'t [Part<'a>])
where
    V: Visitor<'t, 'a> + ?Sized,
{
    for inner in parts {
        part(visitor, inner);
    }
}

fn part<'t, 'a: 't, V>(visitor: &mut V, part: &'t Part<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    match part {
        Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
        Part::DoubleQuoted(inner) => parts(visitor, inner),
        Part::Brace(brace) => match brace.as_ref() {
            Brace::Alternatives(alternatives) => {
                for alternative in alternatives {
                    parts(visitor, alternative);
                }
            }
            Brace::Sequence { .. } => {}
        },
        Part::Parameter(parameter) => visitor.parameter(parameter),
        Part::CommandSubstitution(inner) | Part::ProcessSubstitution(inner) => {
            visitor.script(&inner.script);
        }
        Part::Arithmetic(inner) => visitor.arithmetic(inner),
    }
}

fn subscript<'t, 'a: 't, V>(visitor: &mut V, subscript: Option<&'t Subscript<'a>>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    if let Some(Subscript::Index(index)) = subscript {
        visitor.arithmetic(index);
    }
}

/// Visits the target of a redirection, or the body of its here-document.
pub fn redirect<'t, 'a: 't, V>(visitor: &mut V, redirect: &'t Redirect<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    match &redirect.target {
        RedirectTarget::Word(inner) => visitor.word(inner),
        RedirectTarget::HereDocument(document) => parts(visitor, &document.body),
    }
}

fn condition<'t, 'a: 't, V>(visitor: &mut V, inner: &'t Condition<'a>)
where
    V: Visitor<'t, 'a> + ?Sized,
{
    match inner {
        Condition::And(left, right) | Condition::Or(left, right) => {
            condition(visitor, left);
            condition(visitor, right);
        }
        Condition::Not(inner, _) | Condition::Group(inner, _) => condition(visitor, inner),
        Condition::Unary { operand, .. } => visitor.word(operand),
        Condition::Binary { left, right, .. } => {
            visitor.word(left);
            visitor.word(right);
        }
        Condition::Word(inner) => visitor.word(inner),
    }
}
