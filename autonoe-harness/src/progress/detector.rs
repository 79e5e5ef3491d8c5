//! What an iteration came to.

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
    tree: TreeSnapshot,
    limits: SnapshotLimits,
}

impl ProgressDetector {
    /// Begins with how the folder is before the first iteration.
    pub fn new(tree: TreeSnapshot) -> Self {
        Self {
            output: String::new(),
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
        let signal = ProgressSignal {
            output_diff_score: difference(&self.output, output),
            file_changes_score: tree.score_since(&self.tree, &self.limits),
            explicit_markers: markers(output),
            checklist_progress: checklist(output),
            ledger_progress: ledger,
        };
        self.output = output.to_owned();
        self.tree = tree;
        signal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_each(outputs: &[&str]) -> Vec<ProgressSignal> {
        let mut detector = ProgressDetector::new(TreeSnapshot::default());
        let detect = |output: &&str| detector.detect(output, TreeSnapshot::default(), 0.0);
        outputs.iter().map(detect).collect()
    }

    #[test]
    fn checklist_progress_is_the_share_of_completed_items() {
        for (output, expected) in [
            ("no list", 0.0),
            ("- [ ] a\n- [ ] b", 0.0),
            ("- [ ] a\n- [x] b\n  * [X] c\n+ [ ] d", 0.5),
            ("- [x] a", 1.0),
            ("- [y] a\n-[x] b\n[x] c", 0.0),
        ] {
            // Also when the output before was the same.
            for signal in detect_each(&[output, output]) {
                assert_eq!(signal.checklist_progress, expected, "{output:?}");
            }
        }
    }

    #[test]
    fn markers_count_in_each_output_that_has_them() {
        let outputs = [
            "<progress>a</progress> <progress>b</progress> <progress>a</progress>",
            "Again: <progress>a</progress>",
            "nothing",
        ];

        let markers = detect_each(&outputs).into_iter();
        let markers: Vec<_> = markers.map(|signal| signal.explicit_markers).collect();

        assert_eq!(markers, [vec!["a", "b"], vec!["a"], vec![]]);
    }
}
