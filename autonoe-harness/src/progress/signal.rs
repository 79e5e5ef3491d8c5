//! Progress signal of an iteration, and the weights of its parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Evidence of an agent's progress in an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressSignal {
    /// The difference between its output and the previous one: 0 is the same, 1 is entirely
    /// different.
    pub output_diff_score: f64,
    /// The amount of changes in its folder: 0 is none, 1 is a lot.
    pub file_changes_score: f64,
    /// The progress markers in its output, between `<progress>` and `</progress>`, each text once.
    pub explicit_markers: Vec<String>,
    /// The share of completed items in the check list of its output, from 0 to 1; 0 if it has none.
    pub checklist_progress: f64,
    /// The share of deliverables that passed in this iteration, from 0 to 1. The specification does
    /// not have this signal.
    pub ledger_progress: f64,
}

/// Weight of each signal.
///
/// Those of the specification add up to 1. The ledger counts in addition, because a passed
/// deliverable is progress regardless of other signals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ProgressWeights {
    /// The difference of outputs.
    pub output_diff: f64,
    /// The changes of files.
    pub file_changes: f64,
    /// The progress markers; two markers count in full.
    pub explicit_markers: f64,
    /// Its check list.
    pub checklist: f64,
    /// The ledger.
    pub ledger: f64,
}

impl Default for ProgressWeights {
    fn default() -> Self {
        Self {
            output_diff: 0.30,
            file_changes: 0.30,
            explicit_markers: 0.25,
            checklist: 0.15,
            ledger: 1.0,
        }
    }
}

impl ProgressWeights {
    /// Returns the progress of the agent, from 0 to 1.
    ///
    /// ```
    /// use autonoe_harness::progress::{ProgressSignal, ProgressWeights};
    ///
    /// let mut signal = ProgressSignal::default();
    /// signal.output_diff_score = 0.5;
    /// signal.explicit_markers.push("the parser works".to_owned());
    ///
    /// let score = ProgressWeights::default().score(&signal);
    /// assert!((score - 0.275).abs() < 1e-9);
    /// ```
    pub fn score(&self, signal: &ProgressSignal) -> f64 {
        let markers = (signal.explicit_markers.len() as f64 * 0.5).min(1.0);
        let sum = [
            (self.output_diff, signal.output_diff_score),
            (self.file_changes, signal.file_changes_score),
            (self.explicit_markers, markers),
            (self.checklist, signal.checklist_progress),
            (self.ledger, signal.ledger_progress),
        ]
        .into_iter()
        // NaN counts as no progress.
        .map(|(weight, score)| weight * score.clamp(0.0, 1.0))
        .filter(|part| part.is_finite())
        .sum::<f64>();
        sum.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signal(
        diff: f64,
        files: f64,
        markers: usize,
        checklist: f64,
        ledger: f64,
    ) -> ProgressSignal {
        ProgressSignal {
            output_diff_score: diff,
            file_changes_score: files,
            explicit_markers: vec!["x".to_owned(); markers],
            checklist_progress: checklist,
            ledger_progress: ledger,
        }
    }

    #[test]
    fn signals_are_weighted_per_specification() {
        for (signal, expected) in [
            (signal(0.0, 0.0, 0, 0.0, 0.0), 0.0),
            (signal(1.0, 0.0, 0, 0.0, 0.0), 0.30),
            (signal(0.0, 1.0, 0, 0.0, 0.0), 0.30),
            (signal(0.0, 0.0, 1, 0.0, 0.0), 0.125),
            (signal(0.0, 0.0, 2, 0.0, 0.0), 0.25),
            (signal(0.0, 0.0, 9, 0.0, 0.0), 0.25),
            (signal(0.0, 0.0, 0, 1.0, 0.0), 0.15),
            (signal(1.0, 1.0, 2, 1.0, 0.0), 1.0),
            (signal(0.0, 0.0, 0, 0.0, 0.2), 0.2),
            (signal(1.0, 1.0, 2, 1.0, 1.0), 1.0),
            (signal(f64::NAN, 1.0, 0, 0.0, 0.0), 0.30),
        ] {
            let score = ProgressWeights::default().score(&signal);
            assert!((score - expected).abs() < 1e-9, "{signal:?}: {score}");
        }
    }

    proptest! {
        #[test]
        fn a_score_is_between_nothing_and_all(
            diff: f64, files: f64, markers in 0usize..5, checklist: f64, ledger: f64, weight: f64,
        ) {
            let weights = ProgressWeights { output_diff: weight, ..ProgressWeights::default() };
            let score = weights.score(&signal(diff, files, markers, checklist, ledger));
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }
}
