//! Words and their parts.

use std::borrow::Cow;

use super::{Arithmetic, Parameter, Script, SmallVec, Span};

/// Text of a tree: a slice of the source, or a copy with escapes removed.
pub type Text<'a> = Cow<'a, str>;

/// A word of the shell: one argument or one file name, unless it is split.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Word<'a> {
    /// The parts, in order. A word without parts is empty and unquoted, as in `x=`.
    pub parts: SmallVec<Part<'a>>,
    /// The whole word, with its quotes.
    pub span: Span,
}

impl Word<'_> {
    /// Returns the text of the word without its quotes, or `None` if it contains anything that the
    /// shell expands.
    ///
    /// ```
    /// use autonoe_security::syntax::{ArgWord, commands, parse};
    ///
    /// let script = parse("g'i't\\ x \"$y\"")?;
    ///
    /// let texts: Vec<_> = commands(&script)
    ///     .flat_map(|command| &command.words)
    ///     .map(ArgWord::static_text)
    ///     .collect();
    /// assert_eq!(texts, [Some("git x".into()), None]);
    /// # Ok::<(), autonoe_security::syntax::SyntaxError>(())
    /// ```
    pub fn static_text(&self) -> Option<Text<'_>> {
        static_text(&self.parts)
    }
}

/// Returns the text of `parts`, or `None` if they contain anything that the shell expands.
pub(crate) fn static_text<'p>(parts: &'p [Part<'_>]) -> Option<Text<'p>> {
    let text = |part: &'p Part<'_>| match part {
        Part::Literal(text) | Part::Quoted(text) => Some(text.as_ref()),
        _ => None,
    };
    match parts {
        [] => Some(Text::Borrowed("")),
        [part] => text(part).map(Text::Borrowed),
        parts => parts
            .iter()
            .map(text)
            .collect::<Option<String>>()
            .map(Text::Owned),
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// Plain unquoted text.
    Literal(Text<'a>),
    /// Text protected by quotes or a backslash, with escapes removed: `'..'`, `\x`, `$'..'`, and
    /// `".."` if nothing in it is expanded.
    Quoted(Text<'a>),
    /// `".."` or `$".."` with expansions: its parts are these and [`Quoted`](Self::Quoted) text.
    DoubleQuoted(Vec<Part<'a>>),
    /// An unquoted `*`, `?` or `[` that the shell may match with file names.
    Glob(char),
    /// An unquoted `~` or `~name` that the shell replaces by a home directory.
    Tilde(Text<'a>),
    /// `{a,b}` or `{1..9}`, which expands to several words.
    Brace(Box<Brace<'a>>),
    /// `$x`, `${x}`, `${x:-y}` ..
    Parameter(Box<Parameter<'a>>),
    /// `$(..)` or `` `..` ``
    CommandSubstitution(Box<Substitution<'a>>),
    /// `<(..)` or `>(..)`
    ProcessSubstitution(Box<Substitution<'a>>),
    /// `$((..))`
    Arithmetic(Box<Arithmetic<'a>>),
}

/// A script nested in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substitution<'a> {
    /// The script.
    pub script: Script<'a>,
    /// The whole substitution.
    pub span: Span,
}

/// The contents of a brace expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brace<'a> {
    /// `{a,b}`: each alternative appears in one of the resulting words.
    Alternatives(Vec<Vec<Part<'a>>>),
    /// `{first..last}` or `{first..last..step}`: numbers or letters.
    Sequence {
        /// The first one.
        first: Text<'a>,
        /// The last one.
        last: Text<'a>,
        /// The step, if one is given.
        step: Option<Text<'a>>,
    },
}
