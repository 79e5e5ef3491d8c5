//! Output of `autonoe check`, as text and as JSON.

use std::ops::Range;

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_core::gate::policy::{Denial, Explanation, Finding, Layer};
use autonoe_core::is_deceptive;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use crate::columns::columns;

/// Output of `autonoe check --json` for a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    /// The command.
    command: &'a str,
    /// Whether it may run.
    allowed: bool,
    /// Reason for the denial. Spans are byte offsets in the command.
    denial: Option<&'a Denial>,
    /// Every simple command that was found.
    commands: &'a [Finding],
}

/// The answer to a line that is not a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Unanswered {
    /// Reason why the line is invalid.
    pub(super) error: String,
}

/// Output of `autonoe check` for a line of standard input.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LineAnswer<'a> {
    /// A command.
    Answer(Answer<'a>),
    /// Not a command.
    Unanswered(Unanswered),
}

impl<'a> Answer<'a> {
    pub(super) fn new(command: &'a str, explanation: &'a Explanation) -> Self {
        Self {
            command,
            allowed: explanation.verdict.is_allowed(),
            denial: explanation.verdict.denial(),
            commands: &explanation.commands,
        }
    }
}

/// Formats the verdict on a command and the reason for a denial, as text.
pub(super) fn format_verdict(command: &str, explanation: &Explanation) -> String {
    let Some(denial) = explanation.verdict.denial() else {
        return format!("allowed{}\n", names(&explanation.commands));
    };
    let mut text = format!("denied: {}\n\n", sanitize_line(&denial.reason));
    text.push_str(&underline(command, denial.span.as_ref()));
    text.push('\n');
    text.push_str(&columns(2, &details(denial)));
    let others: Vec<_> = explanation
        .commands
        .iter()
        .filter_map(|finding| finding.verdict.denial())
        .filter(|other| *other != denial)
        .map(|other| {
            [format!(
                "- {} (rule {})",
                sanitize_line(&other.reason),
                other.rule
            )]
        })
        .collect();
    if !others.is_empty() {
        text.push_str("\nOther denied parts of the command:\n");
        text.push_str(&columns(2, &others));
    }
    text
}

fn details(denial: &Denial) -> Vec<[String; 2]> {
    let rule = match &*denial.code {
        "" => denial.rule.to_string(),
        code => format!("{} ({code})", denial.rule),
    };
    let mut rows = vec![("rule", rule), ("layer", layer(denial.layer).to_owned())];
    rows.extend(
        denial
            .rationale
            .as_deref()
            .map(|rationale| ("because", sanitize_line(rationale))),
    );
    let instead = denial.instead.as_deref();
    rows.extend(instead.map(|instead| ("instead", sanitize_line(instead))));
    let remedy = denial.remedy.as_deref();
    rows.extend(remedy.map(|remedy| ("to allow it", sanitize_line(remedy))));
    let rows = rows.into_iter();
    rows.map(|(name, value)| [name.to_owned(), value]).collect()
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Grammar => "grammar: a command that cannot be parsed as Bash is denied",
        Layer::Baseline => "baseline: applies to every project",
        Layer::Profile => "profile: the languages of the project",
        Layer::Mode => "mode: restrictions of a run or a sync",
        Layer::User => "user: agent.json or a command-line option",
        _ => "unknown",
    }
}

/// Lists the names of the simple commands that were judged.
fn names(findings: &[Finding]) -> String {
    let names: Vec<_> = findings
        .iter()
        .filter_map(|finding| finding.name.as_deref())
        .map(shorten)
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(": {}", names.join(", "))
    }
}

/// Maximum columns shown of a line.
const MAX_COLUMNS: usize = 96;

/// Columns shown before the underlined part of a line that is too wide.
const COLUMNS_BEFORE: usize = 24;

/// Maximum number of lines shown.
const MAX_LINES: usize = 5;

/// Formats the lines of `command` that `span` touches, with carets below the span.
///
/// Control and bidirectional characters of the command are replaced, so that they cannot move the
/// cursor of the terminal or reorder its text.
fn underline(command: &str, span: Option<&Range<usize>>) -> String {
    let whole = 0..command.len();
    let span = span.unwrap_or(&whole);
    let mut text = String::new();
    let mut line_count = 0;
    let mut start = 0;
    for line in command.split('\n') {
        let end = start + line.len();
        // An empty span at the end of the text touches the last line.
        let is_touched = span.start <= end && (span.end > start || span.start == start);
        if is_touched && line_count == MAX_LINES {
            text.push_str("  …\n");
            break;
        }
        if is_touched {
            line_count += 1;
            let from = span.start.saturating_sub(start);
            let to = span.end.min(end).saturating_sub(start);
            text.push_str(&format_line(line, from..to));
        }
        start = end + 1;
    }
    text
}

/// Formats a line, and carets below the bytes in `marked`.
fn format_line(line: &str, marked: Range<usize>) -> String {
    let cells: Vec<Cell> = line
        .char_indices()
        .map(|(at, character)| {
            let character = visible_form(character);
            Cell {
                character,
                width: character.width().unwrap_or(0),
                is_marked: marked.contains(&at),
            }
        })
        .collect();
    let first = window_start(&cells);
    let mut text = String::from("  ");
    let mut carets = String::from("  ");
    if first > 0 {
        text.push('…');
        carets.push(' ');
    }
    let mut used = 0;
    for cell in &cells[first..] {
        if used + cell.width > MAX_COLUMNS {
            text.push('…');
            break;
        }
        used += cell.width;
        text.push(cell.character);
        let mark = if cell.is_marked { '^' } else { ' ' };
        carets.extend(std::iter::repeat_n(mark, cell.width));
    }
    // A caret after the end of the line marks a missing part.
    if !carets.contains('^') && marked.start >= line.len() {
        carets.push('^');
    }
    format!("{}\n{}\n", text.trim_end(), carets.trim_end())
}

/// A character in its visible form.
struct Cell {
    character: char,
    width: usize,
    is_marked: bool,
}

/// Returns the index of the first visible character, so that the marked part is in view.
fn window_start(cells: &[Cell]) -> usize {
    let total: usize = cells.iter().map(|cell| cell.width).sum();
    if total <= MAX_COLUMNS {
        return 0;
    }
    let first_marked = cells.iter().position(|cell| cell.is_marked);
    let mut before = 0;
    let mut first = first_marked.unwrap_or(cells.len());
    while first > 0 && before < COLUMNS_BEFORE {
        first -= 1;
        before += cells[first].width;
    }
    first
}

/// Returns the character itself, or a visible substitute for a character that terminals interpret.
fn visible_form(character: char) -> char {
    match character {
        '\t' => ' ',
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\x7f' => '␡',
        // Zero-width joiners are shown, too: they can hide a part of a command.
        '\u{200c}' | '\u{200d}' => '\u{fffd}',
        character if character.is_control() || is_deceptive(character) => '\u{fffd}',
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_part_is_underlined() {
        for (command, span, expected) in [
            (
                "ls && curl x",
                Some(6..10),
                "  ls && curl x\n        ^^^^\n",
            ),
            ("rm", None, "  rm\n  ^^\n"),
            ("a\nb c\nd", Some(4..5), "  b c\n    ^\n"),
            ("a\nb", Some(0..3), "  a\n  ^\n  b\n  ^\n"),
            ("echo '", Some(6..6), "  echo '\n        ^\n"),
            ("ls 漢字 x", Some(3..9), "  ls 漢字 x\n     ^^^^\n"),
            ("a\tb\x1b[2Jc", Some(2..3), "  a b␛[2Jc\n    ^\n"),
            ("", None, "  \n  ^\n"),
        ] {
            let underlined = underline(command, span.as_ref());
            // The indent of an empty line is trimmed.
            let expected = expected.replace("  \n  ^", "\n  ^");
            assert_eq!(underlined, expected, "{command:?}");
        }
    }

    #[test]
    fn a_long_line_is_cropped_around_the_marked_part() {
        let command = format!("{}curl{}", "a ".repeat(200), " b".repeat(200));

        let underlined = underline(&command, Some(&(400..404)));

        let lines: Vec<&str> = underlined.lines().collect();
        let at = lines[1].find('^').expect("it is underlined");
        let text: Vec<char> = lines[0].chars().collect();
        assert_eq!(text[at..at + 4].iter().collect::<String>(), "curl");
        assert!(text.len() < 110, "{underlined}");
    }

    #[test]
    fn many_lines_are_truncated() {
        let command = "x\n".repeat(100);

        assert_eq!(underline(&command, None).lines().count(), 2 * MAX_LINES + 1);
    }

    proptest! {
        #[test]
        fn no_control_character_is_printed(
            command in any::<String>(),
            start in 0_usize..40,
            length in 0_usize..40,
        ) {
            let underlined = underline(&command, Some(&(start..start + length)));

            prop_assert!(
                !underlined.chars().any(|c| c.is_control() && c != '\n'),
                "{underlined:?}"
            );
        }
    }
}
