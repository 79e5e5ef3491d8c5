//! Detects the progress of an iteration, and how much of it is new.

use std::collections::HashSet;
use std::path::Path;

use autonoe_core::Project;
use autonoe_core::ledger::LedgerCounts;
use autonoe_core::project::FileDeliverableRepository;

use super::signal::{ProgressSignal, checklist, difference, markers};
use super::snapshot::{SnapshotLimits, TreeSnapshot};

/// Compares an iteration with the previous one.
///
/// ```
/// use autonoe_harness::progress::{ProgressDetector, ProgressWeights, TreeSnapshot};
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
    /// Creates a detector with the snapshot before the first iteration.
    pub fn new(tree: TreeSnapshot) -> Self {
        Self {
            output: String::new(),
            tree,
            limits: SnapshotLimits::default(),
        }
    }

    /// Sets the limits of snapshots, and how many changed lines give the full score.
    #[must_use]
    pub fn limits(mut self, limits: SnapshotLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the signal of an iteration: from its output, the current files, and the share of
    /// deliverables that passed in it.
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

/// Reduces successive signals of an agent to what is new in them.
///
/// A signal counts markers and completed items of an output even if earlier outputs contained them.
/// An agent that repeats them makes no progress, so stuck detection uses the score of the reduced
/// signal.
///
/// ```
/// use autonoe_harness::progress::{Novelty, ProgressSignal};
///
/// let mut novelty = Novelty::default();
/// let mut signal = ProgressSignal::default();
/// signal.checklist_progress = 0.5;
///
/// assert_eq!(novelty.reduce(&signal).checklist_progress, 0.5);
/// assert_eq!(novelty.reduce(&signal).checklist_progress, 0.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Novelty {
    markers: HashSet<String>,
    /// The highest share of completed items so far.
    checklist: f64,
}

impl Novelty {
    /// Returns `signal` with only the markers that no earlier signal had, and with the increase of
    /// the check list over its highest share so far.
    pub fn reduce(&mut self, signal: &ProgressSignal) -> ProgressSignal {
        let mut new = signal.clone();
        new.explicit_markers
            .retain(|marker| self.markers.insert(marker.clone()));
        new.checklist_progress = (signal.checklist_progress - self.checklist).max(0.0);
        self.checklist = self.checklist.max(signal.checklist_progress);
        new
    }
}

/// Returns the counts of the ledger of a project; `None` if the folder has no ledger, or one that
/// cannot be read.
pub(crate) fn ledger_counts(folder: &Path) -> Option<LedgerCounts> {
    let project = Project::find(folder, None).ok()?;
    match FileDeliverableRepository::from_path(project.status_path()).load_now() {
        Ok(snapshot) => Some(snapshot?.state.ledger.counts()),
        Err(error) => {
            tracing::warn!(%error, "cannot read the ledger; it does not count as progress");
            None
        }
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
            // Also if the previous output was the same.
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

#[cfg(test)]
mod novelty_tests {
    use super::*;

    #[test]
    fn repeated_markers_and_checklists_are_not_novel() {
        let mut novelty = Novelty::default();
        let mut reduce = |markers: &[&str], checklist: f64| {
            let signal = ProgressSignal {
                output_diff_score: 0.1,
                file_changes_score: 0.2,
                explicit_markers: markers.iter().copied().map(str::to_owned).collect(),
                checklist_progress: checklist,
                ledger_progress: 0.3,
            };
            let new = novelty.reduce(&signal);
            let rest = (new.output_diff_score, new.file_changes_score);
            assert_eq!((rest, new.ledger_progress), ((0.1, 0.2), 0.3));
            (new.explicit_markers.len(), new.checklist_progress)
        };

        assert_eq!(reduce(&["a", "b"], 0.5), (2, 0.5));
        assert_eq!(reduce(&["a", "b"], 0.5), (0, 0.0));
        assert_eq!(reduce(&["b"], 0.0), (0, 0.0));
        assert_eq!(reduce(&["c"], 1.0), (1, 0.5));
        assert_eq!(reduce(&[], 1.0), (0, 0.0));
    }
}
