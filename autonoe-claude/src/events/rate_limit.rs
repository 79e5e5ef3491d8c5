//! What is left of a quota, in core's words.

use autonoe_core::{RateLimit, RateLimitStatus};

use crate::wire::RateLimitEvent;

/// Says in core's words what is left of a quota, if it is understood.
pub(super) fn rate_limit(event: &RateLimitEvent<'_>) -> Option<RateLimit> {
    let status = match event.status.as_deref()? {
        "allowed" => RateLimitStatus::Allowed,
        "allowed_warning" => RateLimitStatus::Warning,
        "rejected" => RateLimitStatus::Rejected,
        other => {
            tracing::debug!(status = other, "an unknown status of a quota");
            return None;
        }
    };
    Some(RateLimit {
        status,
        window: event.claim.as_deref().map(str::to_owned),
        resets_at: event.resets_at,
        used_percent: event.utilization.map(percent),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast stops at the ends, which is what is wanted"
)]
fn percent(part: f64) -> u8 {
    (part * 100.0).round() as u8
}
