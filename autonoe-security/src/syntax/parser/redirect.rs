//! Parses redirections.

use super::bytes::{BREAK, NAME, NAME_START, is};
use super::word::WordContext;
use super::{Parser, Result, budget};
use crate::syntax::{Part, Redirect, RedirectOperator, RedirectTarget, SmallVec, Word};

impl<'a> Parser<'a> {
    /// Reads a redirection, if present.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect<'a>>> {
        let start = self.at;
        let digits = self.descriptor_length();
        if !self.is_redirect_operator(start + digits) {
            return Ok(None);
        }
        self.spend(budget::EXPANSION)?;
        let descriptor = match self.slice(start, start + digits) {
            "" => None,
            // Bash reads a number that is too large as a word.
            number => match number.parse::<u32>() {
                Ok(number) if i32::try_from(number).is_ok() => Some(number),
                _ => return Err(self.unsupported("a descriptor of this size", start)),
            },
        };
        self.at += digits;
        let (operator, strips_tabs) = self.redirect_operator();
        self.skip_blanks()?;
        let target = self.redirect_target(operator, strips_tabs)?;
        self.behind_word = true;
        Ok(Some(Redirect {
            descriptor,
            operator,
            target,
            span: self.span_from(start),
        }))
    }

    fn descriptor_length(&self) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !byte.is_ascii_digit());
        length.unwrap_or(rest.len())
    }

    fn is_redirect_operator(&self, at: usize) -> bool {
        match self.byte(at) {
            b'<' | b'>' => self.byte(at + 1) != b'(',
            b'&' => at == self.at && self.byte(at + 1) == b'>',
            _ => false,
        }
    }

    /// Reads the operator, and returns whether it is `<<-`.
    fn redirect_operator(&mut self) -> (RedirectOperator, bool) {
        let rest = self.slice(self.at, self.text.len());
        for (text, operator) in [
            ("<<<", RedirectOperator::HereString),
            ("<<-", RedirectOperator::HereDocument),
            ("<<", RedirectOperator::HereDocument),
            ("<&", RedirectOperator::DuplicateInput),
            ("<>", RedirectOperator::ReadWrite),
            ("<", RedirectOperator::Read),
            (">>", RedirectOperator::Append),
            (">&", RedirectOperator::DuplicateOutput),
            (">|", RedirectOperator::Clobber),
            (">", RedirectOperator::Write),
            ("&>>", RedirectOperator::AppendAll),
        ] {
            if rest.starts_with(text) {
                self.at += text.len();
                return (operator, text == "<<-");
            }
        }
        self.at += "&>".len();
        (RedirectOperator::WriteAll, false)
    }

    fn redirect_target(
        &mut self,
        operator: RedirectOperator,
        strips_tabs: bool,
    ) -> Result<RedirectTarget<'a>> {
        let start = self.at;
        if operator == RedirectOperator::HereDocument {
            return self.here_document(strips_tabs);
        }
        let breaks = is(self.peek(), BREAK) && !self.is_process_substitution(start);
        if breaks || self.peek() == b'#' {
            return Err(self.missing("the target of a redirection"));
        }
        let duplicates = matches!(
            operator,
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
        );
        if operator == RedirectOperator::AppendAll && self.looks_like_assignment() {
            // After other redirections Bash would accept it as one.
            return Err(self.unsupported("a name of this kind behind &>>", start));
        }
        if duplicates && self.peek() == b'-' {
            return self.closed_descriptor().map(RedirectTarget::Word);
        }
        let word = self.word(match operator {
            RedirectOperator::HereString => WordContext::Value,
            _ => WordContext::Target,
        })?;
        if duplicates {
            self.refuse_second_expansion(&word)?;
        } else {
            self.refuse_number_before_redirect(start)?;
        }
        self.refuse_named_descriptor(start)?;
        Ok(RedirectTarget::Word(word))
    }

    fn looks_like_assignment(&self) -> bool {
        let end = self.run(self.at, NAME);
        is(self.peek(), NAME_START) && matches!(self.byte(end), b'=' | b'[' | b'+')
    }

    /// Reads the `-` of `>&-`. Bash ends the word there, so that directly following text would be a
    /// separate word, even the name of the command.
    fn closed_descriptor(&mut self) -> Result<Word<'a>> {
        let start = self.at;
        self.at += 1;
        if !is(self.peek(), BREAK) || self.is_process_substitution(self.at) {
            return Err(self.unexpected());
        }
        Ok(Word {
            parts: SmallVec::from(Part::Literal(self.slice(start, self.at).into())),
            span: self.span_from(start),
        })
    }

    /// Rejects quoted text after `>&` that is more than a plain name: if it is not a number, Bash
    /// expands it once more, without its quotes.
    fn refuse_second_expansion(&self, word: &Word<'_>) -> Result<()> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:+@% ".contains(&byte);
        let is_safe = |part: &Part<'_>| match part {
            Part::Quoted(text) => text.bytes().all(is_plain),
            Part::DoubleQuoted(parts) => parts.iter().all(|part| match part {
                Part::Quoted(text) => text.bytes().all(is_plain),
                _ => true,
            }),
            _ => true,
        };
        if word.parts.iter().all(is_safe) {
            Ok(())
        } else {
            Err(self.unsupported("quoted text behind >&", word.span.start()))
        }
    }

    /// Rejects a word of digits directly before `<` or `>`: Bash reads it as the descriptor of a
    /// redirection, which is not allowed here.
    pub(super) fn refuse_number_before_redirect(&self, start: usize) -> Result<()> {
        if !matches!(self.peek(), b'<' | b'>') {
            return Ok(());
        }
        if self
            .slice(start, self.at)
            .bytes()
            .all(|byte| byte.is_ascii_digit())
        {
            return Err(self.unexpected());
        }
        self.refuse_named_descriptor(start)
    }

    /// Rejects `{name}` directly before `<` or `>`.
    pub(super) fn refuse_named_descriptor(&self, start: usize) -> Result<()> {
        if !matches!(self.peek(), b'<' | b'>') || self.byte(start) != b'{' {
            return Ok(());
        }
        let name_end = self.run(start + 1, NAME);
        let is_name = is(self.byte(start + 1), NAME_START) && self.byte(self.at - 1) == b'}';
        if is_name && (name_end + 1 == self.at || self.byte(name_end) == b'[') {
            return Err(self.unsupported("a variable for a descriptor", start));
        }
        Ok(())
    }
}
