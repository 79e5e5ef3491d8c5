//! When a delivery is tried again.

use std::time::Duration;

use super::post::Attempt;

/// How often and for how long a service is told.
///
/// A try is repeated when the service could not be reached, did not answer in time, or
/// answered with a status of 500 or more or with 429. Any other answer is final.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::DeliveryPolicy;
///
/// let policy = DeliveryPolicy { tries: 2, ..DeliveryPolicy::default() };
///
/// assert_eq!(policy.try_time, Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPolicy {
    /// How many tries, the first included. There is always one.
    pub tries: u32,
    /// How long one try may take, from the connection to the status of the answer.
    pub try_time: Duration,
    /// The wait after the first try; it doubles with each.
    pub first_wait: Duration,
    /// The longest wait, also if the service asks for a longer one.
    pub longest_wait: Duration,
}

impl Default for DeliveryPolicy {
    fn default() -> Self {
        Self {
            tries: 5,
            try_time: Duration::from_secs(10),
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
        }
    }
}

/// What comes after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Done,
    TryAgain { after: Duration },
    GiveUp,
}

impl DeliveryPolicy {
    /// Decides what comes after try number `tried`, from 1.
    pub(super) fn decide(&self, tried: u32, attempt: &Attempt) -> After {
        let asked = match attempt {
            Attempt::Answered { status, .. } if (200..300).contains(status) => return After::Done,
            Attempt::Answered {
                status: 429 | 500..,
                retry_after,
            } => retry_after.unwrap_or_default(),
            Attempt::Answered { .. } | Attempt::Unsendable { .. } => return After::GiveUp,
            Attempt::Unreachable { .. } | Attempt::TimedOut => Duration::ZERO,
        };
        if tried >= self.tries {
            return After::GiveUp;
        }
        let doubled = 2_u32.saturating_pow(tried.saturating_sub(1));
        let own = self.first_wait.saturating_mul(doubled);
        After::TryAgain {
            after: own.max(asked).min(self.longest_wait),
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
    fn only_what_may_be_a_bad_moment_is_tried_again() {
        let policy = DeliveryPolicy::default();
        let again = After::TryAgain {
            after: Duration::from_secs(1),
        };
        for (attempt, expected) in [
            (answered(200), After::Done),
            (answered(204), After::Done),
            (answered(301), After::GiveUp),
            (answered(308), After::GiveUp),
            (answered(400), After::GiveUp),
            (answered(401), After::GiveUp),
            (answered(410), After::GiveUp),
            (answered(429), again),
            (answered(500), again),
            (answered(503), again),
            (Attempt::TimedOut, again),
            (Attempt::Unreachable { source: "x".into() }, again),
            (Attempt::Unsendable { source: "x".into() }, After::GiveUp),
        ] {
            assert_eq!(policy.decide(1, &attempt), expected, "{attempt:?}");
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_heed_the_service() {
        let policy = DeliveryPolicy {
            tries: 9,
            ..DeliveryPolicy::default()
        };
        let after = |tried, retry_after: Option<u64>| {
            let attempt = Attempt::Answered {
                status: 503,
                retry_after: retry_after.map(Duration::from_secs),
            };
            match policy.decide(tried, &attempt) {
                After::TryAgain { after } => after.as_secs(),
                other => panic!("{other:?}"),
            }
        };

        let own: Vec<u64> = (1..9).map(|tried| after(tried, None)).collect();

        assert_eq!(own, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(after(1, Some(7)), 7);
        assert_eq!(after(4, Some(7)), 8);
        assert_eq!(after(1, Some(86_400)), 30);
        assert_eq!(policy.decide(9, &Attempt::TimedOut), After::GiveUp);
    }
}
