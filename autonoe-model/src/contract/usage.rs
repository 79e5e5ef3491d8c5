//! What a call used, as far as anybody knows.

use std::ops::{Add, AddAssign};

use autonoe_core::TokenUsage;

use super::{ModelError, ModelEvent};

/// What a call used, as far as its provider told.
///
/// A provider that counts nothing, and an incomplete answer, leave a part of it untold: what
/// is not told is unknown and never nothing.
///
/// ```
/// use autonoe_core::TokenUsage;
/// use autonoe_model::{AssistantMessage, CallUsage, ModelReply};
///
/// let reply = ModelReply::new(AssistantMessage::text("Yes."));
/// assert_eq!(reply.usage, CallUsage::UNKNOWN);
///
/// let tokens = TokenUsage { input: 7, output: 2, ..TokenUsage::default() };
/// let reply = reply.with_usage(tokens);
/// assert_eq!(reply.usage.told(), Some(tokens));
/// assert_eq!((reply.usage + CallUsage::UNKNOWN).told(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallUsage {
    /// All of it.
    Told(TokenUsage),
    /// So much at least; nobody told the rest.
    AtLeast(TokenUsage),
}

const NO_TOKENS: TokenUsage = TokenUsage {
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
};

impl CallUsage {
    /// The call used nothing: no model was at work.
    pub const NOTHING: Self = Self::Told(NO_TOKENS);

    /// Nobody told what the call used.
    pub const UNKNOWN: Self = Self::AtLeast(NO_TOKENS);

    /// Returns the tokens that are known to be used, which may be a part of them.
    pub fn known(&self) -> TokenUsage {
        match self {
            Self::Told(tokens) | Self::AtLeast(tokens) => *tokens,
        }
    }

    /// Returns the tokens that were used; `None` if a part of them is unknown.
    pub fn told(&self) -> Option<TokenUsage> {
        match self {
            Self::Told(tokens) => Some(*tokens),
            Self::AtLeast(_) => None,
        }
    }
}

impl Default for CallUsage {
    /// Nobody told.
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl From<TokenUsage> for CallUsage {
    fn from(tokens: TokenUsage) -> Self {
        Self::Told(tokens)
    }
}

impl Add for CallUsage {
    type Output = Self;

    /// Adds two calls. A part that is unknown makes the sum unknown.
    fn add(self, other: Self) -> Self {
        let known = self.known() + other.known();
        match (self, other) {
            (Self::Told(_), Self::Told(_)) => Self::Told(known),
            _ => Self::AtLeast(known),
        }
    }
}

impl AddAssign for CallUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What the try under way is known to have used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    has_begun: bool,
    known: TokenUsage,
}

impl Meter {
    /// Takes note of a part of an answer.
    pub(crate) fn hear(&mut self, event: &ModelEvent) {
        self.has_begun = true;
        if let ModelEvent::Used(tokens) = event {
            self.known = *tokens;
        }
    }

    /// Returns what an answer used that was not heard to its end.
    pub(crate) fn broke_off(&self) -> CallUsage {
        CallUsage::AtLeast(self.known)
    }

    /// Returns what a try used that failed. One that had begun has used something, whatever the
    /// error says.
    pub(crate) fn failed(&self, error: &ModelError) -> CallUsage {
        match error.usage {
            said if !self.has_begun => said,
            CallUsage::NOTHING => self.broke_off(),
            CallUsage::AtLeast(said) if said.total() < self.known.total() => self.broke_off(),
            said => said,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ModelErrorCode;

    fn tokens(input: u64) -> TokenUsage {
        TokenUsage {
            input,
            ..TokenUsage::default()
        }
    }

    #[test]
    fn what_is_unknown_in_a_part_is_unknown_in_the_sum() {
        let (told, least) = (CallUsage::Told(tokens(3)), CallUsage::AtLeast(tokens(4)));
        for (one, other, sum) in [
            (told, told, CallUsage::Told(tokens(6))),
            (told, least, CallUsage::AtLeast(tokens(7))),
            (least, told, CallUsage::AtLeast(tokens(7))),
            (least, least, CallUsage::AtLeast(tokens(8))),
            (told, CallUsage::NOTHING, told),
            (told, CallUsage::UNKNOWN, CallUsage::AtLeast(tokens(3))),
        ] {
            assert_eq!(one + other, sum, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_try_that_had_begun_did_not_use_nothing() {
        let said = ModelEvent::Text("x".into());
        let used = ModelEvent::Used(tokens(9));
        let limited = || ModelError::new(ModelErrorCode::RateLimited, "busy");
        let cut = || ModelError::new(ModelErrorCode::NetworkError, "cut");
        for (events, error, expected) in [
            (vec![], limited(), CallUsage::NOTHING),
            (vec![], cut(), CallUsage::UNKNOWN),
            (vec![&said], limited(), CallUsage::UNKNOWN),
            (vec![&used], limited(), CallUsage::AtLeast(tokens(9))),
            (vec![&used], cut(), CallUsage::AtLeast(tokens(9))),
            (
                vec![&used],
                cut().with_usage(tokens(11)),
                CallUsage::AtLeast(tokens(11)),
            ),
        ] {
            let mut meter = Meter::default();
            for event in &events {
                meter.hear(event);
            }
            assert_eq!(meter.failed(&error), expected, "{events:?} {error:?}");
        }
    }
}
