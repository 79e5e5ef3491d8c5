//! [`AlertQueue`] delivers alerts to one sink, in order.

use std::sync::Arc;
use std::time::Duration;

use autonoe_harness::alert::{Alert, AlertSink};
use tokio::sync::{Mutex, mpsc, watch};

/// Alerts that wait for a slow sink. Further alerts are dropped with a warning.
const QUEUE_LEN: usize = 1_000;

type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// A sink and its queue.
pub(super) struct AlertQueue {
    sink: Arc<dyn AlertSink>,
    deadline: Duration,
    sender: mpsc::Sender<Arc<Alert>>,
    /// The end of the queue. The task that delivers keeps it locked.
    receiver: Arc<Mutex<mpsc::Receiver<Arc<Alert>>>>,
    counts: watch::Sender<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: usize,
    /// Alerts that were delivered or given up.
    handled: usize,
}

impl AlertQueue {
    pub(super) fn new(sink: Arc<dyn AlertSink>, deadline: Duration) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE_LEN);
        Self {
            sink,
            deadline,
            sender,
            receiver: Arc::new(Mutex::new(receiver)),
            counts: watch::Sender::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.sink.name()
    }

    pub(super) fn send(&self, alert: Arc<Alert>) {
        let is_queued = self.sender.try_send(alert).is_ok();
        if !is_queued {
            tracing::warn!(
                channel = self.name(),
                "too many notifications are waiting; one was dropped"
            );
        }
        self.counts.send_modify(|counts| {
            counts.sent += 1;
            counts.handled += usize::from(!is_queued);
        });
    }

    pub(super) fn handled(&self) -> usize {
        self.counts.borrow().handled
    }

    pub(super) fn is_idle(&self) -> bool {
        let counts = self.counts.borrow();
        counts.handled >= counts.sent
    }

    /// Starts the delivery on the current runtime. If an earlier runtime has ended, the delivery
    /// continues here.
    pub(super) fn start(&self, warn: Warn) {
        tokio::spawn(deliver(
            Arc::clone(&self.sink),
            Arc::clone(&self.receiver),
            self.deadline,
            self.counts.clone(),
            warn,
        ));
    }

    /// Waits until every alert was delivered or given up.
    pub(super) async fn flush(&self) {
        let mut counts = self.counts.subscribe();
        // The sender lives as long as `self`.
        let _ = counts
            .wait_for(|counts| counts.handled >= counts.sent)
            .await;
    }
}

async fn deliver(
    sink: Arc<dyn AlertSink>,
    alerts: Arc<Mutex<mpsc::Receiver<Arc<Alert>>>>,
    deadline: Duration,
    counts: watch::Sender<Counts>,
    warn: Warn,
) {
    let mut alerts = alerts.lock().await;
    while let Some(alert) = alerts.recv().await {
        let _handled = Handled(&counts);
        let name = sink.name();
        match tokio::time::timeout(deadline, sink.deliver(&alert)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn(&error.to_string()),
            Err(_) => warn(&format!(
                "the notification {:?} was not delivered in time ({name})",
                alert.kind
            )),
        }
    }
}

/// Counts an alert as handled when it is dropped, also if the runtime ends during the delivery.
struct Handled<'a>(&'a watch::Sender<Counts>);

impl Drop for Handled<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|counts| counts.handled += 1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use async_trait::async_trait;
    use autonoe_harness::alert::Severity;
    use jiff::Timestamp;

    use super::*;

    /// Hangs on alerts of the kind `hangs`, fails on `fails`, and records the others.
    #[derive(Default)]
    struct Sink(Mutex<Vec<String>>);

    #[async_trait]
    impl AlertSink for Sink {
        async fn deliver(
            &self,
            alert: &Alert,
        ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            match alert.kind.as_str() {
                "hangs" => std::future::pending().await,
                "fails" => Err("it refused".into()),
                kind => {
                    self.0.lock().expect("whole").push(kind.to_owned());
                    Ok(())
                }
            }
        }
    }

    fn alert(kind: &str) -> Arc<Alert> {
        let alert = Alert::new(kind, Severity::Info, "text", Timestamp::UNIX_EPOCH);
        Arc::new(alert)
    }

    #[tokio::test(start_paused = true)]
    async fn a_sink_that_hangs_or_fails_causes_a_warning_and_loses_no_other_alert() {
        let sink = Arc::new(Sink::default());
        let queue = AlertQueue::new(sink.clone(), Duration::from_secs(5));
        let warnings = Arc::new(Mutex::new(Vec::new()));
        for kind in ["one", "hangs", "fails", "two"] {
            queue.send(alert(kind));
        }
        assert!(!queue.is_idle());
        let recorded = warnings.clone();

        queue.start(Arc::new(move |text: &str| {
            recorded.lock().expect("whole").push(text.to_owned());
        }));
        queue.flush().await;

        assert_eq!(*sink.0.lock().expect("whole"), ["one", "two"]);
        assert_eq!(
            *warnings.lock().expect("whole"),
            [
                "the notification \"hangs\" was not delivered in time (observer)",
                "it refused"
            ]
        );
        assert_eq!((queue.handled(), queue.is_idle()), (4, true));
    }

    #[tokio::test]
    async fn alerts_beyond_the_queue_are_dropped_and_count_as_handled() {
        let queue = AlertQueue::new(Arc::new(Sink::default()), Duration::from_secs(5));

        for _ in 0..QUEUE_LEN + 2 {
            queue.send(alert("one"));
        }

        assert_eq!(queue.handled(), 2);
    }
}
