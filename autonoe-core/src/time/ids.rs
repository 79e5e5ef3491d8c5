//! Identifiers of runs, sessions, epochs and backend conversations, and the [`IdSource`] of random ones.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{SpanContext, SpanId, TraceId};

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

/// Source of the random numbers that ids are made of.
///
/// Implementations must return numbers that do not repeat across runs. The numbers are not suitable
/// for secrets. [`SeededIds`] makes ids reproducible in tests.
///
/// ```
/// use autonoe_core::time::{IdSource, SeededIds};
///
/// assert_eq!(SeededIds::new(7).next_u64(), SeededIds::new(7).next_u64());
/// ```
pub trait IdSource: Send + Sync {
    /// Returns the next number.
    fn next_u64(&self) -> u64;
}

#[deny(clippy::missing_trait_methods)]
impl<S: IdSource + ?Sized> IdSource for Arc<S> {
    fn next_u64(&self) -> u64 {
        (**self).next_u64()
    }
}

impl dyn IdSource {
    /// Creates a run id of 32 hexadecimal digits.
    pub fn run_id(&self) -> RunId {
        RunId::new(format!("{:016x}{:016x}", self.next_u64(), self.next_u64()))
    }

    /// Creates the root span of a new trace.
    pub fn root_span(&self) -> SpanContext {
        let trace = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
        // W3C Trace Context forbids ids that are all zero.
        SpanContext::root(TraceId(trace.max(1)), self.span_id())
    }

    /// Creates a child of `span`.
    pub fn child_span(&self, span: &SpanContext) -> SpanContext {
        span.child(self.span_id())
    }

    fn span_id(&self) -> SpanId {
        SpanId(self.next_u64().max(1))
    }
}

/// Random numbers from the operating system, with a seeded generator as the fallback.
#[derive(Debug)]
pub struct RandomIds {
    fallback: SeededIds,
}

impl RandomIds {
    /// Creates a source and seeds its fallback from the operating system.
    ///
    /// # Errors
    ///
    /// The operating system provides no random numbers.
    pub fn new() -> Result<Self, RandomnessError> {
        let seed = getrandom::u64().map_err(|source| RandomnessError { source })?;
        Ok(Self {
            fallback: SeededIds::new(seed),
        })
    }
}

impl IdSource for RandomIds {
    fn next_u64(&self) -> u64 {
        // Every number comes from the operating system. The fallback is used only if the system
        // stops providing random numbers in the middle of a run.
        getrandom::u64().unwrap_or_else(|_| self.fallback.next_u64())
    }
}

/// Error: the operating system provides no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random numbers")]
pub struct RandomnessError {
    source: getrandom::Error,
}

/// Reproducible sequence of numbers (SplitMix64): the same seed yields the same numbers.
#[derive(Debug)]
pub struct SeededIds {
    state: AtomicU64,
}

impl SeededIds {
    /// Creates a source that starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }
}

impl IdSource for SeededIds {
    fn next_u64(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self
            .state
            .fetch_add(STEP, Ordering::Relaxed)
            .wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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
