//! Renders untrusted text of agents and users safely.

use std::fmt::Write as _;

use autonoe_core::is_deceptive;
use maud::{Markup, html};

/// Maximum number of characters that are shown.
const MAX_CHARS: usize = 2000;

/// Renders untrusted text, with its line breaks.
///
/// The text is inside an element that isolates its writing direction. Deceptive characters are
/// shown as their code points. A very long text is truncated, with a note.
pub(super) fn foreign(text: &str) -> Markup {
    let (beginning, left_out) = cut(text);
    html! {
        bdi.foreign { (visible(beginning)) }
        @if left_out > 0 {
            span.muted { " … and " (left_out) " more characters" }
        }
    }
}

/// Renders untrusted text as one line.
pub(super) fn inline(text: &str) -> String {
    let (beginning, left_out) = cut(text);
    let mut line = visible(beginning).replace('\n', " ");
    if left_out > 0 {
        line.push('…');
    }
    line
}

fn cut(text: &str) -> (&str, usize) {
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}

/// Replaces invisible and deceptive characters with their code points.
fn visible(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            let _ = write!(output, "\u{27e8}U+{:04X}\u{27e9}", u32::from(character));
        } else {
            output.push(character);
        }
    }
    output
}

/// Returns whether a character must be replaced. Line breaks and tabs are kept.
fn is_hidden(character: char) -> bool {
    let is_plain = matches!(character, '\n' | '\t');
    !is_plain && (character.is_control() || is_deceptive(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_become_code_points() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("über 日本 עברית 👩‍🚀", "über 日本 עברית 👩‍🚀"),
            ("a\nb\tc", "a b\tc"),
            ("\u{1b}[2J", "⟨U+001B⟩[2J"),
            ("evil\u{202e}gpj.exe", "evil⟨U+202E⟩gpj.exe"),
            ("x\u{2066}y\u{200b}z\0", "x⟨U+2066⟩y⟨U+200B⟩z⟨U+0000⟩"),
            ("a\u{85}\u{2028}b", "a⟨U+0085⟩⟨U+2028⟩b"),
        ] {
            assert_eq!(inline(text), expected, "{text:?}");
        }
    }

    #[test]
    fn markup_is_text() {
        let written = foreign(r#"<script>alert("1")</script> & 'x'"#).into_string();

        assert_eq!(
            written,
            "<bdi class=\"foreign\">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; 'x'</bdi>"
        );
    }

    #[test]
    fn a_very_long_text_is_truncated_with_a_note() {
        let written = foreign(&"ü".repeat(2003)).into_string();

        assert!(written.contains(&format!(">{}<", "ü".repeat(2000))));
        assert!(written.ends_with(" … and 3 more characters</span>"));
        assert!(!foreign(&"ü".repeat(2000)).into_string().contains("more"));
    }
}
