//! Randomness for ids as a port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::{RunId, SpanContext, SpanId, TraceId};

/// Gives the random numbers that ids are made of.
///
/// An implementer owes numbers that do not repeat across runs. It is not for
/// secrets. [`SeededIds`] makes the ids of a test the same each time.
///
/// ```
/// use autonoe_core::{IdSource, SeededIds};
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
    /// Makes the id of a run: 32 hexadecimal digits.
    pub fn run_id(&self) -> RunId {
        RunId::new(format!("{:016x}{:016x}", self.next_u64(), self.next_u64()))
    }

    /// Makes the root of a trace.
    pub fn root_span(&self) -> SpanContext {
        let trace = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
        // W3C Trace Context forbids ids that are all zero.
        SpanContext::root(TraceId(trace.max(1)), self.span_id())
    }

    /// Makes a child of `span`.
    pub fn child_span(&self, span: &SpanContext) -> SpanContext {
        span.child(self.span_id())
    }

    fn span_id(&self) -> SpanId {
        SpanId(self.next_u64().max(1))
    }
}

/// Random numbers of the operating system, drawn once and stretched.
#[derive(Debug)]
pub struct RandomIds {
    stretched: SeededIds,
}

impl RandomIds {
    /// Draws a seed from the operating system.
    ///
    /// # Errors
    ///
    /// The operating system has no randomness to give.
    pub fn new() -> Result<Self, NoRandomness> {
        let seed = getrandom::u64().map_err(|source| NoRandomness { source })?;
        Ok(Self {
            stretched: SeededIds::new(seed),
        })
    }
}

impl IdSource for RandomIds {
    fn next_u64(&self) -> u64 {
        // The system is asked for every number; only if it stops answering in
        // the middle of a run do the stretched ones step in.
        getrandom::u64().unwrap_or_else(|_| self.stretched.next_u64())
    }
}

/// The operating system has no randomness to give.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random numbers")]
pub struct NoRandomness {
    source: getrandom::Error,
}

/// The same numbers for the same seed, in the same order (SplitMix64).
#[derive(Debug)]
pub struct SeededIds {
    state: AtomicU64,
}

impl SeededIds {
    /// Starts at `seed`.
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
