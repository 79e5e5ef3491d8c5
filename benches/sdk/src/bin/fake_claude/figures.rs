//! Measurements of the fake program.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Times sequential requests.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    started: Instant,
    trips: Vec<Duration>,
}

impl Stopwatch {
    pub(crate) fn start(capacity: usize) -> Self {
        Self {
            trips: Vec::with_capacity(capacity),
            started: Instant::now(),
        }
    }

    pub(crate) fn trip(&mut self, since: Instant) {
        self.trips.push(since.elapsed());
    }

    /// Returns the number of requests, their rate per second and their durations.
    pub(crate) fn stop(mut self) -> Value {
        let elapsed = self.started.elapsed();
        self.trips.sort_unstable();
        let count = self.trips.len();
        let quantile = |hundredths: usize| {
            let place = (count * hundredths / 100).min(count - 1);
            self.trips[place].as_secs_f64() * 1e6
        };
        json!({
            "count": count,
            "per_s": per_second(count, elapsed),
            "p50_us": quantile(50),
            "p99_us": quantile(99),
        })
    }
}

/// Returns the measurements of `count` concurrent requests.
pub(crate) fn side_by_side(count: usize, elapsed: Duration) -> Value {
    json!({"count": count, "per_s": per_second(count, elapsed)})
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn per_second(count: usize, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}
