//! Tables of program options, written as text.

/// The options of a program, as far as needed to distinguish options, values and operands.
///
/// Created by `options!`.
pub(crate) struct OptionTable {
    /// Short options.
    pub(crate) letters: &'static [(char, OptionArity)],
    /// Long options without their dashes. Programs accept an unambiguous prefix.
    pub(crate) long: &'static [(&'static str, OptionArity)],
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionArity {
    Nothing,
    /// In the same argument, or the next argument.
    Value,
    /// In the same argument, if at all.
    Attached,
    /// The next argument may be its value. Tables never contain it: it is the result for an unknown
    /// option.
    Unknown,
}

/// Creates an [`OptionTable`] from the letters of its short options and the names of its long
/// options.
///
/// The notation follows `getopt`. Letters are written without blanks: `x` is a flag, `x:` takes a
/// value, and `x?` takes an optional value in the same argument. Names are separated by blanks:
/// `name` is a flag, `name=` takes a value, and `name?` takes an optional value after `=`. A name
/// with one dash is written with it: `-vv`.
macro_rules! options {
    ($letters:literal $(, $long:literal)* $(,)?) => {{
        use $crate::option_table::{OptionTable, OptionArity, count_letters, read_letters, read_names};

        const LETTERS: &[(char, OptionArity)] = &read_letters::<{ count_letters($letters) }>($letters);
        const NAMES: &[&str] = words!($($long,)* "");
        const LONG: &[(&str, OptionArity)] = &read_names::<{ NAMES.len() }>(NAMES);
        OptionTable {
            letters: LETTERS,
            long: LONG,
        }
    }};
}

impl OptionTable {
    /// Returns what the short option `letter` takes.
    pub(crate) fn letter(&self, letter: char) -> Option<OptionArity> {
        let mut letters = self.letters.iter();
        letters
            .find(|(known, _)| *known == letter)
            .map(|(_, takes)| *takes)
    }

    /// Returns what the option `name` takes, written with its dashes and in full.
    pub(crate) fn find(&self, name: &str) -> Option<OptionArity> {
        let mut letters = name.strip_prefix('-')?.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            return self.letter(letter);
        }
        let name = match name.strip_prefix("--") {
            Some(long) if long.starts_with('-') => return None,
            Some(long) => long,
            None => name,
        };
        let mut long = self.long.iter();
        long.find(|(known, _)| *known == name)
            .map(|(_, takes)| *takes)
    }
}

/// Returns the number of options that `letters` describes.
pub(crate) const fn count_letters(letters: &str) -> usize {
    let letters = letters.as_bytes();
    let (mut count, mut at) = (0, 0);
    while at < letters.len() {
        if !matches!(letters[at], b':' | b'?') {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Parses short options; `N` is the result of [`count_letters`].
pub(crate) const fn read_letters<const N: usize>(letters: &str) -> [(char, OptionArity); N] {
    let letters = letters.as_bytes();
    let mut options = [(' ', OptionArity::Nothing); N];
    let (mut count, mut at) = (0, 0);
    while at < letters.len() {
        match letters[at] {
            b':' => options[count - 1].1 = OptionArity::Value,
            b'?' => options[count - 1].1 = OptionArity::Attached,
            letter => {
                assert!(letter.is_ascii_graphic(), "a short option is one letter");
                options[count].0 = letter as char;
                count += 1;
            }
        }
        at += 1;
    }
    options
}

/// Parses the names of `N` long options.
pub(crate) const fn read_names<const N: usize>(
    names: &[&'static str],
) -> [(&'static str, OptionArity); N] {
    let mut options = [("", OptionArity::Nothing); N];
    let mut at = 0;
    while at < N {
        let (name, mark) = names[at].split_at(names[at].len() - 1);
        options[at] = match mark.as_bytes()[0] {
            b'=' => (name, OptionArity::Value),
            b'?' => (name, OptionArity::Attached),
            _ => (names[at], OptionArity::Nothing),
        };
        at += 1;
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: OptionTable = options!("vC:i?.", "all output= color?", "-vv");

    #[test]
    fn the_marks_say_what_an_option_takes() {
        let letters = [
            ('v', OptionArity::Nothing),
            ('C', OptionArity::Value),
            ('i', OptionArity::Attached),
            ('.', OptionArity::Nothing),
        ];
        assert_eq!(TABLE.letters, letters);
        let long = [
            ("all", OptionArity::Nothing),
            ("output", OptionArity::Value),
            ("color", OptionArity::Attached),
            ("-vv", OptionArity::Nothing),
        ];
        assert_eq!(TABLE.long, long);
        assert!(options!("").long.is_empty());
    }

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        for (name, takes) in [
            ("-v", OptionArity::Nothing),
            ("-vv", OptionArity::Nothing),
            ("-C", OptionArity::Value),
            ("-.", OptionArity::Nothing),
            ("--output", OptionArity::Value),
            ("--color", OptionArity::Attached),
        ] {
            assert_eq!(TABLE.find(name), Some(takes), "{name}");
        }
        for name in [
            "",
            "-",
            "--",
            "---",
            "v",
            "-:",
            "-vC",
            "--v",
            "--out",
            "--vv",
            "---vv",
            "-all",
            "all",
            "--output=",
        ] {
            assert_eq!(TABLE.find(name), None, "{name}");
        }
    }
}
