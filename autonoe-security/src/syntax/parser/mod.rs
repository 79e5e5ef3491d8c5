//! The parser: recursive descent over the bytes of the text.
//!
//! It follows Bash 5.2 where it accepts, and refuses in doubt. The files go from
//! large to small: lists, commands, words, expansions.

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

/// The longest text that [`parse`] reads, in bytes.
pub const MAX_LENGTH: usize = 131_072;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Parses a whole text.
///
/// # Errors
///
/// The text is no Bash, or uses what this parser refuses.
pub fn parse(text: &str) -> std::result::Result<Script<'_>, SyntaxError> {
    if text.len() > MAX_LENGTH {
        return Err(SyntaxError {
            kind: SyntaxErrorKind::TooLong,
            span: Span::new(0, text.len()),
        });
    }
    forbidden::check(text)?;
    Parser::new(text).whole()
}

/// Reads one text from its beginning to its end.
struct Parser<'a> {
    /// What is read. It ends where the reading ends, which may be before the
    /// end of the whole text; places in it are places in the whole text.
    text: &'a str,
    /// The next byte to be read.
    at: usize,
    /// What the text may still cost.
    left: u32,
    /// How many constructs the parser is in.
    depth: usize,
    /// Whether it is in `$(..)`, `<(..)` or back-quotes.
    in_substitution: bool,
    /// Whether the last token was a word, behind which no reserved word stands.
    behind_word: bool,
    /// The here-documents of the script that is being read.
    documents: Documents<'a>,
    /// What is known about parentheses in the text.
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

    /// Reads a script that must reach to the end of the text.
    fn whole(&mut self) -> Result<Script<'a>> {
        let mut script = self.list()?;
        if self.at < self.text.len() {
            return Err(self.unexpected());
        }
        self.finish_documents(&mut script)?;
        Ok(script)
    }
}
