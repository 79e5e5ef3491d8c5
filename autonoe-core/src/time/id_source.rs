//! [`IdSource`] trait for the random numbers behind ids, with random and seeded sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::{SpanContext, SpanId, TraceId};
use crate::time::RunId;

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
