//! What carries out a run, on the side of the worker.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

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
///     async fn carry_out(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
///         desk.report(RunProgress::of(1.0));
///         RunOutcome::succeeded(run.input.clone())
///     }
/// }
/// ```
#[async_trait]
pub trait JobRunner: Send + Sync {
    /// Carries out a run to its end.
    async fn carry_out(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome;
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

    /// Says how far the run is.
    pub fn report(&self, progress: RunProgress) {
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
    /// How far it has come, from 0 to 1.
    pub progress: f64,
    /// What it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The number of its iteration; 0 before the first.
    pub iteration: u32,
    /// What it has spent.
    pub spent: Spent,
}

impl RunProgress {
    /// Says that a run has come so far, from 0 to 1.
    pub fn of(progress: f64) -> Self {
        Self {
            progress,
            ..Self::default()
        }
    }
}
