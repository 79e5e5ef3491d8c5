//! Reduces progress signals to what an agent did not claim before.

use std::collections::HashSet;

use super::signal::ProgressSignal;

/// Reduces the signals of an agent, one after the other, to what is new in them.
///
/// A signal counts markers and completed items of an output even if earlier outputs had them. An agent
/// that repeats them makes no progress, so stuck detection uses the score of the reduced signal.
///
/// ```
/// use autonoe_harness::{Novelty, ProgressSignal};
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
    /// Returns `signal` with the markers that no earlier signal had, and with the increase of the
    /// check list over its highest share so far.
    pub fn reduce(&mut self, signal: &ProgressSignal) -> ProgressSignal {
        let mut new = signal.clone();
        new.explicit_markers
            .retain(|marker| self.markers.insert(marker.clone()));
        new.checklist_progress = (signal.checklist_progress - self.checklist).max(0.0);
        self.checklist = self.checklist.max(signal.checklist_progress);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_again_is_nothing_new() {
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
