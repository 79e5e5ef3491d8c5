//! What an iteration came to.

use std::collections::HashSet;

use super::signal::ProgressSignal;
use super::snapshot::{SnapshotLimits, TreeSnapshot};
use super::text::{checklist, difference, markers};

/// Compares an iteration with the one before it.
///
/// ```
/// use autonoe_harness::{ProgressDetector, ProgressWeights, TreeSnapshot};
///
/// let mut detector = ProgressDetector::new(TreeSnapshot::default());
/// let signal = detector.detect("- [x] parser\n- [ ] printer", TreeSnapshot::default(), 0.0);
///
/// assert_eq!(signal.checklist_progress, 0.5);
/// assert!(ProgressWeights::default().score(&signal) > 0.3);
/// ```
#[derive(Clone, Debug)]
pub struct ProgressDetector {
    output: String,
    /// What the agent has said of its progress.
    markers: HashSet<String>,
    /// How much of its check list was done at most.
    checklist: f64,
    tree: TreeSnapshot,
    limits: SnapshotLimits,
}

impl ProgressDetector {
    /// Begins with how the folder is before the first iteration.
    pub fn new(tree: TreeSnapshot) -> Self {
        Self {
            output: String::new(),
            markers: HashSet::new(),
            checklist: 0.0,
            tree,
            limits: SnapshotLimits::default(),
        }
    }

    /// Sets how much of a folder is looked at, and how many lines are a lot.
    #[must_use]
    pub fn with_limits(mut self, limits: SnapshotLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Tells what an iteration shows: what it said, how the folder is now, and how much of the
    /// deliverables came to pass in it.
    pub fn detect(&mut self, output: &str, tree: TreeSnapshot, ledger: f64) -> ProgressSignal {
        let mut markers = markers(output);
        markers.retain(|marker| self.markers.insert(marker.clone()));
        let checklist = checklist(output);
        let signal = ProgressSignal {
            output_diff_score: difference(&self.output, output),
            file_changes_score: tree.score_since(&self.tree, &self.limits),
            explicit_markers: markers,
            checklist_progress: (checklist - self.checklist).max(0.0),
            ledger_progress: ledger,
        };
        self.checklist = self.checklist.max(checklist);
        self.output = output.to_owned();
        self.tree = tree;
        signal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_again_is_no_progress() {
        let mut detector = ProgressDetector::new(TreeSnapshot::default());
        let mut detect = |output: &str| {
            let signal = detector.detect(output, TreeSnapshot::default(), 0.0);
            (signal.explicit_markers.len(), signal.checklist_progress)
        };

        let half = "<progress>a</progress><progress>b</progress>\n- [x] one\n- [ ] two";
        assert_eq!(detect(half), (2, 0.5));
        assert_eq!(detect(half), (0, 0.0));
        assert_eq!(
            detect("<progress>b</progress>\n- [ ] one\n- [ ] two"),
            (0, 0.0)
        );
        assert_eq!(
            detect("<progress>c</progress>\n- [x] one\n- [x] two"),
            (1, 0.5)
        );
        assert_eq!(detect("- [x] one\n- [x] two"), (0, 0.0));
    }
}
