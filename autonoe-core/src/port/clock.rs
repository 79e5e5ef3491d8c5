//! Time as a port.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::domain::quota::{between, later};

/// Tells the time and waits.
///
/// An implementer owes that `now` and `sleep` agree: after `sleep(d)` at least
/// `d` has passed by `now`. A run takes all its time from here, so that a test
/// can wait five hours in a millisecond.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::Clock;
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
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Waits; dropping the future ends the wait.
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

/// The clock of the machine, on tokio's timer.
///
/// A long wait looks at the wall clock again and again: a laptop that was
/// asleep for the length of the wait does not wait a second time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        const LONGEST_NAP: Duration = Duration::from_secs(5);
        let wake = later(Timestamp::now(), duration);
        async move {
            let mut left = duration;
            while !left.is_zero() {
                tokio::time::sleep(left.min(LONGEST_NAP)).await;
                // Both clocks are asked: the timer stands still while the
                // machine sleeps, and the wall clock may be set back.
                left = left
                    .saturating_sub(LONGEST_NAP)
                    .min(between(Timestamp::now(), wake));
            }
        }
        .boxed()
    }
}
