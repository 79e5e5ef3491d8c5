//! [`DeliveryPolicy`]: retries of a delivery.

use std::time::Duration;

use autonoe_core::time::backoff;

use super::post::Attempt;

/// Number of attempts and waits of a delivery.
///
/// An attempt is retried when the service could not be reached, did not answer in time, or answered
/// with status 429 or 500 and above. Any other answer is final.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::escalation::DeliveryPolicy;
///
/// let policy = DeliveryPolicy { max_attempts: 2, ..DeliveryPolicy::default() };
///
/// assert_eq!(policy.attempt_timeout, Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPolicy {
    /// Maximum number of attempts, including the first. There is always one.
    pub max_attempts: u32,
    /// Time limit of one attempt, from the connection to the status of the response.
    pub attempt_timeout: Duration,
    /// The wait after the first attempt. It doubles with each further attempt.
    pub initial_backoff: Duration,
    /// The maximum wait, even if the service requests a longer one.
    pub max_backoff: Duration,
}

impl Default for DeliveryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            attempt_timeout: Duration::from_secs(10),
            initial_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(30),
        }
    }
}

/// The decision after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryDecision {
    Done,
    Retry { after: Duration },
    GiveUp,
}

impl DeliveryPolicy {
    /// Decides about attempt number `tried`, counted from 1.
    pub(super) fn decide(&self, tried: u32, attempt: &Attempt) -> DeliveryDecision {
        let requested = match attempt {
            Attempt::Answered { status, .. } if (200..300).contains(status) => {
                return DeliveryDecision::Done;
            }
            Attempt::Answered {
                status: 429 | 500..,
                retry_after,
            } => retry_after.unwrap_or_default(),
            Attempt::Answered { .. } | Attempt::Unsendable { .. } => {
                return DeliveryDecision::GiveUp;
            }
            Attempt::Unreachable { .. } | Attempt::TimedOut => Duration::ZERO,
        };
        if tried >= self.max_attempts {
            return DeliveryDecision::GiveUp;
        }
        let wait = backoff(self.initial_backoff, self.max_backoff, tried);
        DeliveryDecision::Retry {
            after: wait.max(requested).min(self.max_backoff),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16) -> Attempt {
        Attempt::Answered {
            status,
            retry_after: None,
        }
    }

    #[test]
    fn only_transient_delivery_failures_are_retried() {
        let policy = DeliveryPolicy::default();
        let retry = DeliveryDecision::Retry {
            after: Duration::from_secs(1),
        };
        for (attempt, expected) in [
            (answered(200), DeliveryDecision::Done),
            (answered(204), DeliveryDecision::Done),
            (answered(301), DeliveryDecision::GiveUp),
            (answered(308), DeliveryDecision::GiveUp),
            (answered(400), DeliveryDecision::GiveUp),
            (answered(401), DeliveryDecision::GiveUp),
            (answered(410), DeliveryDecision::GiveUp),
            (answered(429), retry),
            (answered(500), retry),
            (answered(503), retry),
            (Attempt::TimedOut, retry),
            (Attempt::Unreachable { source: "x".into() }, retry),
            (
                Attempt::Unsendable { source: "x".into() },
                DeliveryDecision::GiveUp,
            ),
        ] {
            assert_eq!(policy.decide(1, &attempt), expected, "{attempt:?}");
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_heed_the_service() {
        let policy = DeliveryPolicy {
            max_attempts: 9,
            ..DeliveryPolicy::default()
        };
        let after = |tried, retry_after: Option<u64>| {
            let attempt = Attempt::Answered {
                status: 503,
                retry_after: retry_after.map(Duration::from_secs),
            };
            match policy.decide(tried, &attempt) {
                DeliveryDecision::Retry { after } => after.as_secs(),
                other => panic!("{other:?}"),
            }
        };

        let own: Vec<u64> = (1..9).map(|tried| after(tried, None)).collect();

        assert_eq!(own, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(after(1, Some(7)), 7);
        assert_eq!(after(4, Some(7)), 8);
        assert_eq!(after(1, Some(86_400)), 30);
        assert_eq!(
            policy.decide(9, &Attempt::TimedOut),
            DeliveryDecision::GiveUp
        );
    }
}
