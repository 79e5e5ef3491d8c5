//! Cursor over the text of an awk program.

use super::super::brackets::{Brackets, Reading};

/// The reason why a program is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The program is not read alike by every awk.
    NotUnderstood(&'static str),
    /// It runs a command.
    Executes,
    /// It has a pipe.
    Pipes,
    /// It writes a file.
    Writes,
    /// It reads a file whose name is not literal.
    ReadsUnknown,
    /// It uses a name that accesses the environment, other files or other code.
    Name(&'static str),
}

pub(super) type Done<T = ()> = Result<T, Problem>;

/// Reads the text of a program from start to end.
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    /// Skips `text` if it comes next.
    pub(super) fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn skip_while(&mut self, holds: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        skipped
    }

    pub(super) fn skip_blanks(&mut self) {
        self.skip_while(|c| c == ' ' || c == '\t');
    }

    /// Reads a string after its opening quote, and returns its raw content.
    pub(super) fn string(&mut self) -> Done<&'t str> {
        let start = self.rest;
        loop {
            match self.next() {
                Some('"') => {
                    let end = start.len() - self.rest.len() - 1;
                    return Ok(&start[..end]);
                }
                Some('\\') if !matches!(self.peek(), None | Some('\n')) => {
                    self.next();
                }
                None | Some('\n' | '\\') => {
                    return Err(Problem::NotUnderstood("a string has no end"));
                }
                Some(_) => {}
            }
        }
    }

    /// Reads a number after its first character.
    pub(super) fn number(&mut self, first: char) -> Done {
        self.skip_while(|c| c.is_ascii_digit() || c == '.');
        let exponent = self.rest.strip_prefix(['e', 'E']);
        if let Some(rest) = exponent {
            let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                self.rest = digits;
                self.skip_while(|c| c.is_ascii_digit());
            }
        }
        let continues = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if self.rest.starts_with(continues) || (first == '.' && self.rest.is_empty()) {
            return Err(Problem::NotUnderstood("a number is unusual"));
        }
        Ok(())
    }

    /// Reads a regular expression after its first slash.
    pub(super) fn regex(&mut self, reading: Reading) -> Done {
        let mut brackets = Brackets::new(reading);
        loop {
            match self.next() {
                Some('/') if !brackets.hides_delimiter() => return Ok(()),
                Some('\\') => match self.next() {
                    Some(escaped) if escaped != '\n' => brackets.push_escaped(escaped),
                    _ => return Err(Problem::NotUnderstood("a regular expression has no end")),
                },
                None | Some('\n') => {
                    return Err(Problem::NotUnderstood("a regular expression has no end"));
                }
                Some(c) => brackets.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_numbers_and_regular_expressions_end_where_awk_ends_them() {
        let string = |text| {
            let mut cursor = Cursor { rest: text };
            cursor.string().map(|inside| (inside, cursor.rest))
        };
        assert_eq!(string("a\\\"b\" c"), Ok(("a\\\"b", " c")));
        assert!(string("a\nb\"").is_err());
        for (text, rest) in [("1.5e-3,", Some(",")), ("1 2", Some(" 2")), ("1x", None)] {
            let mut cursor = Cursor { rest: &text[1..] };
            let read = cursor.number('1').ok().map(|()| cursor.rest);
            assert_eq!(read, rest, "{text}");
        }
        for (text, rest) in [("a\\/b/ c", Some(" c")), ("a\n/", None)] {
            let mut cursor = Cursor { rest: text };
            let read = cursor.regex(Reading::ALL[0]).ok().map(|()| cursor.rest);
            assert_eq!(read, rest, "{text}");
        }
    }
}
