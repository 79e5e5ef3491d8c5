//! How a process ended, and what it said at last.

use std::fmt;
use std::process::ExitStatus;

/// How the program's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It is gone, and nobody knows how.
    Unknown,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        status.code().map_or(Self::Unknown, Self::Code)
    }
}

impl From<autonoe_process::Exit> for Exit {
    fn from(exit: autonoe_process::Exit) -> Self {
        match exit {
            autonoe_process::Exit::Code(code) => Self::Code(code),
            autonoe_process::Exit::Signal(signal) => Self::Signal(signal),
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// The most lines of a complaint that are worth repeating.
const LINES: usize = 5;

/// The most characters of a complaint that are worth repeating.
const CHARACTERS: usize = 600;

/// Returns the last lines that are not blank of what the program wrote to its standard error,
/// without anything that a terminal would obey.
///
/// ```
/// use autonoe_claude::outcome::last_words;
///
/// assert_eq!(last_words("\nerror: unknown option\n\n  --wat  \n"), Some("error: unknown option; --wat".into()));
/// assert_eq!(last_words("\u{1b}[2Jgone"), Some("[2Jgone".into()));
/// assert_eq!(last_words(" \n"), None);
/// ```
pub fn last_words(stderr: &str) -> Option<String> {
    let lines: Vec<String> = stderr
        .lines()
        .map(|line| harmless(line).trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(LINES);
    let said = lines.get(from..).unwrap_or_default().join("; ");
    let skipped = said.chars().count().saturating_sub(CHARACTERS);
    let said: String = said.chars().skip(skipped).collect();
    (!said.is_empty()).then_some(said)
}

/// Replaces what a terminal would obey and what would change how the rest is read.
pub(crate) fn harmless(text: &str) -> String {
    let replace = |character: char| match character {
        character if character.is_control() => ' ',
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => '\u{fffd}',
        '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        character => character,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_few() {
        let long = "é".repeat(10_000);
        let many = "one\n".repeat(100);

        assert_eq!(
            last_words(&long).map(|said| said.chars().count()),
            Some(600)
        );
        assert_eq!(
            last_words(&many).as_deref(),
            Some("one; one; one; one; one")
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_exit_is_a_code_or_a_signal() {
        use std::os::unix::process::ExitStatusExt;

        assert_eq!(Exit::from(ExitStatus::from_raw(1 << 8)), Exit::Code(1));
        assert_eq!(Exit::from(ExitStatus::from_raw(9)), Exit::Signal(9));
    }
}
