//! What a report of tokens becomes.

use autonoe_core::{StreamEvent, TokenUsage};

use super::TokenCounts;
use super::priced_agents::Pricing;

/// Returns the events for a report of tokens that tells no cost, of a session on `model`.
///
/// What is known is in the first. Where it is not all, the second says so: it adds no tokens, and
/// an unknown amount of money.
pub(super) fn priced(
    pricing: &Pricing,
    model: Option<&str>,
    tokens: TokenUsage,
) -> Vec<StreamEvent> {
    let Some(price) = model.and_then(|model| pricing.price(model)) else {
        return vec![StreamEvent::usage(tokens, None)];
    };
    match pricing.counts {
        _ if tokens.total() == 0 => vec![StreamEvent::usage(tokens, None)],
        TokenCounts::EachCall => vec![StreamEvent::usage(tokens, Some(price.cost(&tokens)))],
        TokenCounts::Partial => vec![
            StreamEvent::usage(tokens, Some(price.least(&tokens))),
            StreamEvent::usage(TokenUsage::default(), None),
        ],
    }
}
