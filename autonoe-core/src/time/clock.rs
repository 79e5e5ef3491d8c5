//! [`Clock`] trait for the current time and for sleeping, and the system clock.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::time::timestamp::{between, saturating_add};

/// Source of the current time and of timers.
///
/// Implementations must keep `now` and `sleep` consistent: after `sleep(d)`, `now` has advanced by
/// at least `d`. A run reads all of its time from its clock, so a test can wait five hours in a
/// millisecond.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::time::Clock;
/// use futures::future::BoxFuture;
/// use jiff::Timestamp;
///
/// /// Always noon, and never waits.
/// struct Noon;
///
/// impl Clock for Noon {
///     fn now(&self) -> Timestamp {
///         "2026-01-31T12:00:00Z".parse().expect("a time")
///     }
///
///     fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
///         Box::pin(async {})
///     }
/// }
/// ```
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Waits for `duration`. Dropping the future cancels the wait.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

#[deny(clippy::missing_trait_methods)]
impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        (**self).sleep(duration)
    }
}

/// System wall clock with tokio's timer.
///
/// A long sleep re-reads the wall clock every few seconds. A laptop that was suspended for the
/// length of the wait therefore does not wait a second time after it resumes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        const LONGEST_NAP: Duration = Duration::from_secs(5);
        let wake = saturating_add(Timestamp::now(), duration);
        async move {
            let mut left = duration;
            while !left.is_zero() {
                tokio::time::sleep(left.min(LONGEST_NAP)).await;
                // Both clocks are needed: the timer stops while the machine is suspended, and the
                // wall clock can be set back.
                left = left
                    .saturating_sub(LONGEST_NAP)
                    .min(between(Timestamp::now(), wake));
            }
        }
        .boxed()
    }
}
