//! Every simple command of a tree, wherever it stands.

use super::{
    ArgWord, Arithmetic, ArithmeticToken, AssignedValue, Assignment, Brace, Command, CommandKind,
    Condition, Operation, Part, Redirect, RedirectTarget, Script, SimpleCommand, Subscript, Word,
};

/// Returns every simple command that `script` could run, in the order of the text.
///
/// It looks into everything: compound commands, substitutions in any kind of
/// quotes, operands of expansions, subscripts, array elements, here-documents,
/// targets of redirections, conditions, arithmetic. A command that holds others in
/// its words comes before them.
///
/// ```
/// use autonoe_security::syntax::{ArgWord, commands, parse};
///
/// let script = parse("A=$(one) two > \"${x:-`three`}\" <<EOF\n$(four)\nEOF")?;
///
/// let names: Vec<_> = commands(&script)
///     .filter_map(|command| match command.words.first() {
///         Some(ArgWord::Word(name)) => name.static_text(),
///         _ => None,
///     })
///     .collect();
/// assert_eq!(names, ["two", "one", "three", "four"]);
/// # Ok::<(), autonoe_security::syntax::SyntaxError>(())
/// ```
pub fn commands<'t, 'a>(script: &'t Script<'a>) -> impl Iterator<Item = &'t SimpleCommand<'a>> {
    let mut found = Found(Vec::new());
    found.script(script);
    found.0.into_iter()
}

/// Returns every simple command that `command` could run, as [`commands`] does.
pub(crate) fn commands_in<'t, 'a>(
    command: &'t Command<'a>,
) -> impl Iterator<Item = &'t SimpleCommand<'a>> {
    let mut found = Found(Vec::new());
    found.command(command);
    found.0.into_iter()
}

/// The commands that were found so far.
struct Found<'t, 'a>(Vec<&'t SimpleCommand<'a>>);

impl<'t, 'a> Found<'t, 'a> {
    fn script(&mut self, script: &'t Script<'a>) {
        for item in &script.items {
            for (_, pipeline) in &item.pipelines {
                for command in &pipeline.commands {
                    self.command(command);
                }
            }
        }
    }

    fn command(&mut self, command: &'t Command<'a>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Subshell(script) | CommandKind::Group(script) => self.script(script),
            CommandKind::If(inner) => {
                for branch in &inner.branches {
                    self.script(&branch.condition);
                    self.script(&branch.body);
                }
                if let Some(otherwise) = &inner.otherwise {
                    self.script(otherwise);
                }
            }
            CommandKind::While(inner) => {
                self.script(&inner.condition);
                self.script(&inner.body);
            }
            CommandKind::For(inner) => {
                self.words(inner.words.iter().flatten());
                self.script(&inner.body);
            }
            CommandKind::ArithmeticFor(inner) => {
                for clause in &inner.clauses {
                    self.arithmetic(clause);
                }
                self.script(&inner.body);
            }
            CommandKind::Case(inner) => {
                self.word(&inner.subject);
                for arm in &inner.arms {
                    self.words(&arm.patterns);
                    self.script(&arm.body);
                }
            }
            CommandKind::Condition(condition) => self.condition(condition),
            CommandKind::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
        }
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
    }

    fn simple(&mut self, simple: &'t SimpleCommand<'a>) {
        self.0.push(simple);
        for assignment in &simple.assignments {
            self.assignment(assignment);
        }
        for word in &simple.words {
            match word {
                ArgWord::Word(word) => self.word(word),
                ArgWord::Array(assignment) => self.assignment(assignment),
            }
        }
    }

    fn assignment(&mut self, assignment: &'t Assignment<'a>) {
        self.subscript(assignment.subscript.as_ref());
        match &assignment.value {
            AssignedValue::Word(word) => self.word(word),
            AssignedValue::Array(elements) => {
                for element in elements {
                    self.subscript(element.subscript.as_ref());
                    self.word(&element.value);
                }
            }
        }
    }

    fn redirect(&mut self, redirect: &'t Redirect<'a>) {
        match &redirect.target {
            RedirectTarget::Word(word) => self.word(word),
            RedirectTarget::HereDocument(document) => self.parts(&document.body),
        }
    }

    fn condition(&mut self, condition: &'t Condition<'a>) {
        match condition {
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Condition::Not(inner) | Condition::Group(inner) => self.condition(inner),
            Condition::Unary { operand, .. } => self.word(operand),
            Condition::Binary { left, right, .. } => {
                self.word(left);
                self.word(right);
            }
            Condition::Word(word) => self.word(word),
        }
    }

    fn words(&mut self, words: impl IntoIterator<Item = &'t Word<'a>>) {
        for word in words {
            self.word(word);
        }
    }

    fn word(&mut self, word: &'t Word<'a>) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &'t [Part<'a>]) {
        for part in parts {
            match part {
                Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
                Part::DoubleQuoted(parts) => self.parts(parts),
                Part::Brace(brace) => self.brace(brace),
                Part::Parameter(parameter) => {
                    self.subscript(parameter.subscript.as_ref());
                    self.operation(&parameter.operation);
                }
                Part::CommandSubstitution(inner) | Part::ProcessSubstitution(inner) => {
                    self.script(&inner.script);
                }
                Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            }
        }
    }

    fn brace(&mut self, brace: &'t Brace<'a>) {
        match brace {
            Brace::Alternatives(alternatives) => {
                for alternative in alternatives {
                    self.parts(alternative);
                }
            }
            Brace::Sequence { .. } => {}
        }
    }

    fn operation(&mut self, operation: &'t Operation<'a>) {
        match operation {
            Operation::Value
            | Operation::Length
            | Operation::Keys
            | Operation::Names
            | Operation::Transform(_) => {}
            Operation::Substitute { word, .. } => self.word(word),
            Operation::Trim { pattern } | Operation::ChangeCase { pattern } => self.word(pattern),
            Operation::Replace {
                pattern,
                replacement,
            } => {
                self.word(pattern);
                self.words(replacement);
            }
            Operation::Substring { offset, length } => {
                self.arithmetic(offset);
                if let Some(length) = length {
                    self.arithmetic(length);
                }
            }
        }
    }

    fn subscript(&mut self, subscript: Option<&'t Subscript<'a>>) {
        if let Some(Subscript::Index(index)) = subscript {
            self.arithmetic(index);
        }
    }

    fn arithmetic(&mut self, arithmetic: &'t Arithmetic<'a>) {
        for token in &arithmetic.tokens {
            match token {
                ArithmeticToken::Number(_)
                | ArithmeticToken::Name { .. }
                | ArithmeticToken::Operator(_) => {}
                ArithmeticToken::Part(part) => self.parts(std::slice::from_ref(part)),
            }
        }
    }
}
