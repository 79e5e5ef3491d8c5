//! What carries out a run, on the side of the worker.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Deserializer, Serialize};

use super::{RunOutcome, RunSpec};
use crate::domain::Spent;
use crate::run::RunControl;

/// Carries out runs of some kind, for an [`Engine`](super::Engine) that calls it.
///
/// An implementer owes an outcome, whatever happens; soon after the desk's control is cancelled,
/// with all that was started ended; and a report now and then of how far it is.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{JobRunner, RunDesk, RunOutcome, RunProgress, RunSpec};
///
/// /// Gives back what it was given.
/// struct Echo;
///
/// #[async_trait]
/// impl JobRunner for Echo {
///     async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
///         desk.report(RunProgress::of(1.0));
///         RunOutcome::succeeded(run.input.clone())
///     }
/// }
/// ```
#[async_trait]
pub trait JobRunner: Send + Sync {
    /// Carries out a run to its end.
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<R: JobRunner + ?Sized> JobRunner for Arc<R> {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        (**self).run(run, desk).await
    }
}

/// Where a run under way is reached, and where it says how far it is.
#[derive(Clone)]
pub struct RunDesk {
    control: RunControl,
    reports: Arc<dyn Fn(RunProgress) + Send + Sync>,
}

impl RunDesk {
    /// Makes a desk. What is reported there goes to `reports`, which must not wait.
    pub fn new(control: RunControl, reports: impl Fn(RunProgress) + Send + Sync + 'static) -> Self {
        Self {
            control,
            reports: Arc::new(reports),
        }
    }

    /// Returns what cancels the run, pauses it and tells its agents something.
    pub fn control(&self) -> &RunControl {
        &self.control
    }

    /// Says how far the run is. What is no number from 0 to 1 is made one.
    pub fn report(&self, mut progress: RunProgress) {
        progress.progress = from_0_to_1(progress.progress);
        (self.reports)(progress);
    }
}

impl fmt::Debug for RunDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunDesk")
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunProgress {
    /// How far it has come, from 0 to 1. What is read as anything else is made that.
    #[serde(deserialize_with = "read_from_0_to_1")]
    pub progress: f64,
    /// What it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The number of its iteration; 0 before the first.
    pub iteration: u32,
    /// What it has spent.
    pub spent: Spent,
    /// The directory in which its agents work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// The question that it waits for a person to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

impl RunProgress {
    /// Says that a run has come so far, from 0 to 1.
    pub fn of(progress: f64) -> Self {
        Self {
            progress: from_0_to_1(progress),
            ..Self::default()
        }
    }
}

/// Returns the nearest number from 0 to 1; 0 if it is no number.
fn from_0_to_1(progress: f64) -> f64 {
    match progress.is_nan() {
        true => 0.0,
        false => progress.clamp(0.0, 1.0),
    }
}

/// Reads how far a run is. JSON has no word for what is no number but `null`.
fn read_from_0_to_1<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let progress = Option::<f64>::deserialize(deserializer)?;
    Ok(from_0_to_1(progress.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_run_is_is_always_from_0_to_1() {
        for (told, expected) in [
            (f64::NAN, 0.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, 0.0),
            (-0.5, 0.0),
            (7.0, 1.0),
            (0.25, 0.25),
        ] {
            let (tell, reported) = std::sync::mpsc::channel();
            let tell = std::sync::Mutex::new(tell);
            let desk = RunDesk::new(RunControl::new(), move |at: RunProgress| {
                let tell = tell.lock().expect("a lock");
                tell.send(at.progress).expect("somebody listens");
            });
            let mut at = RunProgress::of(told);
            assert_eq!(at.progress, expected, "{told}");
            at.progress = told;

            desk.report(at.clone());

            assert_eq!(reported.recv(), Ok(expected), "{told}");
            let json = serde_json::to_string(&at).expect("it serialises");
            let read: RunProgress = serde_json::from_str(&json).expect("it is read");
            // What is infinite is `null` in JSON, as what is no number.
            let expected = if told.is_infinite() { 0.0 } else { expected };
            assert_eq!(read.progress, expected, "{told}");
        }
    }
}
