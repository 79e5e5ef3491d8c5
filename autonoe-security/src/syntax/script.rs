//! Lists, pipelines and commands.

use super::{Arithmetic, Condition, Few, Redirect, Span, Subscript, Text, Word};

/// A list of commands: a whole text, or what stands in a substitution or a body.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Script<'a> {
    /// What runs one after another.
    pub items: Vec<Item<'a>>,
    /// From the first to the last command; empty for a script without any.
    pub span: Span,
}

impl<'a> Script<'a> {
    /// Returns the one command that the script is; `None` if there are more, or none.
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
    /// The pipelines, each with what joins it to the one before.
    pub pipelines: Few<(Connector, Pipeline<'a>)>,
    /// Whether the shell waits for it.
    pub runs: Runs,
    /// The whole item, without what ends it.
    pub span: Span,
}

/// What joins a pipeline to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connector {
    /// Nothing: it is the first.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Whether the shell waits for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runs {
    /// It does.
    InOrder,
    /// It does not: the item ends with `&`.
    InBackground,
}

/// Commands joined by `|` and `|&`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline<'a> {
    /// The commands, at least one. `! ` and `time` alone have an empty simple command.
    pub commands: Few<Command<'a>>,
    /// Whether it begins with `time`.
    pub timed: bool,
    /// Whether it begins with an odd number of `!`.
    pub negated: bool,
    /// The whole pipeline.
    pub span: Span,
}

/// One command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// What it is.
    pub kind: CommandKind<'a>,
    /// Its redirections, in the order of the text.
    pub redirects: Vec<Redirect<'a>>,
    /// The whole command.
    pub span: Span,
}

/// What a command is.
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

/// Assignments, then words of which the first names the command.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SimpleCommand<'a> {
    /// The assignments in front of the name; all there is if there are no words.
    pub assignments: Vec<Assignment<'a>>,
    /// The name and its arguments.
    ///
    /// An argument of `declare`, `typeset`, `local`, `readonly` or `export` that
    /// is written `NAME=( .. )` is [`ArgWord::Array`].
    pub words: Vec<ArgWord<'a>>,
    /// From the first assignment or word to the last; empty if there are only redirections.
    pub span: Span,
}

impl SimpleCommand<'_> {
    /// Returns the name and its arguments without their quotes, or `None` if
    /// there is anything in them that the shell expands.
    pub fn static_words(&self) -> Option<Vec<Text<'_>>> {
        self.words.iter().map(ArgWord::static_text).collect()
    }
}

/// A word of a simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgWord<'a> {
    /// A word like any other.
    Word(Word<'a>),
    /// An array that is handed to a declaration: `declare -a xs=(a b)`.
    Array(Box<Assignment<'a>>),
}

impl ArgWord<'_> {
    /// Returns the text of a word as [`Word::static_text`] does; `None` for an array.
    pub fn static_text(&self) -> Option<Text<'_>> {
        match self {
            Self::Word(word) => word.static_text(),
            Self::Array(_) => None,
        }
    }

    /// Returns the bytes of the word or the array.
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
    /// What stands in the brackets behind the name.
    pub subscript: Option<Subscript<'a>>,
    /// Whether it is written `+=`.
    pub appends: bool,
    /// What is assigned.
    pub value: AssignedValue<'a>,
    /// The whole assignment.
    pub span: Span,
}

/// What an assignment assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue<'a> {
    /// A string, maybe an empty one.
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
    /// Conditions with what is done when they hold: `if`, then each `elif`.
    pub branches: Vec<Branch<'a>>,
    /// What is done when none holds.
    pub otherwise: Option<Script<'a>>,
    /// From `if` to `fi`.
    pub span: Span,
}

/// A condition and what is done when it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch<'a> {
    /// The commands whose exit status decides.
    pub condition: Script<'a>,
    /// What is done.
    pub body: Script<'a>,
    /// From the condition to the end of the body.
    pub span: Span,
}

/// `while` and `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While<'a> {
    /// Which of the two.
    pub goes_on: GoesOn,
    /// The condition.
    pub condition: Script<'a>,
    /// What is repeated.
    pub body: Script<'a>,
    /// From `while` or `until` to `done`.
    pub span: Span,
}

/// When a loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoesOn {
    /// `while`
    WhileItHolds,
    /// `until`
    UntilItHolds,
}

/// `for x in ..; do ..; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For<'a> {
    /// The variable.
    pub variable: Text<'a>,
    /// Where the variable stands.
    pub variable_span: Span,
    /// The words behind `in`; `None` without `in`, which means `"$@"`.
    pub words: Option<Vec<Word<'a>>>,
    /// What is repeated.
    pub body: Script<'a>,
    /// From `for` to `done`.
    pub span: Span,
}

/// `for ((start; condition; step)); do ..; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticFor<'a> {
    /// The three expressions; each may be empty.
    pub clauses: [Arithmetic<'a>; 3],
    /// What is repeated.
    pub body: Script<'a>,
    /// From `for` to `done`.
    pub span: Span,
}

/// `case word in pattern) ..;; esac`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// What is compared.
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
    /// What is done then.
    pub body: Script<'a>,
    /// From the first pattern, or the parenthesis in front of it, to what ends the arm.
    pub span: Span,
}
