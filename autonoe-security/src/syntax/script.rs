//! Syntax tree of lists, pipelines and commands.

use super::{Arithmetic, Condition, Redirect, SmallVec, Span, Subscript, Text, Word};

/// A list of commands: a whole text, or the contents of a substitution or a body.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Script<'a> {
    /// The items, which run one after another.
    pub items: Vec<Item<'a>>,
    /// From the first to the last command; empty for a script without commands.
    pub span: Span,
}

impl<'a> Script<'a> {
    /// Returns the only command of the script; `None` if there are more, or none.
    pub fn only_command(&self) -> Option<&Command<'a>> {
        let [item] = &self.items[..] else {
            return None;
        };
        match &item.pipelines[..] {
            [(_, pipeline)] => match &pipeline.commands[..] {
                [command] => Some(command),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Pipelines joined by `&&` and `||`, up to `;`, `&` or the end of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The pipelines, each with the connector to the previous one.
    pub pipelines: SmallVec<(Connector, ShellPipeline<'a>)>,
    /// Whether the shell waits for it.
    pub runs: Runs,
    /// The whole item, without its terminator.
    pub span: Span,
}

/// The connector of a pipeline to the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connector {
    /// No connector: it is the first.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Whether the shell waits for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runs {
    /// The shell waits.
    InOrder,
    /// The shell does not wait: the item ends with `&`.
    InBackground,
}

/// Commands joined by `|` and `|&`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellPipeline<'a> {
    /// The commands, at least one. A single `! ` or `time` has an empty simple command.
    pub commands: SmallVec<Command<'a>>,
    /// Whether one of the commands is joined to the next by `|&`, which passes on its errors too.
    pub pipes_errors: bool,
    /// Whether it starts with `time`.
    pub timed: bool,
    /// Whether it starts with an odd number of `!`.
    pub negated: bool,
    /// The whole pipeline.
    pub span: Span,
}

/// One command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The kind of the command.
    pub kind: CommandKind<'a>,
    /// The redirections, in the order of the text.
    pub redirects: Vec<Redirect<'a>>,
    /// The whole command.
    pub span: Span,
}

/// The kind of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandKind<'a> {
    /// Assignments and words: `A=1 make all`.
    Simple(SimpleCommand<'a>),
    /// `( .. )`
    Subshell(Script<'a>),
    /// `{ ..; }`
    Group(Script<'a>),
    /// `if ..; then ..; fi`
    If(Box<If<'a>>),
    /// `while ..; do ..; done`, and `until`.
    While(Box<While<'a>>),
    /// `for x in ..; do ..; done`
    For(Box<For<'a>>),
    /// `for ((..; ..; ..)); do ..; done`
    ArithmeticFor(Box<ArithmeticFor<'a>>),
    /// `case .. in .. esac`
    Case(Box<Case<'a>>),
    /// `[[ .. ]]`
    Condition(Box<Condition<'a>>),
    /// `(( .. ))`
    Arithmetic(Arithmetic<'a>),
}

/// Assignments, then words, of which the first names the command.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SimpleCommand<'a> {
    /// The assignments before the name; without words, they are the whole command.
    pub assignments: Vec<Assignment<'a>>,
    /// The name and its arguments.
    ///
    /// An argument `NAME=( .. )` of `declare`, `typeset`, `local`, `readonly` or `export` is
    /// [`ArgWord::Array`].
    pub words: Vec<ArgWord<'a>>,
    /// From the first assignment or word to the last; empty if there are only redirections.
    pub span: Span,
}

impl SimpleCommand<'_> {
    /// Returns the name and its arguments without their quotes, or `None` if they contain anything
    /// that the shell expands.
    pub fn static_words(&self) -> Option<Vec<Text<'_>>> {
        self.words.iter().map(ArgWord::static_text).collect()
    }

    /// Returns whether every word is known, and `holds` is true for them.
    pub(crate) fn has_static_words(&self, holds: impl FnOnce(&[&str]) -> bool) -> bool {
        self.static_words().is_some_and(|words| {
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            holds(&words)
        })
    }
}

/// A word of a simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgWord<'a> {
    /// An ordinary word.
    Word(Word<'a>),
    /// An array passed to a declaration: `declare -a xs=(a b)`.
    Array(Box<Assignment<'a>>),
}

impl ArgWord<'_> {
    /// Returns the text of a word like [`Word::static_text`]; `None` for an array.
    pub fn static_text(&self) -> Option<Text<'_>> {
        match self {
            Self::Word(word) => word.static_text(),
            Self::Array(_) => None,
        }
    }

    /// Returns the span of the word or the array.
    pub fn span(&self) -> Span {
        match self {
            Self::Word(word) => word.span,
            Self::Array(assignment) => assignment.span,
        }
    }
}

/// `NAME=value`, `NAME+=value`, `NAME[subscript]=value` or `NAME=( .. )`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment<'a> {
    /// The variable.
    pub name: Text<'a>,
    /// The subscript in brackets after the name.
    pub subscript: Option<Subscript<'a>>,
    /// Whether it is written `+=`.
    pub appends: bool,
    /// The assigned value.
    pub value: AssignedValue<'a>,
    /// The whole assignment.
    pub span: Span,
}

/// The value of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue<'a> {
    /// A string, possibly empty.
    Word(Word<'a>),
    /// `( .. )`
    Array(Vec<ArrayElement<'a>>),
}

/// One element of `( .. )`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayElement<'a> {
    /// The subscript of `[subscript]=value`.
    pub subscript: Option<Subscript<'a>>,
    /// The value.
    pub value: Word<'a>,
    /// The whole element.
    pub span: Span,
}

/// `if ..; then ..; elif ..; then ..; else ..; fi`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If<'a> {
    /// Conditions with their bodies: `if`, then each `elif`.
    pub branches: Vec<Branch<'a>>,
    /// The body of `else`.
    pub otherwise: Option<Script<'a>>,
    /// From `if` to `fi`.
    pub span: Span,
}

/// A condition and its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch<'a> {
    /// The commands whose exit status decides.
    pub condition: Script<'a>,
    /// The body.
    pub body: Script<'a>,
    /// From the condition to the end of the body.
    pub span: Span,
}

/// `while` and `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While<'a> {
    /// Kind of the loop.
    pub kind: LoopCondition,
    /// The condition.
    pub condition: Script<'a>,
    /// The body of the loop.
    pub body: Script<'a>,
    /// From `while` or `until` to `done`.
    pub span: Span,
}

/// The condition under which a loop continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopCondition {
    /// `while`
    While,
    /// `until`
    Until,
}

/// `for x in ..; do ..; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For<'a> {
    /// The variable.
    pub variable: Text<'a>,
    /// The position of the variable.
    pub variable_span: Span,
    /// The words after `in`; `None` without `in`, which is equivalent to `"$@"`.
    pub words: Option<Vec<Word<'a>>>,
    /// The body of the loop.
    pub body: Script<'a>,
    /// From `for` to `done`.
    pub span: Span,
}

/// `for ((start; condition; step)); do ..; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticFor<'a> {
    /// The three expressions; each may be empty.
    pub clauses: [Arithmetic<'a>; 3],
    /// The body of the loop.
    pub body: Script<'a>,
    /// From `for` to `done`.
    pub span: Span,
}

/// `case word in pattern) ..;; esac`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// The word that is compared.
    pub subject: Word<'a>,
    /// The arms in order.
    pub arms: Vec<CaseArm<'a>>,
    /// From `case` to `esac`.
    pub span: Span,
}

/// One arm of a `case`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseArm<'a> {
    /// The patterns, of which one must match.
    pub patterns: Vec<Word<'a>>,
    /// The body of the arm.
    pub body: Script<'a>,
    /// From the first pattern, or the parenthesis before it, to the terminator of the arm.
    pub span: Span,
}
