//! Waits for real programs with a time limit.

use std::time::{Duration, Instant};

use autonoe_core::{AgentClient, AgentError, StreamEvent};
use futures::StreamExt;
use tokio::time::timeout;

/// The time limit of any step on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(600);

/// Waits until `is_so` returns true.
///
/// # Panics
///
/// If it takes longer than `PATIENCE`.
pub async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < TIMEOUT, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for `future`.
///
/// # Panics
///
/// If it takes longer than `PATIENCE`.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = timeout(TIMEOUT, future).await;
    answer.expect("it does not take as long as that")
}

/// Sends one prompt, and returns all events of the response and the error that ended it.
///
/// # Panics
///
/// If the next event takes too long.
pub async fn collect_events(
    client: &mut dyn AgentClient,
    prompt: &str,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let (mut events, mut error) = (Vec::new(), None);
    let mut stream = client.query(prompt.into());
    while let Some(item) = timeout(TIMEOUT, stream.next()).await.expect("it goes on") {
        match item {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    (events, error)
}
