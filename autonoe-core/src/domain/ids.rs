//! Names of runs and sessions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names one run; no two runs share it.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// As many characters as an id of a person's may have: it becomes part of the names of branches
    /// and files.
    pub const LONGEST: usize = 200;

    /// Takes `text` as the id of a run. For ids that somebody else has made up see
    /// [`checked`](Self::checked).
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Makes an id of a text that a person has given, so that it leads nowhere as a part of a name and
    /// hides nothing.
    ///
    /// # Errors
    ///
    /// The text has something else than letters, digits, `-`, `_` and `.`, does not begin with a
    /// letter or a digit, or has `..` or too many characters.
    ///
    /// ```
    /// use autonoe_core::RunId;
    ///
    /// assert_eq!(RunId::checked("night.shop-1")?.as_str(), "night.shop-1");
    /// assert!(RunId::checked("../shop").is_err());
    /// # Ok::<(), autonoe_core::InvalidRunId>(())
    /// ```
    pub fn checked(text: impl Into<String>) -> Result<Self, InvalidRunId> {
        let text = text.into();
        let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_valid = text.len() <= Self::LONGEST
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.chars().all(is_known)
            && !text.contains("..");
        match is_valid {
            true => Ok(Self(text)),
            false => Err(InvalidRunId),
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

/// A text that cannot be the id of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an id of a run has letters, digits, `-`, `_` and `.`, begins with a letter or a digit, and has \
     no `..` and at most {} characters",
    RunId::LONGEST
)]
#[non_exhaustive]
pub struct InvalidRunId;

/// Names one session: the run, and the number of the session in it, from 1.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct SessionKey {
    /// The run.
    pub run: RunId,
    /// The number of the session within the run, from 1, never used twice.
    pub number: u32,
}

impl SessionKey {
    /// Names a run where a session is to be named, in an error for example. No session has this key.
    ///
    /// ```
    /// use autonoe_core::{RunId, SessionKey};
    ///
    /// assert_eq!(SessionKey::of_run(&RunId::new("shop")).number, 0);
    /// ```
    pub fn of_run(run: &RunId) -> Self {
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

/// Counts who may write: each takeover of a project raises it.
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
    /// Returns the epoch of the next takeover, or `None` after the last one that can be written.
    ///
    /// ```
    /// use autonoe_core::Epoch;
    ///
    /// assert_eq!(Epoch(1).next(), Some(Epoch(2)));
    /// assert_eq!(Epoch(u64::MAX).next(), None);
    /// ```
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

/// Names a conversation in the words of the backend, so that it can be resumed.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct AgentSessionId(String);

impl AgentSessionId {
    /// Takes `text` as the backend's name of a conversation.
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
    fn an_id_that_a_person_gives_leads_nowhere_and_hides_nothing() {
        let longest = "x".repeat(RunId::LONGEST);
        for id in ["shop-1", "night.shop_1", "7", &longest] {
            assert_eq!(RunId::checked(id), Ok(RunId::new(id)));
        }

        let too_long = "x".repeat(RunId::LONGEST + 1);
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
            assert_eq!(RunId::checked(id), Err(InvalidRunId), "{id:?}");
        }
    }
}
