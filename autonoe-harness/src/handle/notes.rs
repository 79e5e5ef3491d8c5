//! Lines and alerts of a sub-harness that has no folder.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Alert;

/// Lines and alerts of a sub-harness in this process, kept in memory. Cheap to clone; all clones
/// are the same notes. What carries out the run can write there, too.
#[derive(Clone, Debug, Default)]
pub struct HarnessNotes(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    alerts: Vec<Alert>,
}

/// How many lines are kept.
const LINES: usize = 1000;

impl HarnessNotes {
    /// Adds a line. The last thousand are kept.
    pub fn line(&self, line: impl Into<String>) {
        self.with(|kept| {
            if kept.lines.len() == LINES {
                kept.lines.pop_front();
            }
            kept.lines.push_back(line.into());
        });
    }

    /// Adds an alert.
    pub fn alert(&self, alert: Alert) {
        self.with(|kept| kept.alerts.push(alert));
    }

    pub(super) fn tail(&self, tail: usize) -> Vec<String> {
        self.with(|kept| {
            let skipped = kept.lines.len().saturating_sub(tail);
            kept.lines.iter().skip(skipped).cloned().collect()
        })
    }

    pub(super) fn alerts(&self) -> Vec<Alert> {
        self.with(|kept| kept.alerts.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
