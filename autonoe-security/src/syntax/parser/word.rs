//! Parses words.

use super::bytes::{ACTIVE, BREAK, is};
use super::dollar::Quoting;
use super::parts::Parts;
use super::{Parser, Result, budget};
use crate::syntax::{Part, SmallVec, Span, Word};

/// The position of a word, which determines its expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordContext {
    /// A word of a command or of the list of a loop.
    Argument,
    /// An element of an array.
    Element,
    /// The target of a redirection.
    Target,
    /// An assigned value, or a here-string: braces have no special meaning.
    Value,
    /// The word or a pattern of `case`, or a word of `[[ .. ]]`: braces have no special meaning
    /// either.
    Plain,
    /// The right side of `==` in `[[ .. ]]`, where extended globs are patterns.
    Pattern,
}

impl WordContext {
    fn has_braces(self) -> bool {
        matches!(self, Self::Argument | Self::Element | Self::Target)
    }
}

impl<'a> Parser<'a> {
    /// Reads a word. The caller ensures that one is next.
    pub(super) fn word(&mut self, place: WordContext) -> Result<Word<'a>> {
        self.spend(budget::WORD)?;
        if let Some(word) = self.plain_word() {
            if self.peek() != b'(' || place != WordContext::Pattern {
                return Ok(word);
            }
            self.at = word.span.start();
        }
        let start = self.at;
        let parts = WordReader::new(self, place).read()?;
        if self.in_substitution && self.slice(start, self.at).ends_with('&') {
            // Bash takes it for the end of a command when it prints the command.
            return Err(self.unsupported("& at the end of a word in a substitution", start));
        }
        Ok(Word {
            parts,
            span: self.span_from(start),
        })
    }

    /// Reads a word if it only consists of plain text.
    #[inline]
    pub(super) fn plain_word(&mut self) -> Option<Word<'a>> {
        let start = self.at;
        let end = self.find(start, ACTIVE);
        let is_plain = end > start && is(self.byte(end), BREAK);
        if !is_plain || self.is_process_substitution(end) {
            return None;
        }
        self.at = end;
        Some(Word {
            parts: SmallVec::from(Part::Literal(self.slice(start, end).into())),
            span: Span::new(start, end),
        })
    }

    /// Reads `'..'`.
    pub(super) fn single_quoted(&mut self) -> Result<Part<'a>> {
        let start = self.at + 1;
        let rest = self.slice(start, self.text.len());
        let Some(length) = rest.find('\'') else {
            return Err(self.unterminated("quote", self.at));
        };
        self.at = start + length + 1;
        Ok(Part::Quoted(self.slice(start, start + length).into()))
    }

    /// Reads a backslash and the character after it.
    pub(super) fn escaped(&mut self) -> Result<Part<'a>> {
        let start = self.at + 1;
        let length = self.char_length(start);
        match self.byte(start) {
            0 => Err(self.unsupported("a backslash at the end", self.at)),
            b'\n' => Err(self.joins(self.at)),
            b'\r' => {
                self.at = start;
                Err(self.unexpected())
            }
            _ => {
                self.at = start + length;
                Ok(Part::Quoted(self.slice(start, self.at).into()))
            }
        }
    }
}

/// Reads a word that is more than plain text.
struct WordReader<'p, 'a> {
    parser: &'p mut Parser<'a>,
    place: WordContext,
    start: usize,
    /// The start of the plain text that is not a part yet.
    run: usize,
    /// The start of the value, if the word looks like an assignment; computed once.
    value: Option<Option<usize>>,
    parts: Parts<'a>,
    /// The number of `[` since the last `]`.
    open_brackets: usize,
    has_open_brace: bool,
    has_brace_pair: bool,
}

impl<'p, 'a> WordReader<'p, 'a> {
    fn new(parser: &'p mut Parser<'a>, place: WordContext) -> Self {
        let start = parser.at;
        Self {
            parser,
            place,
            start,
            run: start,
            value: None,
            parts: Parts::default(),
            open_brackets: 0,
            has_open_brace: false,
            has_brace_pair: false,
        }
    }

    /// Reads up to the end of the word.
    fn read(mut self) -> Result<SmallVec<Part<'a>>> {
        let mut at = self.start;
        loop {
            at = self.parser.find(at, ACTIVE);
            match self.parser.byte(at) {
                b'<' | b'>' if self.parser.is_process_substitution(at) => {
                    at = self.part(at, |parser| parser.process_substitution())?;
                }
                b'(' if self.place == WordContext::Pattern && self.follows_glob(at) => {
                    at = self.parser.extended_glob(at)?;
                }
                byte if is(byte, BREAK) => break,
                b'\'' => at = self.part(at, |parser| parser.single_quoted())?,
                b'"' => at = self.part(at, |parser| parser.double_quoted())?,
                b'`' => at = self.part(at, |parser| parser.back_quoted(Quoting::None))?,
                b'\\' if self.parser.is_continuation(at) => {
                    self.parser.word_ends_at_continuation(at)?;
                    break;
                }
                b'\\' => at = self.part(at, |parser| parser.escaped())?,
                b'$' => at = self.dollar(at)?,
                b'~' => at = self.tilde(at),
                b'*' => at = self.glob('*', at),
                b'?' => at = self.glob('?', at),
                b'[' if is(self.parser.byte(at + 1), BREAK) => at += 1,
                b'[' => {
                    self.parser.spend(budget::WORD)?;
                    self.open_brackets += 1;
                    at = self.glob('[', at);
                }
                b']' => {
                    self.open_brackets = 0;
                    at += 1;
                }
                b'{' => {
                    self.has_open_brace = true;
                    at += 1;
                }
                b'}' => {
                    self.has_brace_pair |= self.has_open_brace;
                    at += 1;
                }
                _ => {
                    self.parser.at = at;
                    return Err(self.parser.unexpected());
                }
            }
        }
        self.finish(at)
    }

    fn finish(mut self, end: usize) -> Result<SmallVec<Part<'a>>> {
        self.flush(end);
        self.parser.at = end;
        let mut parts = self.parts.finish();
        if self.place.has_braces() {
            self.parser.check_quoted_braces(&parts, self.start)?;
            if self.has_brace_pair {
                parts = self.parser.with_braces(parts, self.start)?;
            }
        }
        // Braces may move a `]` after a `[`.
        let multiplies = parts.iter().any(|part| matches!(part, Part::Brace(_)));
        if self.open_brackets > 0 && !multiplies {
            return Ok(without_open_brackets(parts, self.open_brackets));
        }
        Ok(parts)
    }

    /// Adds the plain text up to `end` as a part.
    fn flush(&mut self, end: usize) {
        let text = self.parser.slice(self.run, end);
        self.parts.literal(text);
    }

    /// Reads a part that starts at `at`, and returns its end.
    fn part(
        &mut self,
        at: usize,
        read: impl FnOnce(&mut Parser<'a>) -> Result<Part<'a>>,
    ) -> Result<usize> {
        self.flush(at);
        self.parser.at = at;
        let part = read(self.parser)?;
        self.parts.push(part);
        self.run = self.parser.at;
        Ok(self.run)
    }

    fn dollar(&mut self, at: usize) -> Result<usize> {
        self.parser.at = at;
        let Some(part) = self.parser.dollar(Quoting::None)? else {
            return Ok(at + 1);
        };
        self.flush(at);
        self.parts.push(part);
        self.run = self.parser.at;
        Ok(self.run)
    }

    fn glob(&mut self, character: char, at: usize) -> usize {
        self.flush(at);
        self.parts.push(Part::Glob(character));
        self.run = at + 1;
        self.run
    }

    fn tilde(&mut self, at: usize) -> usize {
        let value = *self
            .value
            .get_or_insert_with(|| self.parser.value_of_word(self.place, self.start));
        let known = (self.start, value, self.run);
        match self.parser.tilde(self.place, known, at) {
            None => at + 1,
            Some(end) => {
                self.flush(at);
                let name = self.parser.slice(at + 1, end);
                self.parts.push(Part::Tilde(name.into()));
                self.run = end;
                end
            }
        }
    }

    /// Returns whether an unquoted `?*+@!` is before `at`.
    fn follows_glob(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or(0, |at| self.parser.byte(at));
        let unquoted = self.run < at || matches!(self.parts.last(), Some(Part::Glob(_)));
        unquoted && matches!(before, b'?' | b'*' | b'+' | b'@' | b'!')
    }
}

/// Converts the last `count` of `[` into text, because no `]` follows them.
pub(super) fn without_open_brackets<'a>(
    parts: SmallVec<Part<'a>>,
    count: usize,
) -> SmallVec<Part<'a>> {
    let is_bracket = |part: &Part<'_>| matches!(part, Part::Glob('['));
    let total = parts.iter().filter(|part| is_bracket(part)).count();
    let mut keep = total.saturating_sub(count);
    let parts: Parts<'a> = parts
        .into_iter()
        .map(|part| match part {
            part if !is_bracket(&part) => part,
            part if keep > 0 => {
                keep -= 1;
                part
            }
            _ => Part::Literal("[".into()),
        })
        .collect();
    parts.finish()
}
