//! Error type of this program.

use std::fmt;

/// Says in one sentence, sometimes with a list below it, what went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    /// Wraps the sentence for the reader.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// Puts the lines of a list below a heading, or returns `Ok` for no lines.
    pub(crate) fn unless_empty(heading: &str, lines: &[String]) -> Result<(), Self> {
        if lines.is_empty() {
            return Ok(());
        }
        Err(Self(format!("{heading}:\n  {}", lines.join("\n  "))))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
