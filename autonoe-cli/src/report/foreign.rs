//! Texts of agents and persons, so that they cannot pretend to be something else.

use std::fmt::Write as _;

use maud::{Markup, html};

/// How much of a text is shown.
const LONGEST: usize = 2000;

/// Writes a text that came from elsewhere, with its line breaks.
///
/// It stands in an element that keeps its direction of writing to itself; characters that would
/// change how others are read are shown by their number; a very long text is cut off, and the
/// page says so.
pub(super) fn foreign(text: &str) -> Markup {
    let (shown, left_out) = cut(text);
    html! {
        bdi.foreign { (visible(shown)) }
        @if left_out > 0 {
            span.muted { " … and " (left_out) " more characters" }
        }
    }
}

/// Writes a text that came from elsewhere, in a line.
pub(super) fn inline(text: &str) -> String {
    let (shown, left_out) = cut(text);
    let mut line = visible(shown).replace('\n', " ");
    if left_out > 0 {
        line.push('…');
    }
    line
}

fn cut(text: &str) -> (&str, usize) {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}

/// Replaces characters that nobody would see by their numbers.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_deceptive(character) {
            let _ = write!(shown, "\u{27e8}U+{:04X}\u{27e9}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Tells whether a character has no shape of its own and changes what is around it.
fn is_deceptive(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of the direction of writing.
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => true,
        // Blanks without width, separators of lines, the byte order mark, tags.
        '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
        character => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_by_its_number() {
        for (text, shown) in [
            ("plain text", "plain text"),
            ("über 日本 עברית 👩‍🚀", "über 日本 עברית 👩‍🚀"),
            ("a\nb\tc", "a b\tc"),
            ("\u{1b}[2J", "⟨U+001B⟩[2J"),
            ("evil\u{202e}gpj.exe", "evil⟨U+202E⟩gpj.exe"),
            ("x\u{2066}y\u{200b}z\0", "x⟨U+2066⟩y⟨U+200B⟩z⟨U+0000⟩"),
            ("a\u{85}\u{2028}b", "a⟨U+0085⟩⟨U+2028⟩b"),
        ] {
            assert_eq!(inline(text), shown, "{text:?}");
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
    fn a_very_long_text_is_cut_off_and_says_so() {
        let written = foreign(&"ü".repeat(2003)).into_string();

        assert!(written.contains(&format!(">{}<", "ü".repeat(2000))));
        assert!(written.ends_with(" … and 3 more characters</span>"));
        assert!(!foreign(&"ü".repeat(2000)).into_string().contains("more"));
    }
}
