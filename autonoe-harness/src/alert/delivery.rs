//! Tells a sink of alerts, one after another, without anybody waiting.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Alert, AlertSink};

/// How many alerts may wait for a sink; further ones are in the log alone.
const WAITING: usize = 1_000;

/// A sink with a task of its own.
#[derive(Debug)]
pub(super) struct Delivery {
    name: String,
    queue: mpsc::Sender<Letter>,
}

#[derive(Debug)]
enum Letter {
    Alert(Arc<Alert>),
    /// All before it were told.
    Mark(oneshot::Sender<()>),
}

impl Delivery {
    pub(super) fn start(sink: Arc<dyn AlertSink>, deadline: Duration) -> Self {
        let (queue, letters) = mpsc::channel(WAITING);
        let name = sink.name().to_owned();
        tokio::spawn(deliver(sink, letters, deadline));
        Self { name, queue }
    }

    /// Has an alert told.
    pub(super) fn send(&self, alert: &Arc<Alert>) {
        if self
            .queue
            .try_send(Letter::Alert(Arc::clone(alert)))
            .is_err()
        {
            tracing::warn!(
                sink = self.name,
                kind = alert.kind,
                "too many alerts wait for the sink; this one is in the log alone"
            );
        }
    }

    /// Waits until all that was sent was told or given up.
    pub(super) async fn flush(&self) {
        let (mark, reached) = oneshot::channel();
        if self.queue.send(Letter::Mark(mark)).await.is_ok() {
            // An error is a task that has ended, with nothing left to tell.
            let _ = reached.await;
        }
    }
}

async fn deliver(
    sink: Arc<dyn AlertSink>,
    mut letters: mpsc::Receiver<Letter>,
    deadline: Duration,
) {
    while let Some(letter) = letters.recv().await {
        match letter {
            Letter::Alert(alert) => tell(&sink, alert, deadline).await,
            Letter::Mark(mark) => {
                // Who waited may be gone.
                let _ = mark.send(());
            }
        }
    }
}

async fn tell(sink: &Arc<dyn AlertSink>, alert: Arc<Alert>, deadline: Duration) {
    let (own, kind) = (Arc::clone(sink), alert.kind.clone());
    // In a task of its own: a panic ends that one and no other.
    let mut telling = tokio::spawn(async move { own.tell(&alert).await });
    let name = sink.name();
    match tokio::time::timeout(deadline, &mut telling).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => {
            tracing::warn!(sink = name, kind, %error, "a sink did not take an alert");
        }
        Ok(Err(_)) => tracing::warn!(sink = name, kind, "a sink panicked over an alert"),
        Err(_) => {
            telling.abort();
            tracing::warn!(sink = name, kind, "a sink took too long over an alert");
        }
    }
}
