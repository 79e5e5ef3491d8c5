//! Virtual clock whose time passes only while every task waits.

use std::time::Duration;

use autonoe_core::time::Clock;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::time::Instant;

/// A clock on tokio's paused time: `now` and `sleep` agree, and a wait takes no time.
///
/// Use it in a test with `#[tokio::test(start_paused = true)]`. [`sleep`](Clock::sleep) panics unless
/// tokio's time is paused. A test that runs real programs needs [`VirtualClock::in_real_time`].
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::time::Clock;
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
    started: Instant,
    is_real: bool,
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
            started: Instant::now(),
            is_real: false,
        }
    }

    /// Starts at midnight of 1 January 2026, UTC, and waits in real time if tokio's time is not
    /// paused.
    pub fn in_real_time() -> Self {
        Self {
            is_real: true,
            ..Self::new()
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
            .checked_add(self.started.elapsed())
            .unwrap_or(Timestamp::MAX)
    }

    #[track_caller]
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        assert!(
            self.is_real || is_paused(),
            "VirtualClock::sleep({duration:?}) was called while tokio's time is running; use \
             #[tokio::test(start_paused = true)], or VirtualClock::in_real_time()"
        );
        // Tokio's timer has millisecond resolution: a truncated wait would end slightly too early.
        let whole = Duration::from_millis(
            u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX),
        );
        tokio::time::sleep(whole).boxed()
    }
}

/// Returns whether tokio's time is paused; tokio has no API for it.
fn is_paused() -> bool {
    // Running time differs between any two readings a microsecond apart. Another thread can advance
    // paused time between them, but hardly three times in a row.
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
    #[should_panic(
        expected = "VirtualClock::sleep(18000s) was called while tokio's time is running"
    )]
    async fn sleep_panics_unless_time_is_paused() {
        drop(VirtualClock::new().sleep(HOURS));
    }

    #[tokio::test]
    async fn in_real_time_it_waits_and_shows_the_same_date() {
        let clock = VirtualClock::in_real_time();

        clock.sleep(Duration::from_millis(1)).await;

        assert!(clock.now().to_string().starts_with("2026-01-01T00:"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_takes_no_time_once_time_is_paused() {
        let clock = VirtualClock::new();

        clock.sleep(HOURS).await;

        assert_eq!(clock.now().to_string(), "2026-01-01T05:00:00Z");
    }
}
