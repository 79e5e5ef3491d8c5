//! Recursive-descent parser over the bytes of the text.
//!
//! The parser reads an accepted text as Bash 5.2 does, and rejects a text in case of doubt. The files
//! are ordered from large constructs to small ones: lists, commands, words, expansions.

mod ansi_c;
mod arithmetic;
mod assignment;
mod back_quotes;
mod brace;
mod brace_in_quotes;
mod brace_sequence;
mod budget;
mod bytes;
mod case;
mod command;
mod condition;
mod continuation;
mod cursor;
mod depth;
mod dollar;
mod double_quotes;
mod flat;
mod forbidden;
mod here_document;
mod here_document_body;
mod keyword;
mod list;
mod loops;
mod operand;
mod parameter;
mod parentheses;
mod parts;
mod pipeline;
mod redirect;
mod regex;
mod simple;
mod subscript;
mod substitution;
mod tilde;
mod word;

use self::here_document::Documents;
use self::parentheses::Parentheses;
use super::{Script, Span, SyntaxError, SyntaxErrorKind};

/// The maximum length of a text for [`parse`], in bytes.
pub const MAX_LENGTH: usize = 131_072;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Parses a whole text.
///
/// # Errors
///
/// If the text is not Bash, or uses a construct that this parser rejects.
pub fn parse(text: &str) -> std::result::Result<Script<'_>, SyntaxError> {
    if text.len() > MAX_LENGTH {
        return Err(SyntaxError {
            kind: SyntaxErrorKind::TooLong,
            span: Span::new(0, text.len()),
        });
    }
    forbidden::check(text)?;
    Parser::new(text).parse_script()
}

/// The state of parsing one text.
struct Parser<'a> {
    /// The text to read. It ends where reading ends, which may be before the end of the whole text;
    /// positions in it are positions in the whole text.
    text: &'a str,
    /// The next byte to be read.
    at: usize,
    /// The remaining budget.
    left: u32,
    /// The current nesting depth.
    depth: usize,
    /// Whether it is in `$(..)`, `<(..)` or back-quotes.
    in_substitution: bool,
    /// Whether the last token was a word, which no reserved word can follow.
    behind_word: bool,
    /// The here-documents of the script that is being read.
    documents: Documents<'a>,
    /// Cached facts about parentheses in the text.
    parentheses: Parentheses,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            left: budget::BUDGET,
            depth: 0,
            in_substitution: false,
            behind_word: false,
            documents: Documents::default(),
            parentheses: Parentheses::default(),
        }
    }

    /// Reads a script that must extend to the end of the text.
    fn parse_script(&mut self) -> Result<Script<'a>> {
        let mut script = self.list()?;
        if self.at < self.text.len() {
            return Err(self.unexpected());
        }
        self.finish_documents(&mut script)?;
        Ok(script)
    }
}
