//! Parses ANSI-C quotes, `$'..'`.

use super::{Parser, Result};
use crate::syntax::{Part, Text};

impl<'a> Parser<'a> {
    /// Reads `$'..'` and decodes it.
    pub(super) fn ansi_c_quoted(&mut self) -> Result<Part<'a>> {
        let start = self.at;
        let mut end = start + 2;
        let mut has_escapes = false;
        loop {
            match self.byte(end) {
                b'\'' => break,
                b'\\' => {
                    has_escapes = true;
                    end += 2;
                }
                0 => return Err(self.unterminated("quote", start)),
                _ => end += 1,
            }
        }
        let raw = self.slice(start + 2, end);
        self.at = end + 1;
        if !has_escapes {
            return Ok(Part::Quoted(raw.into()));
        }
        match decoded(raw) {
            Some(text) => Ok(Part::Quoted(Text::Owned(text))),
            None => Err(self.unsupported("an escape of this kind", start)),
        }
    }
}

/// Decodes the escapes in `raw`; `None` if one is not understood, or if the result is not valid
/// text.
fn decoded(raw: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, behind)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        rest = escape(behind, &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// Decodes the escape whose backslash precedes `text`, and returns the remaining text.
fn escape<'t>(text: &'t str, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let first = text.chars().next()?;
    let rest = text.get(first.len_utf8()..)?;
    let simple = match first {
        'a' => 0x07,
        'b' => 0x08,
        'e' | 'E' => 0x1b,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' | '\'' | '"' | '?' => u8::try_from(first).ok()?,
        '0'..='7' => return number(text, 8, 3, push_byte, bytes),
        'x' => return number(rest, 16, 2, push_byte, bytes),
        'u' => return number(rest, 16, 4, push_character, bytes),
        'U' => return number(rest, 16, 8, push_character, bytes),
        'c' => {
            let letter = rest.bytes().next().filter(u8::is_ascii_alphabetic)?;
            bytes.push(letter & 0x1f);
            return rest.get(1..);
        }
        _ => {
            bytes.push(b'\\');
            bytes.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
    };
    bytes.push(simple);
    Some(rest)
}

/// Decodes a number of up to `longest` digits, and adds its character.
fn number<'t>(
    text: &'t str,
    radix: u32,
    longest: usize,
    push: fn(u32, &mut Vec<u8>) -> Option<()>,
    bytes: &mut Vec<u8>,
) -> Option<&'t str> {
    let digits = text
        .chars()
        .take(longest)
        .take_while(|digit| digit.is_digit(radix))
        .count();
    let value = u32::from_str_radix(text.get(..digits)?, radix).ok()?;
    push(value, bytes)?;
    text.get(digits..)
}

fn push_byte(value: u32, bytes: &mut Vec<u8>) -> Option<()> {
    // Bash truncates the text at a zero byte.
    let byte = u8::try_from(value).ok().filter(|byte| *byte != 0)?;
    bytes.push(byte);
    Some(())
}

fn push_character(value: u32, bytes: &mut Vec<u8>) -> Option<()> {
    // Bash leaves the escape of another character unchanged if the locale has no such character.
    push_byte(value, bytes).filter(|()| value < 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded() {
        for (raw, expected) in [
            ("", ""),
            (r"a\tb\n", "a\tb\n"),
            (r"\x72\x6d", "rm"),
            (r"\162\155", "rm"),
            (r"\0621", "21"),
            (r"\u0072\U0000006d", "rm"),
            (r"\xc3\xa9é", "éé"),
            (r"it\'s \\ \?", r"it's \ ?"),
            (r"\cA\e", "\u{1}\u{1b}"),
            (r"\q\-", r"\q\-"),
        ] {
            assert_eq!(decoded(raw).as_deref(), Some(expected), "{raw}");
        }
    }

    #[test]
    fn invalid_ansi_c_escapes_are_refused() {
        for raw in [
            r"\0",
            r"\x00",
            r"\400",
            r"\xff",
            r"\x",
            r"\x{41}",
            r"\ud800",
            r"\u",
            r"\c\\",
            r"\u00e9",
            r"\U0001f980",
        ] {
            assert_eq!(decoded(raw), None, "{raw}");
        }
    }
}
