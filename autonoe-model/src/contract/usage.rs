//! [`CallUsage`]: tokens that a call used, as far as known.

use std::ops::{Add, AddAssign};

use autonoe_core::agent::TokenUsage;

/// Token usage of a call, as reported by its provider.
///
/// Providers without counts and incomplete answers leave a part of the usage unreported. Unreported
/// usage is unknown and never zero.
///
/// ```
/// use autonoe_core::agent::TokenUsage;
/// use autonoe_model::contract::{AssistantMessage, CallUsage};
/// use autonoe_model::ModelReply;
///
/// let reply = ModelReply::new(AssistantMessage::text("Yes."));
/// assert_eq!(reply.usage, CallUsage::UNKNOWN);
///
/// let tokens = TokenUsage { input: 7, output: 2, ..TokenUsage::default() };
/// let reply = reply.with_usage(tokens);
/// assert_eq!(reply.usage.complete(), Some(tokens));
/// assert_eq!((reply.usage + CallUsage::UNKNOWN).complete(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallUsage {
    /// Complete usage.
    Complete(TokenUsage),
    /// Lower bound; the rest is unknown.
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
    /// The call used nothing, because no model has started.
    pub const NOTHING: Self = Self::Complete(NO_TOKENS);

    /// The usage of the call is unknown.
    pub const UNKNOWN: Self = Self::AtLeast(NO_TOKENS);

    /// Returns the known tokens, which may be a part of the usage.
    pub fn known(&self) -> TokenUsage {
        match self {
            Self::Complete(tokens) | Self::AtLeast(tokens) => *tokens,
        }
    }

    /// Returns the complete usage, or `None` if a part of it is unknown.
    pub fn complete(&self) -> Option<TokenUsage> {
        match self {
            Self::Complete(tokens) => Some(*tokens),
            Self::AtLeast(_) => None,
        }
    }
}

impl Default for CallUsage {
    /// Unknown usage.
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl From<TokenUsage> for CallUsage {
    fn from(tokens: TokenUsage) -> Self {
        Self::Complete(tokens)
    }
}

impl Add for CallUsage {
    type Output = Self;

    /// Adds the usage of two calls. If a part is unknown, the sum is a lower bound.
    fn add(self, other: Self) -> Self {
        let known = self.known() + other.known();
        match (self, other) {
            (Self::Complete(_), Self::Complete(_)) => Self::Complete(known),
            _ => Self::AtLeast(known),
        }
    }
}

impl AddAssign for CallUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_with_incomplete_part_is_incomplete() {
        let (complete, least) = (
            CallUsage::Complete(tokens(3)),
            CallUsage::AtLeast(tokens(4)),
        );
        for (one, other, sum) in [
            (complete, complete, CallUsage::Complete(tokens(6))),
            (complete, least, CallUsage::AtLeast(tokens(7))),
            (least, complete, CallUsage::AtLeast(tokens(7))),
            (least, least, CallUsage::AtLeast(tokens(8))),
            (complete, CallUsage::NOTHING, complete),
            (complete, CallUsage::UNKNOWN, CallUsage::AtLeast(tokens(3))),
        ] {
            assert_eq!(one + other, sum, "{one:?} {other:?}");
        }
    }

    fn tokens(input: u64) -> TokenUsage {
        TokenUsage {
            input,
            ..TokenUsage::default()
        }
    }
}
