//! [`Retrying`]: model client that retries failed calls.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::time::{Clock, IdSource, RandomIds, SeededIds, SystemClock};
use futures::stream::BoxStream;
use futures::{StreamExt, stream};

use super::{RetryDecision, RetryPolicy};
use crate::contract::{
    ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};

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
        let ids: Arc<dyn IdSource> = match RandomIds::new() {
            Ok(random) => Arc::new(random),
            // The jitter only spreads callers and need not be unguessable.
            Err(_) => Arc::new(SeededIds::new(u64::from(std::process::id()))),
        };
        Self {
            model: Arc::new(model),
            policy,
            clock: Arc::new(SystemClock),
            ids,
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
            None => self.failed(ModelError::new(
                ModelErrorCode::InvalidResponse,
                "the answer ended before it was complete",
            )),
        };
        Some(event)
    }

    fn failed(&mut self, error: ModelError) -> Result<ModelEvent, ModelError> {
        let chance = self.retrying.chance();
        match self.retrying.policy.decide(&error, self.tried, chance) {
            RetryDecision::TryAgain { after } => {
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
