//! A command with the part of it underlined that a rule objects to.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// The most columns that are shown of a line.
const WIDEST: usize = 96;

/// How many columns are shown before what is underlined, when a line is too wide.
const BEFORE: usize = 24;

/// The most lines that are shown.
const MOST_LINES: usize = 5;

/// Writes the lines of `command` that `span` touches, with carets below the span.
///
/// No character of the command reaches the terminal that would move its cursor or turn its
/// text around.
pub(super) fn underlined(command: &str, span: Option<&Range<usize>>) -> String {
    let whole = 0..command.len();
    let span = span.unwrap_or(&whole);
    let mut text = String::new();
    let mut shown = 0;
    let mut start = 0;
    for line in command.split('\n') {
        let end = start + line.len();
        // A span at the very end of the text touches its last line.
        let is_touched = span.start <= end && (span.end > start || span.start == start);
        if is_touched && shown == MOST_LINES {
            text.push_str("  …\n");
            break;
        }
        if is_touched {
            shown += 1;
            let from = span.start.saturating_sub(start);
            let to = span.end.min(end).saturating_sub(start);
            text.push_str(&one_line(line, from..to));
        }
        start = end + 1;
    }
    text
}

/// Writes a line and the carets below the bytes in `marked`.
fn one_line(line: &str, marked: Range<usize>) -> String {
    let cells: Vec<Cell> = line
        .char_indices()
        .map(|(at, character)| {
            let character = visible(character);
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
        if used + cell.width > WIDEST {
            text.push('…');
            break;
        }
        used += cell.width;
        text.push(cell.character);
        let mark = if cell.is_marked { '^' } else { ' ' };
        carets.extend(std::iter::repeat_n(mark, cell.width));
    }
    // What is missing at an end is shown by a caret behind it.
    if !carets.contains('^') && marked.start >= line.len() {
        carets.push('^');
    }
    format!("{}\n{}\n", text.trim_end(), carets.trim_end())
}

/// A character as it is shown.
struct Cell {
    character: char,
    width: usize,
    is_marked: bool,
}

/// Returns from which character on a line is shown, so that what is marked can be seen.
fn window_start(cells: &[Cell]) -> usize {
    let total: usize = cells.iter().map(|cell| cell.width).sum();
    if total <= WIDEST {
        return 0;
    }
    let first_marked = cells.iter().position(|cell| cell.is_marked);
    let mut before = 0;
    let mut first = first_marked.unwrap_or(cells.len());
    while first > 0 && before < BEFORE {
        first -= 1;
        before += cells[first].width;
    }
    first
}

/// Returns a character that stands for itself, or one that shows what a terminal would obey.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\x7f' => '␡',
        // Marks that turn the direction of text around, or that nobody sees.
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => '\u{fffd}',
        character if character.is_control() => '\u{fffd}',
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_part_is_underlined() {
        for (command, span, shown) in [
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
            let underlined = underlined(command, span.as_ref());
            // An empty line has nothing to trim but its indent.
            let shown = shown.replace("  \n  ^", "\n  ^");
            assert_eq!(underlined, shown, "{command:?}");
        }
    }

    #[test]
    fn of_a_long_line_the_part_around_it_is_shown() {
        let command = format!("{}curl{}", "a ".repeat(200), " b".repeat(200));

        let underlined = underlined(&command, Some(&(400..404)));

        let lines: Vec<&str> = underlined.lines().collect();
        let at = lines[1].find('^').expect("it is underlined");
        let text: Vec<char> = lines[0].chars().collect();
        assert_eq!(text[at..at + 4].iter().collect::<String>(), "curl");
        assert!(text.len() < 110, "{underlined}");
    }

    #[test]
    fn of_many_lines_a_few_are_shown() {
        let command = "x\n".repeat(100);

        assert_eq!(
            underlined(&command, None).lines().count(),
            2 * MOST_LINES + 1
        );
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_shown(
            command in any::<String>(),
            start in 0_usize..40,
            length in 0_usize..40,
        ) {
            let underlined = underlined(&command, Some(&(start..start + length)));

            prop_assert!(
                !underlined.chars().any(|c| c.is_control() && c != '\n'),
                "{underlined:?}"
            );
        }
    }
}
