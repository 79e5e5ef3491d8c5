//! Identifiers of runs, sessions, epochs and backend conversations.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Id of a run, unique across runs.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Maximum length, in bytes, of an id that `checked` accepts. Such ids become
    /// part of branch and file names.
    pub const MAX_LEN: usize = 200;

    /// Creates an id from `text` without validation. Use `checked` for untrusted
    /// text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Validates user-provided text as a run id. A valid id is safe to use in branch and file names
    /// and contains no invisible characters.
    ///
    /// # Errors
    ///
    /// The text contains characters other than ASCII letters, digits, `-`, `_` and `.`, does not
    /// start with a letter or a digit, contains `..`, or is longer than `LONGEST`.
    ///
    /// ```
    /// use autonoe_core::RunId;
    ///
    /// assert_eq!(RunId::parse("night.shop-1")?.as_str(), "night.shop-1");
    /// assert!(RunId::parse("../shop").is_err());
    /// # Ok::<(), autonoe_core::time::InvalidRunId>(())
    /// ```
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidRunId> {
        let text = text.into();
        let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_valid = text.len() <= Self::MAX_LEN
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.chars().all(is_known)
            && !text.contains("..");
        if is_valid {
            Ok(Self(text))
        } else {
            Err(InvalidRunId)
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: the text is not a valid run id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an id of a run has letters, digits, `-`, `_` and `.`, begins with a letter or a digit, and has \
     no `..` and at most {} characters",
    RunId::MAX_LEN
)]
#[non_exhaustive]
pub struct InvalidRunId;

/// Key of a session: the run, and the number of the session in it, starting at 1.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct SessionKey {
    /// Run of the session.
    pub run: RunId,
    /// Number of the session within the run, starting at 1 and never reused.
    pub number: u32,
}

impl SessionKey {
    /// Returns a key that stands for the run as a whole, for example in an error. Its number is 0,
    /// which no session has.
    ///
    /// ```
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::RunId;
    ///
    /// assert_eq!(SessionKey::for_run(&RunId::new("shop")).number, 0);
    /// ```
    pub fn for_run(run: &RunId) -> Self {
        Self {
            run: run.clone(),
            number: 0,
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.number)
    }
}

/// Fencing token: each takeover of a project increments it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Returns the epoch of the next takeover, or `None` if the counter would overflow.
    ///
    /// ```
    /// use autonoe_core::time::Epoch;
    ///
    /// assert_eq!(Epoch(1).next(), Some(Epoch(2)));
    /// assert_eq!(Epoch(u64::MAX).next(), None);
    /// ```
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

/// The backend's name for a conversation, with which it can be resumed.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct AgentSessionId(String);

impl AgentSessionId {
    /// Creates an id from the backend's name for a conversation.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checked_ids_are_safe_in_file_names() {
        let longest = "x".repeat(RunId::MAX_LEN);
        for id in ["shop-1", "night.shop_1", "7", &longest] {
            assert_eq!(RunId::parse(id), Ok(RunId::new(id)));
        }

        let too_long = "x".repeat(RunId::MAX_LEN + 1);
        for id in [
            "",
            "../x",
            "a/b",
            "a..b",
            "..",
            ".a",
            "-a",
            "_a",
            "a b",
            "a\nb",
            "a\u{1b}[2J",
            "é",
            &too_long,
        ] {
            assert_eq!(RunId::parse(id), Err(InvalidRunId), "{id:?}");
        }
    }
}
