//! Retries of failed model calls.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::time::{Clock, IdSource, RandomIds, SeededIds, SystemClock, backoff};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{
    ModelClient, ModelError, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};

/// Number of attempts and exponential backoff.
///
/// The delay before attempt `n` is the base doubled `n - 2` times, at most the cap, and then varied
/// by up to the jitter, so that many callers do not retry together. A delay that the provider
/// requests takes precedence. If it is longer than `maxRetryAfterMs`, the call fails at
/// once, because this indicates an exceeded quota and not a temporary overload.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_model::retry::RetryDecision;
/// use autonoe_model::{ModelError, ModelErrorCode, RetryPolicy};
///
/// let policy = RetryPolicy::default();
/// let busy = ModelError::new(ModelErrorCode::RateLimited, "too many calls");
///
/// // In the middle of the jitter.
/// let after = Duration::from_secs(1);
/// assert_eq!(policy.decide(&busy, 1, 0.5), RetryDecision::Retry { after });
/// let after = Duration::from_secs(2);
/// assert_eq!(policy.decide(&busy, 2, 0.5), RetryDecision::Retry { after });
/// assert_eq!(policy.decide(&busy, 3, 0.5), RetryDecision::GiveUp);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// Maximum number of attempts, including the first.
    pub tries: u32,
    /// First delay, in milliseconds.
    pub base_ms: u64,
    /// Maximum delay of the backoff, in milliseconds.
    pub cap_ms: u64,
    /// Variation of the backoff's delays, in percent.
    #[schemars(range(max = 100))]
    pub jitter_percent: u8,
    /// Maximum delay that a provider may request, in milliseconds.
    pub max_retry_after_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 3,
            base_ms: 1_000,
            cap_ms: 10_000,
            jitter_percent: 20,
            max_retry_after_ms: 60_000,
        }
    }
}

/// Decision after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// Retry the call.
    Retry {
        /// Delay before the next attempt.
        after: Duration,
    },
    /// Return the error.
    GiveUp,
}

impl RetryPolicy {
    /// Returns the maximum delay that a provider may request.
    pub fn max_retry_after(&self) -> Duration {
        Duration::from_millis(self.max_retry_after_ms)
    }

    /// Decides after attempt number `tried` failed with `error`. `chance` between 0 and 1 selects
    /// the delay within the jitter.
    pub fn decide(&self, error: &ModelError, tried: u32, chance: f64) -> RetryDecision {
        if !error.is_retryable() || tried >= self.tries {
            return RetryDecision::GiveUp;
        }
        match error.retry_after {
            Some(requested) if requested > self.max_retry_after() => RetryDecision::GiveUp,
            Some(requested) => RetryDecision::Retry { after: requested },
            None => RetryDecision::Retry {
                after: self.wait_after(tried, chance),
            },
        }
    }

    fn wait_after(&self, tried: u32, chance: f64) -> Duration {
        let [first, longest] = [self.base_ms, self.cap_ms].map(Duration::from_millis);
        let wait = backoff(first, longest, tried);
        let jitter = f64::from(self.jitter_percent.min(100)) / 100.0;
        let chance = if chance.is_finite() {
            chance.clamp(0.0, 1.0)
        } else {
            0.5
        };
        wait.mul_f64(1.0 + jitter * (2.0 * chance - 1.0))
    }
}

/// Returns random numbers for jitter and for IDs, which need not be unguessable.
pub(crate) fn random_ids() -> Arc<dyn IdSource> {
    match RandomIds::new() {
        Ok(random) => Arc::new(random),
        Err(_) => Arc::new(SeededIds::new(u64::from(std::process::id()))),
    }
}

/// Model client that retries calls after temporary failures.
///
/// An incomplete answer is requested again: after [`ModelEvent::Retrying`], discard the earlier
/// parts of the answer. The usage in its error still counts. Dropping the stream ends a pending
/// delay, too.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_model::{ModelClient, RetryPolicy, Retrying};
///
/// fn patient(model: Arc<dyn ModelClient>) -> Retrying {
///     Retrying::new(model, RetryPolicy { tries: 5, ..RetryPolicy::default() })
/// }
/// ```
#[derive(Clone)]
pub struct Retrying {
    model: Arc<dyn ModelClient>,
    policy: RetryPolicy,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl Retrying {
    /// Wraps `model` with this policy.
    pub fn new(model: impl ModelClient + 'static, policy: RetryPolicy) -> Self {
        Self {
            model: Arc::new(model),
            policy,
            clock: Arc::new(SystemClock),
            ids: random_ids(),
        }
    }

    /// Sets the clock for delays.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Draws the jitter from `ids`.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// Same as [`stream`](ModelClient::stream), but without a copy of the request, which is
    /// expensive for a long conversation.
    pub fn stream_borrowed<'a>(
        &self,
        request: &'a ModelRequest,
    ) -> BoxStream<'a, Result<ModelEvent, ModelError>> {
        self.tries(Cow::Borrowed(request))
    }

    fn tries<'a>(
        &self,
        request: Cow<'a, ModelRequest>,
    ) -> BoxStream<'a, Result<ModelEvent, ModelError>> {
        let tries = Attempts {
            retrying: self.clone(),
            request,
            tried: 1,
            answer: None,
            wait: None,
            is_over: false,
        };
        stream::unfold(tries, async |mut tries| {
            let event = tries.next().await?;
            Some((event, tries))
        })
        .fuse()
        .boxed()
    }

    /// Returns a random number from 0 to 1.
    fn chance(&self) -> f64 {
        // As many bits as a float has.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let (drawn, most) = (
            (self.ids.next_u64() >> 11) as f64,
            ((1_u64 << 53) - 1) as f64,
        );
        drawn / most
    }
}

impl fmt::Debug for Retrying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrying")
            .field("model", &self.model)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl ModelClient for Retrying {
    fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        self.tries(Cow::Owned(request.clone()))
    }
}

/// A call and its attempts so far.
struct Attempts<'a> {
    retrying: Retrying,
    request: Cow<'a, ModelRequest>,
    /// Number of the current attempt.
    tried: u32,
    answer: Option<ModelStream>,
    /// Delay before the next attempt.
    wait: Option<Duration>,
    is_over: bool,
}

impl Attempts<'_> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        if self.is_over {
            return None;
        }
        if let Some(wait) = self.wait {
            self.retrying.clock.sleep(wait).await;
            self.wait = None;
        }
        let (model, request) = (&self.retrying.model, &self.request);
        let answer = self.answer.get_or_insert_with(|| model.stream(request));
        let event = match answer.next().await {
            Some(Ok(ModelEvent::Done(reply))) => {
                self.is_over = true;
                Ok(ModelEvent::Done(reply))
            }
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => self.failed(error),
            None => self.failed(ModelError::ended_early()),
        };
        Some(event)
    }

    fn failed(&mut self, error: ModelError) -> Result<ModelEvent, ModelError> {
        let chance = self.retrying.chance();
        match self.retrying.policy.decide(&error, self.tried, chance) {
            RetryDecision::Retry { after } => {
                self.answer = None;
                self.wait = Some(after);
                self.tried += 1;
                Ok(ModelEvent::Retrying {
                    error,
                    attempt: self.tried,
                    delay: after,
                })
            }
            RetryDecision::GiveUp => {
                self.is_over = true;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contract::ModelErrorCode;

    fn failed(code: ModelErrorCode) -> ModelError {
        ModelError::new(code, "it failed")
    }

    fn after(millis: u64) -> RetryDecision {
        RetryDecision::Retry {
            after: Duration::from_millis(millis),
        }
    }

    #[test]
    fn only_retryable_errors_are_retried_up_to_the_limit() {
        let policy = RetryPolicy::default();
        for code in ModelErrorCode::ALL {
            let expected = if code.is_retryable() {
                after(1_000)
            } else {
                RetryDecision::GiveUp
            };
            assert_eq!(policy.decide(&failed(code), 1, 0.5), expected, "{code}");
            assert_eq!(
                policy.decide(&failed(code), 3, 0.5),
                RetryDecision::GiveUp,
                "{code}"
            );
        }
    }

    #[test]
    fn the_wait_doubles_up_to_its_cap() {
        let policy = RetryPolicy {
            tries: u32::MAX,
            ..RetryPolicy::default()
        };
        let network = failed(ModelErrorCode::NetworkError);
        for (tried, millis) in [
            (1, 1_000),
            (2, 2_000),
            (4, 8_000),
            (5, 10_000),
            (99, 10_000),
        ] {
            assert_eq!(
                policy.decide(&network, tried, 0.5),
                after(millis),
                "{tried}"
            );
        }
    }

    // Shows: framework/models/model-error-response.retry-after-ms, framework/models/long-delays
    #[test]
    fn a_requested_delay_wins_without_jitter() {
        let policy = RetryPolicy::default();
        for (requested, expected) in [
            (0, after(0)),
            (7_000, after(7_000)),
            (60_000, after(60_000)),
            (60_001, RetryDecision::GiveUp),
        ] {
            let busy = failed(ModelErrorCode::RateLimited)
                .with_retry_after(Duration::from_millis(requested));
            assert_eq!(policy.decide(&busy, 1, 0.0), expected, "{requested}");
        }
    }

    proptest! {
        #[test]
        fn a_wait_of_our_own_stays_within_the_jitter(
            tried in 1..200_u32,
            chance in proptest::num::f64::ANY,
        ) {
            let policy = RetryPolicy { tries: u32::MAX, ..RetryPolicy::default() };
            let verdict = policy.decide(&failed(ModelErrorCode::Timeout), tried, chance);
            let RetryDecision::Retry { after } = verdict else { panic!("{verdict:?}") };
            prop_assert!(after >= Duration::from_millis(800));
            prop_assert!(after <= Duration::from_secs(12));
        }
    }
}
