//! Time that passes only when everybody waits.

use std::time::Duration;

use autonoe_core::Clock;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::time::Instant;

/// A clock on tokio's paused time: `now` and `sleep` agree, and a wait takes no time.
///
/// Use it in a test with `#[tokio::test(start_paused = true)]`. A wait panics
/// where time is not paused, because it would take as long as it says.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::Clock;
/// use autonoe_testkit::VirtualClock;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let clock = VirtualClock::new();
/// clock.sleep(Duration::from_secs(5 * 3600)).await;
///
/// assert_eq!(clock.now().to_string(), "2026-01-01T05:00:00Z");
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VirtualClock {
    start: Timestamp,
    begun: Instant,
}

impl VirtualClock {
    /// Starts at midnight of 1 January 2026, UTC.
    pub fn new() -> Self {
        // 2026-01-01T00:00:00Z.
        Self::starting_at(Timestamp::constant(1_767_225_600, 0))
    }

    /// Starts at `start`.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            begun: Instant::now(),
        }
    }
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.start
            .checked_add(self.begun.elapsed())
            .unwrap_or(Timestamp::MAX)
    }

    #[track_caller]
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        assert!(
            is_paused(),
            "VirtualClock was asked to wait {duration:?} where time is not paused; use \
             #[tokio::test(start_paused = true)], or another clock"
        );
        // Tokio's timer counts in milliseconds: a wait that is cut off there
        // would end too early by a hair.
        let whole = Duration::from_millis(
            u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX),
        );
        tokio::time::sleep(whole).boxed()
    }
}

/// Returns whether tokio's time is paused. Tokio does not report it.
fn is_paused() -> bool {
    // Time that is not paused differs between any two readings a microsecond apart. Paused time can
    // be advanced by another thread between them, but hardly three times in a row.
    (0..3).any(|_| {
        let (before, real) = (Instant::now(), std::time::Instant::now());
        while real.elapsed() < Duration::from_micros(1) {
            std::hint::spin_loop();
        }
        Instant::now() == before
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: Duration = Duration::from_secs(5 * 3600);

    #[tokio::test]
    #[should_panic(expected = "VirtualClock was asked to wait 18000s where time is not paused")]
    async fn a_wait_where_time_is_not_paused_fails_at_once() {
        drop(VirtualClock::new().sleep(HOURS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_takes_no_time_once_time_is_paused() {
        let clock = VirtualClock::new();

        clock.sleep(HOURS).await;

        assert_eq!(clock.now().to_string(), "2026-01-01T05:00:00Z");
    }
}
