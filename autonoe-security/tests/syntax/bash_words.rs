//! Compares plain words in the tree with Bash's own expansion of them.

use autonoe_security::syntax::{ArgWord, Brace, Part, commands, parse};

use crate::common::mutate::{Mutator, number};
use crate::syntax::bash::Bash;

/// Number of words; a longer run sets it.
const WORDS: &str = "AUTONOE_SYNTAX_WORDS";

/// Pieces of the words: none of them runs anything.
const PIECES: [&str; 40] = [
    "a", "b", "c", "é", "1", "12", "-", "=", ":", ",", "..", ".", "/", "{", "}", "{a,b}", "{1..3}",
    "{a..c}", "{,x}", "~", "~/", "*", "?", "[", "]", "'", "''", "'q r'", "\"", "\"d e\"", "\\",
    "\\ ", "\\\\", "\\'", "\\\"", "$'\\t'", "$'\\x41'", "$\"s\"", "#", "%",
];

#[test]
fn words_are_what_bash_makes_of_them() {
    let mut random = Mutator::new(7, Vec::new());
    let mut bash = Bash::for_words();
    let mut compared = 0;

    for _ in 0..number(WORDS, 6000) {
        let length = 1 + random.below(7);
        let text: String = (0..length)
            .map(|_| PIECES[random.below(PIECES.len())])
            .collect();
        let Some(expected) = words(&text) else {
            continue;
        };
        compared += 1;
        assert_eq!(expected, bash.words(&text), "{text:?}");
    }

    println!("compared {compared}");
    assert!(compared > 500);
}

/// Returns the arguments of a command followed by `text` according to the tree; `None` if it has
/// none.
fn words(text: &str) -> Option<Vec<String>> {
    let command = format!("x {text}");
    let tree = parse(&command).ok()?;
    let command = commands(&tree).next()?;
    let mut all = Vec::new();
    for word in command.words.iter().skip(1) {
        let ArgWord::Word(word) = word else {
            return None;
        };
        let is_quoted = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Quoted(_)));
        for expanded in expanded(&word.parts)? {
            // An empty word without quotes vanishes; braces can make some with and some without
            // quotes.
            match (expanded.is_empty(), is_quoted) {
                (true, true) if word.parts.len() > 1 => return None,
                (true, false) => return None,
                _ => all.push(expanded),
            }
        }
    }
    Some(all)
}

/// Returns the texts of the parts together; each part multiplies the texts before it.
fn expanded(parts: &[Part<'_>]) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    for part in parts {
        let more = match part {
            Part::Literal(text) | Part::Quoted(text) => vec![text.to_string()],
            Part::Glob(character) => vec![character.to_string()],
            Part::Tilde(name) if name.is_empty() => vec!["/home/me".to_owned()],
            Part::Brace(brace) => braces(brace)?,
            _ => return None,
        };
        all = all
            .iter()
            .flat_map(|before| more.iter().map(move |after| format!("{before}{after}")))
            .collect();
    }
    Some(all)
}

fn braces(brace: &Brace<'_>) -> Option<Vec<String>> {
    match brace {
        Brace::Alternatives(alternatives) => {
            let all: Option<Vec<_>> = alternatives.iter().map(|parts| expanded(parts)).collect();
            Some(all?.concat())
        }
        Brace::Sequence {
            first,
            last,
            step: None,
        } => match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Some(
                (first..=last)
                    .map(|number: i64| number.to_string())
                    .collect(),
            ),
            _ => {
                let (first, last) = (first.chars().next()?, last.chars().next()?);
                Some((first..=last).map(String::from).collect())
            }
        },
        Brace::Sequence { .. } => None,
    }
}
