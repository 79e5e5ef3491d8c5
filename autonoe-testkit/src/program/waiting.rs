//! Waiting for what real programs do.

use std::time::{Duration, Instant};

use autonoe_core::{AgentClient, AgentError, StreamEvent};
use futures::StreamExt;
use tokio::time::timeout;

/// How long anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Waits until `is_so`.
///
/// # Panics
///
/// It takes too long.
pub async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for `future`.
///
/// # Panics
///
/// It takes too long.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = timeout(PATIENCE, future).await;
    answer.expect("it does not take as long as that")
}

/// Asks one thing, and returns all that comes of it.
///
/// # Panics
///
/// It takes too long until the next event.
pub async fn events_of(
    client: &mut dyn AgentClient,
    prompt: &str,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let (mut events, mut error) = (Vec::new(), None);
    let mut stream = client.query(prompt.into());
    while let Some(item) = timeout(PATIENCE, stream.next()).await.expect("it goes on") {
        match item {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    (events, error)
}
