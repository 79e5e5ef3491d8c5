//! Reserved words.

use super::bytes::{BREAK, KEYWORD_START, is};
use super::{Parser, Result};

/// A reserved word of the grammar, where a command may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    If,
    Then,
    Elif,
    Else,
    Fi,
    For,
    While,
    Until,
    Do,
    Done,
    Case,
    In,
    Esac,
    OpenBrace,
    CloseBrace,
    OpenCondition,
    CloseCondition,
    Bang,
    Time,
    Select,
    Function,
    Coproc,
}

impl Keyword {
    /// Returns the text of the keyword.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Then => "then",
            Self::Elif => "elif",
            Self::Else => "else",
            Self::Fi => "fi",
            Self::For => "for",
            Self::While => "while",
            Self::Until => "until",
            Self::Do => "do",
            Self::Done => "done",
            Self::Case => "case",
            Self::In => "in",
            Self::Esac => "esac",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::OpenCondition => "[[",
            Self::CloseCondition => "]]",
            Self::Bang => "!",
            Self::Time => "time",
            Self::Select => "select",
            Self::Function => "function",
            Self::Coproc => "coproc",
        }
    }

    /// Returns whether a list of commands ends before it.
    pub(super) fn ends_list(self) -> bool {
        matches!(
            self,
            Self::Then
                | Self::Elif
                | Self::Else
                | Self::Fi
                | Self::Do
                | Self::Done
                | Self::Esac
                | Self::CloseBrace
        )
    }

    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"if" => Self::If,
            b"then" => Self::Then,
            b"elif" => Self::Elif,
            b"else" => Self::Else,
            b"fi" => Self::Fi,
            b"for" => Self::For,
            b"while" => Self::While,
            b"until" => Self::Until,
            b"do" => Self::Do,
            b"done" => Self::Done,
            b"case" => Self::Case,
            b"in" => Self::In,
            b"esac" => Self::Esac,
            b"{" => Self::OpenBrace,
            b"}" => Self::CloseBrace,
            b"[[" => Self::OpenCondition,
            b"]]" => Self::CloseCondition,
            b"!" => Self::Bang,
            b"time" => Self::Time,
            b"select" => Self::Select,
            b"function" => Self::Function,
            b"coproc" => Self::Coproc,
            _ => return None,
        })
    }
}

/// The length of `function`.
const LONGEST: usize = 8;

impl Parser<'_> {
    /// Returns the reserved word at the current position.
    ///
    /// The caller ensures that a reserved word is possible here.
    #[inline]
    pub(super) fn keyword(&self) -> Result<Option<Keyword>> {
        if !is(self.peek(), KEYWORD_START) {
            return Ok(None);
        }
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .take(LONGEST + 1)
            .position(|byte| is(*byte, BREAK) || *byte == b'\\')
            .unwrap_or(rest.len());
        if length > LONGEST {
            return Ok(None);
        }
        let found = Keyword::parse(&rest[..length]);
        let end = self.at + length;
        match self.byte(end) {
            b'\\' if found.is_some() && self.is_continuation(end) => Err(self.joins(end)),
            b'\\' => Ok(None),
            b'<' | b'>' if self.is_process_substitution(end) => Ok(None),
            _ => Ok(found),
        }
    }

    /// Consumes `wanted` if it is next.
    pub(super) fn consume_keyword(&mut self, wanted: Keyword) -> Result<bool> {
        if self.behind_word || self.keyword()? != Some(wanted) {
            return Ok(false);
        }
        self.at += wanted.text().len();
        Ok(true)
    }

    /// Consumes `wanted`, which must be next: it continues the construct that started at `start`.
    pub(super) fn expect(
        &mut self,
        wanted: Keyword,
        construct: &'static str,
        start: usize,
    ) -> Result<()> {
        if self.consume_keyword(wanted)? {
            Ok(())
        } else if self.at >= self.text.len() {
            Err(self.unterminated(construct, start))
        } else {
            Err(self.unexpected())
        }
    }

    /// Returns whether the plain word `word` is next, whatever its role.
    pub(super) fn is_word(&self, word: &str) -> Result<bool> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Ok(false);
        }
        let end = self.at + word.len();
        if self.is_continuation(end) {
            return Err(self.joins(end));
        }
        Ok(is(self.byte(end), BREAK) && !self.is_process_substitution(end))
    }
}
