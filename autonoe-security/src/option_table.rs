//! Options of programs, written as text.

/// The options of a program, as far as one must know them to tell options, values and operands apart.
///
/// `options!` makes one.
pub(crate) struct OptionTable {
    /// Short options.
    pub(crate) letters: &'static [(char, Takes)],
    /// Long options without their dashes. Programs accept a beginning of one if it is clear which is
    /// meant.
    pub(crate) long: &'static [(&'static str, Takes)],
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// Written together with it, or as the next argument.
    Value,
    /// Written together with it, if at all.
    Attached,
    /// The next argument may be its value. No table says so: it is the answer about an option that
    /// is not known.
    Unclear,
}

/// Makes an [`OptionTable`] from the letters of its short options and the names of its long options.
///
/// The notation follows `getopt`. Letters are written without blanks: `x` is a flag, `x:` takes a
/// value, and `x?` takes one that is written together with it, if at all. Names have blanks between
/// them: `name` is a flag, `name=` takes a value, and `name?` takes one after `=`, if at all. A name
/// with one dash is written with it: `-vv`.
macro_rules! options {
    ($letters:literal $(, $long:literal)* $(,)?) => {{
        use $crate::option_table::{OptionTable, Takes, count_letters, read_letters, read_names};

        const LETTERS: &[(char, Takes)] = &read_letters::<{ count_letters($letters) }>($letters);
        const NAMES: &[&str] = words!($($long,)* "");
        const LONG: &[(&str, Takes)] = &read_names::<{ NAMES.len() }>(NAMES);
        OptionTable {
            letters: LETTERS,
            long: LONG,
        }
    }};
}

impl OptionTable {
    /// Returns what the short option `letter` takes.
    pub(crate) fn letter(&self, letter: char) -> Option<Takes> {
        let mut letters = self.letters.iter();
        letters
            .find(|(known, _)| *known == letter)
            .map(|(_, takes)| *takes)
    }

    /// Returns what the option `name` takes, which is written with its dashes and in full.
    pub(crate) fn find(&self, name: &str) -> Option<Takes> {
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

/// Returns how many options `letters` describes.
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

/// Reads short options; `N` is what [`count_letters`] returns.
pub(crate) const fn read_letters<const N: usize>(letters: &str) -> [(char, Takes); N] {
    let letters = letters.as_bytes();
    let mut options = [(' ', Takes::Nothing); N];
    let (mut count, mut at) = (0, 0);
    while at < letters.len() {
        match letters[at] {
            b':' => options[count - 1].1 = Takes::Value,
            b'?' => options[count - 1].1 = Takes::Attached,
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

/// Reads the names of `N` long options.
pub(crate) const fn read_names<const N: usize>(
    names: &[&'static str],
) -> [(&'static str, Takes); N] {
    let mut options = [("", Takes::Nothing); N];
    let mut at = 0;
    while at < N {
        let (name, mark) = names[at].split_at(names[at].len() - 1);
        options[at] = match mark.as_bytes()[0] {
            b'=' => (name, Takes::Value),
            b'?' => (name, Takes::Attached),
            _ => (names[at], Takes::Nothing),
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
            ('v', Takes::Nothing),
            ('C', Takes::Value),
            ('i', Takes::Attached),
            ('.', Takes::Nothing),
        ];
        assert_eq!(TABLE.letters, letters);
        let long = [
            ("all", Takes::Nothing),
            ("output", Takes::Value),
            ("color", Takes::Attached),
            ("-vv", Takes::Nothing),
        ];
        assert_eq!(TABLE.long, long);
        assert!(options!("").long.is_empty());
    }

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        for (name, takes) in [
            ("-v", Takes::Nothing),
            ("-vv", Takes::Nothing),
            ("-C", Takes::Value),
            ("-.", Takes::Nothing),
            ("--output", Takes::Value),
            ("--color", Takes::Attached),
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
