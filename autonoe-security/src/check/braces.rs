//! Brace expansion of a word, within a size limit.

use std::borrow::Cow;

use crate::syntax::{Brace, Part};

/// Maximum number of arguments from the braces of one word.
pub(crate) const MOST_ARGS: usize = 1024;

/// Maximum size of the text from the braces of one word, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// The remaining limits of the expansion.
struct Budget {
    words: usize,
    text: usize,
}

/// Returns the words that `parts` expand to; `None` if there are too many.
pub(crate) fn expand<'s>(parts: &[Part<'s>]) -> Option<Vec<Vec<Part<'s>>>> {
    let mut budget = Budget {
        words: MOST_ARGS,
        text: MOST_TEXT,
    };
    expand_within(parts, &mut budget)
}

fn expand_within<'s>(parts: &[Part<'s>], budget: &mut Budget) -> Option<Vec<Vec<Part<'s>>>> {
    let mut words: Vec<Vec<Part<'s>>> = vec![Vec::new()];
    for part in parts {
        let Part::Brace(brace) = part else {
            for word in &mut words {
                budget.text = budget.text.checked_sub(length(part))?;
                word.push(part.clone());
            }
            continue;
        };
        let alternatives = match brace.as_ref() {
            Brace::Alternatives(alternatives) => {
                let mut all = Vec::new();
                for alternative in alternatives {
                    all.extend(expand_within(alternative, budget)?);
                }
                all
            }
            Brace::Sequence { first, last, step } => {
                let values = sequence(first, last, step.as_deref())?;
                let part = |text| vec![Part::Literal(Cow::Owned(text))];
                values.into_iter().map(part).collect()
            }
        };
        budget.words = budget
            .words
            .checked_sub(words.len().checked_mul(alternatives.len())?)?;
        let mut longer = Vec::new();
        for word in &words {
            for alternative in &alternatives {
                let text: usize = word.iter().chain(alternative).map(length).sum();
                budget.text = budget.text.checked_sub(text)?;
                longer.push(word.iter().chain(alternative).cloned().collect());
            }
        }
        words = longer;
    }
    Some(words)
}

/// Returns the approximate text length of a part.
fn length(part: &Part<'_>) -> usize {
    match part {
        Part::Literal(text) | Part::Quoted(text) | Part::Tilde(text) => text.len(),
        Part::DoubleQuoted(inner) => inner.iter().map(length).sum(),
        Part::Glob(_) => 1,
        // Copying a tree costs more than its text; such words are short in practice.
        _ => 256,
    }
}

/// Returns the texts of `{first..last..step}`; `None` if there are too many.
fn sequence(first: &str, last: &str, step: Option<&str>) -> Option<Vec<String>> {
    let step = match step {
        Some(step) => u128::from(step.parse::<i64>().ok()?.unsigned_abs()).max(1),
        None => 1,
    };
    let (from, to, show): (i128, i128, fn(i128) -> String) = match (first.parse(), last.parse()) {
        (Ok(from), Ok(to)) => (from, to, |number| number.to_string()),
        _ => (
            code_of_letter(first)?,
            code_of_letter(last)?,
            letter_of_code,
        ),
    };
    let count = from.checked_sub(to)?.unsigned_abs() / step + 1;
    let count = i128::try_from(count).ok()?;
    if count > MOST_ARGS as i128 {
        return None;
    }
    let step = i128::try_from(step).ok()?;
    let step = if from <= to { step } else { -step };
    let is_padded = [first, last].into_iter().any(is_padded);
    let width = is_padded.then(|| first.len().max(last.len()));
    let values = (0..count).map(|number| {
        let text = show(from + step * number);
        match (width, text.strip_prefix('-')) {
            (None, _) => text,
            (Some(width), None) => format!("{text:0>width$}"),
            (Some(width), Some(digits)) => {
                let width = width.saturating_sub(1);
                format!("-{digits:0>width$}")
            }
        }
    });
    Some(values.collect())
}

fn code_of_letter(text: &str) -> Option<i128> {
    let mut letters = text.chars();
    let letter = letters.next().filter(char::is_ascii)?;
    letters
        .next()
        .is_none()
        .then_some(i128::from(u32::from(letter)))
}

fn letter_of_code(code: i128) -> String {
    let letter = u32::try_from(code).ok().and_then(char::from_u32);
    letter.map(String::from).unwrap_or_default()
}

fn is_padded(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() > 1 && digits.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{ArgWord, commands, parse, static_text};

    /// Returns the words that a word expands to; `None` if there are too many.
    fn expanded(word: &str) -> Option<Vec<String>> {
        let text = format!("echo {word}");
        let script = parse(&text).expect("Bash");
        let command = commands(&script).next().expect("a command");
        let [_, ArgWord::Word(word)] = &command.words[..] else {
            panic!("{text} is not one word");
        };
        let words = expand(&word.parts)?.into_iter();
        let texts = words.map(|parts| static_text(&parts).expect("plain").into_owned());
        Some(texts.collect())
    }

    #[test]
    fn braces_make_the_words_that_bash_makes() {
        for (word, expected) in [
            ("a{b,c}d", "abd acd"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("{a,{b,c}d}", "a bd cd"),
            ("x{,y}", "x xy"),
            ("{1..3}", "1 2 3"),
            ("{3..1}", "3 2 1"),
            ("{-1..1}", "-1 0 1"),
            ("{1..9..4}", "1 5 9"),
            ("{1..10..4}", "1 5 9"),
            ("{9..1..4}", "9 5 1"),
            ("{9..1..-4}", "9 5 1"),
            ("{1..3..0}", "1 2 3"),
            ("{08..10}", "08 09 10"),
            ("{1..010..4}", "001 005 009"),
            ("{-01..1}", "-01 000 001"),
            ("{0..2}", "0 1 2"),
            ("{00..2}", "00 01 02"),
            ("{a..c}", "a b c"),
            ("{c..a}", "c b a"),
            ("{a..g..3}", "a d g"),
            ("p{1..2}{a..b}", "p1a p1b p2a p2b"),
        ] {
            let words = expanded(word).expect("few").join(" ");
            assert_eq!(words, expected, "{word}");
        }
    }

    #[test]
    fn too_many_words_are_not_made() {
        assert_eq!(expanded("{1..1024}").map(|words| words.len()), Some(1024));
        assert_eq!(expanded("{1..1025}"), None);
        assert_eq!(expanded("{1..999999999}"), None);
        assert_eq!(expanded("{1..33}{1..33}"), None);
    }

    #[test]
    fn oversized_brace_expansions_are_not_expanded() {
        let long = "x".repeat(2000);

        assert_eq!(expanded(&format!("{long}{{1..1000}}")), None);
        assert_eq!(expanded(&format!("{{1..1000}}{long}")), None);
        assert_eq!(expanded(&format!("{{1..1000}}'{long}'")), None);
    }
}
