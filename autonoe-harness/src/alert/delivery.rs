//! Delivers alerts to one sink, in order, without blocking the caller.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Alert, AlertSink};

/// Alerts queued for a slow sink. Further alerts are only in the log.
const WAITING: usize = 1_000;

/// A sink and the task that delivers alerts to it.
#[derive(Debug)]
pub(super) struct Delivery {
    name: String,
    queue: mpsc::Sender<Letter>,
}

#[derive(Debug)]
enum Letter {
    Alert(Arc<Alert>),
    /// Signals that every earlier alert in the queue was delivered or given up.
    Mark(oneshot::Sender<()>),
}

impl Delivery {
    pub(super) fn start(sink: Arc<dyn AlertSink>, deadline: Duration) -> Self {
        let (queue, letters) = mpsc::channel(WAITING);
        let name = sink.name().to_owned();
        tokio::spawn(deliver(sink, letters, deadline));
        Self { name, queue }
    }

    /// Queues an alert. If the queue is full, the alert is only in the log.
    pub(super) fn send(&self, alert: &Arc<Alert>) {
        if self
            .queue
            .try_send(Letter::Alert(Arc::clone(alert)))
            .is_err()
        {
            tracing::warn!(
                sink = self.name,
                kind = alert.kind,
                "the queue of a sink is full; this alert is only in the log"
            );
        }
    }

    /// Waits until every queued alert was delivered or given up.
    pub(super) async fn flush(&self) {
        let (mark, reached) = oneshot::channel();
        if self.queue.send(Letter::Mark(mark)).await.is_ok() {
            // An error means that the task has ended, with nothing left to deliver.
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
            Letter::Alert(alert) => deliver_one(&sink, alert, deadline).await,
            Letter::Mark(mark) => {
                // The caller of `flush` may be gone.
                let _ = mark.send(());
            }
        }
    }
}

async fn deliver_one(sink: &Arc<dyn AlertSink>, alert: Arc<Alert>, deadline: Duration) {
    let (own, kind) = (Arc::clone(sink), alert.kind.clone());
    // A separate task confines a panic of the sink.
    let mut delivery = tokio::spawn(async move { own.deliver(&alert).await });
    let name = sink.name();
    match tokio::time::timeout(deadline, &mut delivery).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => {
            tracing::warn!(sink = name, kind, %error, "a sink failed to deliver an alert");
        }
        Ok(Err(_)) => tracing::warn!(
            sink = name,
            kind,
            "a sink panicked while delivering an alert"
        ),
        Err(_) => {
            delivery.abort();
            tracing::warn!(
                sink = name,
                kind,
                "a sink timed out while delivering an alert"
            );
        }
    }
}
