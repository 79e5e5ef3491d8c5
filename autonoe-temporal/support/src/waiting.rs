//! Waits with a deadline.

use std::time::{Duration, Instant};

/// Time limit for each operation here, on a busy machine.
const DEADLINE: Duration = Duration::from_secs(180);

/// Waits until a condition holds.
pub async fn eventually(condition: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < DEADLINE,
            "waited in vain for {condition}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for a future. Panics after the deadline.
pub async fn within<T>(condition: &str, future: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(DEADLINE, future).await;
    ended.unwrap_or_else(|_| panic!("waited in vain for {condition}"))
}
