//! [`JobRunner`], which executes runs on a worker.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::view::clamp_fraction;
use super::{RunOutcome, RunProgress, RunSpec};
use crate::run::RunControl;

/// Executes runs of one kind, for an [`Engine`](super::Engine) that calls it.
///
/// An implementation must return an outcome in every case. After the cancellation of the context's
/// control it must return soon, with everything that it started ended. It should report its
/// progress from time to time.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::engine::{JobRunner, JobContext, RunOutcome, RunProgress, RunSpec};
///
/// /// Gives back what it was given.
/// struct Echo;
///
/// #[async_trait]
/// impl JobRunner for Echo {
///     async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
///         context.report(RunProgress::new(1.0));
///         RunOutcome::succeeded(run.input.clone())
///     }
/// }
/// ```
#[async_trait]
pub trait JobRunner: Send + Sync {
    /// Executes a run to its end.
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<R: JobRunner + ?Sized> JobRunner for Arc<R> {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        (**self).run(run, context).await
    }
}

/// The context of a running job: its control and its progress reports.
#[derive(Clone)]
pub struct JobContext {
    control: RunControl,
    reports: Arc<dyn Fn(RunProgress) + Send + Sync>,
}

impl JobContext {
    /// Creates a context. Progress goes to `reports`, which must not block.
    pub fn new(control: RunControl, reports: impl Fn(RunProgress) + Send + Sync + 'static) -> Self {
        Self {
            control,
            reports: Arc::new(reports),
        }
    }

    /// Returns the control that cancels the run, pauses it and sends messages to its agents.
    pub fn control(&self) -> &RunControl {
        &self.control
    }

    /// Reports the progress of the run, clamped to a number from 0 to 1.
    pub fn report(&self, mut progress: RunProgress) {
        progress.progress = clamp_fraction(progress.progress);
        (self.reports)(progress);
    }
}

impl fmt::Debug for JobContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobContext")
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_always_from_0_to_1() {
        for (reported, expected) in [
            (f64::NAN, 0.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, 0.0),
            (-0.5, 0.0),
            (7.0, 1.0),
            (0.25, 0.25),
        ] {
            let (sender, received) = std::sync::mpsc::channel();
            let sender = std::sync::Mutex::new(sender);
            let context = JobContext::new(RunControl::new(), move |at: RunProgress| {
                let sender = sender.lock().expect("a lock");
                sender.send(at.progress).expect("the receiver is open");
            });
            let mut at = RunProgress::new(reported);
            assert_eq!(at.progress, expected, "{reported}");
            at.progress = reported;

            context.report(at.clone());

            assert_eq!(received.recv(), Ok(expected), "{reported}");
            let json = serde_json::to_string(&at).expect("it serialises");
            let read: RunProgress = serde_json::from_str(&json).expect("it is read");
            // Infinity is `null` in JSON, like NaN.
            let expected = if reported.is_infinite() {
                0.0
            } else {
                expected
            };
            assert_eq!(read.progress, expected, "{reported}");
        }
    }
}
