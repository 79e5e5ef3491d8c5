//! Characters that the parser rejects because no command needs them.

use super::Result;
use crate::syntax::{Span, SyntaxError, SyntaxErrorKind};

/// Rejects control characters other than tab, newline and carriage return, and characters that
/// change the direction of the text.
///
/// A carriage return is accepted in quotes; the parser rejects it elsewhere.
pub(super) fn check(text: &str) -> Result<()> {
    // Nearly every text passes here, so the first scan has no branch per byte.
    let suspicious = text
        .bytes()
        .fold(false, |found, byte| found | is_suspicious(byte));
    if !suspicious {
        return Ok(());
    }
    match text.char_indices().find(|(_, found)| is_forbidden(*found)) {
        None => Ok(()),
        Some((at, found)) => Err(SyntaxError {
            kind: SyntaxErrorKind::ForbiddenCharacter,
            span: Span::new(at, at + found.len_utf8()),
        }),
    }
}

/// The first byte of every forbidden character, and of a few others.
fn is_suspicious(byte: u8) -> bool {
    (byte < b' ') & (byte != b'\t') & (byte != b'\n') | (byte == 0x7f) | (byte == 0xe2)
}

fn is_forbidden(found: char) -> bool {
    match found {
        '\t' | '\n' | '\r' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => found.is_ascii_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_any_language_passes() {
        for text in [
            "",
            "ls\t-l\n",
            "\"a\r\n\"",
            "echo héllo — ✓ 日本",
            "\u{a0}\u{200b}",
        ] {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn controls_and_changes_of_direction_are_refused() {
        for (text, at) in [
            ("ls\0", 2..3),
            ("\u{7}", 0..1),
            ("é\u{1b}[m", 2..3),
            ("a\u{7f}", 1..2),
            ("— \u{202e}x", 4..7),
            ("\u{2066}", 0..3),
        ] {
            let error = check(text).expect_err(text);

            assert_eq!(error.kind, SyntaxErrorKind::ForbiddenCharacter);
            assert_eq!(error.span.range(), at, "{text:?}");
        }
    }
}
