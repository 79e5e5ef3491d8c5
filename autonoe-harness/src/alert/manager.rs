//! Alert manager: records alerts and delivers them to sinks, without blocking the caller.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use tokio::sync::{mpsc, oneshot};

use super::{Alert, AlertLog, AlertSink, Severity};
use crate::folder::{FolderError, MemberFolder};

/// Default time limit of a sink for one alert.
const USUAL_DEADLINE: Duration = Duration::from_secs(30);

/// Records alerts in log files and delivers them to sinks.
///
/// An alert is in the logs before any sink receives it. A slow sink never blocks the code that
/// raises alerts: each sink has its own queue and a deadline. Create the manager inside of a tokio
/// runtime.
///
/// ```
/// use autonoe_core::engine::RunSpec;
/// use autonoe_core::RunId;
/// use autonoe_harness::alert::{Alert, AlertManager, Severity};
/// use autonoe_harness::folder::MemberFolder;
/// use autonoe_harness::strategy::MemberId;
/// use jiff::Timestamp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let root = dir.path().join(".harness");
/// let folder = MemberFolder::new(&root, &MemberId::new("a"))?;
/// folder.submit(&RunSpec::new(RunId::new("a"), "work", serde_json::Value::Null))?;
/// let alerts = AlertManager::new(folder.path().join("alerts.log"))
///     .shared_log(root.join("alerts.log"))
///     .sink(|alert: &Alert| assert_eq!(alert.kind, "runaway"))
///     .pausing_on_critical(&folder);
///
/// let alert = Alert::new("runaway", Severity::Critical, "it repeats itself", Timestamp::now());
/// alerts.alert(alert.member(MemberId::new("a")).iteration(5)).await?;
/// alerts.flush().await;
///
/// assert!(folder.is_pause_requested()?);
/// assert_eq!(folder.alerts()?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct AlertManager {
    logs: Vec<AlertLog>,
    sinks: Vec<Delivery>,
    deadline: Duration,
    pauses: Option<MemberFolder>,
}

impl AlertManager {
    /// Creates a manager that records alerts in the log of a member.
    pub fn new(log: impl Into<PathBuf>) -> Self {
        Self {
            logs: vec![AlertLog::new(log)],
            sinks: Vec::new(),
            deadline: USUAL_DEADLINE,
            pauses: None,
        }
    }

    /// Also records alerts in a log that all members share.
    #[must_use]
    pub fn shared_log(mut self, log: impl Into<PathBuf>) -> Self {
        self.logs.push(AlertLog::new(log));
        self
    }

    /// Sets the time limit per alert of the sinks that are added afterwards; 30 seconds by default.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Adds a sink, which receives every alert in order.
    #[must_use]
    pub fn sink(mut self, sink: impl AlertSink + 'static) -> Self {
        let sink = Delivery::start(Arc::new(sink), self.deadline);
        self.sinks.push(sink);
        self
    }

    /// Pauses a member on a critical alert, through the pause request in its folder. The pause is
    /// visible like one requested by a person, and resuming the member undoes it.
    #[must_use]
    pub fn pausing_on_critical(mut self, folder: &MemberFolder) -> Self {
        self.pauses = Some(folder.clone());
        self
    }

    /// Raises an alert: records it, pauses the member if the alert is critical and that is
    /// configured, and queues it for the sinks.
    ///
    /// # Errors
    ///
    /// A log cannot be written, or the member cannot be paused. All other actions are performed
    /// anyway.
    pub async fn alert(&self, alert: Alert) -> Result<(), FolderError> {
        let alert = Arc::new(alert);
        let is_critical = alert.severity == Severity::Critical;
        let pauses = self.pauses.clone().filter(|_| is_critical);
        let (logs, written) = (self.logs.clone(), alert.clone());
        let recorded = tokio::task::spawn_blocking(move || {
            let paused = pauses.map_or(Ok(()), |folder| folder.request_pause());
            logs.iter()
                .fold(paused, |recorded, log| recorded.and(log.append(&written)))
        });
        let recorded = recorded.await;
        for sink in &self.sinks {
            sink.send(&alert);
        }
        recorded.unwrap_or_else(|panicked| {
            let path = self.logs[0].path();
            Err(FolderError::unwritable(path, io::Error::other(panicked)))
        })
    }

    /// Waits until every sink has received all alerts so far, or has missed its deadline.
    pub async fn flush(&self) {
        for sink in &self.sinks {
            sink.flush().await;
        }
    }
}

impl fmt::Debug for AlertManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertManager")
            .field("logs", &self.logs)
            .field("sinks", &self.sinks)
            .finish_non_exhaustive()
    }
}

/// Alerts queued for a slow sink. Further alerts are only in the log.
const QUEUE_LEN: usize = 1_000;

/// A sink and the task that delivers alerts to it.
#[derive(Debug)]
pub(super) struct Delivery {
    name: String,
    queue: mpsc::Sender<DeliveryCommand>,
}

#[derive(Debug)]
enum DeliveryCommand {
    Alert(Arc<Alert>),
    /// Signals that every earlier alert in the queue was delivered or given up.
    Flush(oneshot::Sender<()>),
}

impl Delivery {
    pub(super) fn start(sink: Arc<dyn AlertSink>, deadline: Duration) -> Self {
        let (queue, commands) = mpsc::channel(QUEUE_LEN);
        let name = sink.name().to_owned();
        tokio::spawn(deliver(sink, commands, deadline));
        Self { name, queue }
    }

    /// Queues an alert. If the queue is full, the alert is only in the log.
    pub(super) fn send(&self, alert: &Arc<Alert>) {
        if self
            .queue
            .try_send(DeliveryCommand::Alert(Arc::clone(alert)))
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
        if self.queue.send(DeliveryCommand::Flush(mark)).await.is_ok() {
            // An error means that the task has ended, with nothing left to deliver.
            let _ = reached.await;
        }
    }
}

async fn deliver(
    sink: Arc<dyn AlertSink>,
    mut commands: mpsc::Receiver<DeliveryCommand>,
    deadline: Duration,
) {
    while let Some(command) = commands.recv().await {
        match command {
            DeliveryCommand::Alert(alert) => deliver_one(&sink, alert, deadline).await,
            DeliveryCommand::Flush(mark) => {
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
