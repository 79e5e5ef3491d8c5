//! Keeps alerts and tells those who should know.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::delivery::Delivery;
use super::{Alert, AlertError, AlertHistory, AlertLog, AlertSink, Severity};
use crate::HarnessFolder;

/// How long a sink may take over one alert that nobody said otherwise of.
const USUAL_DEADLINE: Duration = Duration::from_secs(30);

/// Keeps alerts in log files and tells those who should know.
///
/// An alert is in the logs before anybody is told of it, and who is told never holds up who raised
/// it: each sink has a queue and a deadline. It is made inside of a tokio runtime.
///
/// ```
/// use autonoe_core::{RunId, RunSpec};
/// use autonoe_harness::{Alert, AlertManager, HarnessFolder, HarnessId, Severity};
/// use jiff::Timestamp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let root = dir.path().join(".harness");
/// let folder = HarnessFolder::of(&root, &HarnessId::new("a"))?;
/// folder.submit(&RunSpec::new(RunId::new("a"), "work", serde_json::Value::Null))?;
/// let alerts = AlertManager::new(folder.path().join("alerts.log"))
///     .with_log_of_all(root.join("alerts.log"))
///     .with_sink(|alert: &Alert| assert_eq!(alert.kind, "runaway"))
///     .pausing_on_critical(&folder);
///
/// let alert = Alert::new("runaway", Severity::Critical, "it repeats itself", Timestamp::now());
/// alerts.alert(alert.of(HarnessId::new("a")).in_iteration(5)).await?;
/// alerts.flush().await;
///
/// assert!(folder.is_pause_requested()?);
/// assert_eq!(alerts.by_severity(Severity::Critical).await?.len(), 1);
/// assert_eq!(alerts.recent(10).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct AlertManager {
    own: AlertLog,
    all: Option<AlertLog>,
    sinks: Vec<Delivery>,
    deadline: Duration,
    on_critical: Vec<Reaction>,
    pauses: Option<HarnessFolder>,
}

/// What is done at once about a critical alert.
type Reaction = Box<dyn Fn(&Alert) + Send + Sync>;

impl AlertManager {
    /// Makes one with the log of a harness.
    pub fn new(log: impl Into<PathBuf>) -> Self {
        Self {
            own: AlertLog::new(log),
            all: None,
            sinks: Vec::new(),
            deadline: USUAL_DEADLINE,
            on_critical: Vec::new(),
            pauses: None,
        }
    }

    /// Keeps alerts also in the log of all harnesses.
    #[must_use]
    pub fn with_log_of_all(mut self, log: impl Into<PathBuf>) -> Self {
        self.all = Some(AlertLog::new(log));
        self
    }

    /// Sets how long sinks that are added from here on may take over an alert; 30 seconds otherwise.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Has somebody told of every alert, in their order.
    #[must_use]
    pub fn with_sink(mut self, sink: impl AlertSink + 'static) -> Self {
        let sink = Delivery::start(Arc::new(sink), self.deadline);
        self.sinks.push(sink);
        self
    }

    /// Pauses a sub-harness when a critical alert comes, as a person would: by the request in its
    /// folder. Everybody sees that it is paused, and to resume it undoes that.
    #[must_use]
    pub fn pausing_on_critical(mut self, folder: &HarnessFolder) -> Self {
        self.pauses = Some(folder.clone());
        self
    }

    /// Does something at once when a critical alert comes. It must not wait.
    #[must_use]
    pub fn on_critical(mut self, act: impl Fn(&Alert) + Send + Sync + 'static) -> Self {
        self.on_critical.push(Box::new(act));
        self
    }

    /// Raises an alert: keeps it, pauses the run if it is critical and that is wanted, and has
    /// the sinks told.
    ///
    /// # Errors
    ///
    /// A log cannot be written, or the sub-harness not be paused. Everything else was done all the
    /// same.
    pub async fn alert(&self, alert: Alert) -> Result<(), AlertError> {
        let mut kept = Ok(());
        if alert.severity == Severity::Critical {
            for act in &self.on_critical {
                if catch_unwind(AssertUnwindSafe(|| act(&alert))).is_err() {
                    tracing::warn!(
                        kind = alert.kind,
                        "what is done about critical alerts panicked"
                    );
                }
            }
            if let Some(folder) = &self.pauses {
                kept = pause(folder.clone()).await;
            }
        }
        let alert = Arc::new(alert);
        for log in [Some(&self.own), self.all.as_ref()].into_iter().flatten() {
            let written = append(log.clone(), Arc::clone(&alert)).await;
            kept = kept.and(written);
        }
        for sink in &self.sinks {
            sink.send(&alert);
        }
        kept
    }

    /// Waits until every sink was told of all alerts so far, or was given up.
    pub async fn flush(&self) {
        for sink in &self.sinks {
            sink.flush().await;
        }
    }

    /// Returns all that is in the log of the harness, with the lines that cannot be read.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub async fn history(&self) -> Result<AlertHistory, AlertError> {
        let (log, path) = (self.own.clone(), self.own.path().to_owned());
        let read = tokio::task::spawn_blocking(move || log.read()).await;
        read.unwrap_or_else(|broken| {
            Err(AlertError::Failed {
                path,
                doing: "read",
                source: std::io::Error::other(broken),
            })
        })
    }

    /// Returns the alerts of a severity in the order in which they came.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub async fn by_severity(&self, severity: Severity) -> Result<Vec<Alert>, AlertError> {
        let mut alerts = self.history().await?.alerts;
        alerts.retain(|alert| alert.severity == severity);
        Ok(alerts)
    }

    /// Returns the last `count` alerts in the order in which they came.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub async fn recent(&self, count: usize) -> Result<Vec<Alert>, AlertError> {
        let mut alerts = self.history().await?.alerts;
        Ok(alerts.split_off(alerts.len().saturating_sub(count)))
    }
}

async fn pause(folder: HarnessFolder) -> Result<(), AlertError> {
    let path = folder.path().to_owned();
    let paused = tokio::task::spawn_blocking(move || folder.request_pause()).await;
    let paused = match paused {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => std::io::Error::other(error),
        Err(broken) => std::io::Error::other(broken),
    };
    Err(AlertError::NotPaused {
        path,
        source: paused,
    })
}

/// Writes where nobody's runtime waits for the disk.
async fn append(log: AlertLog, alert: Arc<Alert>) -> Result<(), AlertError> {
    let path = log.path().to_owned();
    let written = tokio::task::spawn_blocking(move || log.append(&alert)).await;
    written.unwrap_or_else(|broken| {
        Err(AlertError::Failed {
            path,
            doing: "written",
            source: std::io::Error::other(broken),
        })
    })
}

impl fmt::Debug for AlertManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertManager")
            .field("own", &self.own)
            .field("all", &self.all)
            .field("sinks", &self.sinks)
            .finish_non_exhaustive()
    }
}
