//! Progress signal of an iteration, its weights, and the signals in the output of an agent.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

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

/// Number of bytes of an output that are compared: its end, which is the newest part.
const COMPARED: usize = 64 * 1024;

/// Time limit of a comparison. The result by then counts.
const COMPARISON: Duration = Duration::from_millis(200);

/// Returns the difference between two outputs, word by word: 0 is the same, 1 is entirely
/// different.
pub(super) fn difference(before: &str, now: &str) -> f64 {
    difference_until(before, now, Some(Instant::now() + COMPARISON))
}

/// Returns the result of a comparison by the `deadline`, or the complete result if there is none.
fn difference_until(before: &str, now: &str, deadline: Option<Instant>) -> f64 {
    if before == now {
        return 0.0;
    }
    // Blanks are not words: all texts have them in common.
    let words = |text| Vec::from_iter(end_of(text).split_whitespace());
    let (before, now) = (words(before), words(now));
    let mut comparison = TextDiff::configure();
    if let Some(deadline) = deadline {
        comparison.deadline(deadline);
    }
    1.0 - f64::from(comparison.diff_slices(&before, &now).ratio())
}

/// Returns the texts between `<progress>` and `</progress>`.
pub(super) fn markers(output: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = output;
    while let Some((_, behind)) = rest.split_once("<progress>")
        && let Some((marker, behind)) = behind.split_once("</progress>")
    {
        let marker = marker.trim();
        // An empty marker, or a repetition in the same output, is no progress.
        if !marker.is_empty() && !found.iter().any(|known| known == marker) {
            found.push(marker.to_owned());
        }
        rest = behind;
    }
    found
}

/// Returns the share of completed items in the check list of an output; 0 if there is none.
pub(super) fn checklist(output: &str) -> f64 {
    let (mut done, mut open) = (0u32, 0u32);
    for line in output.lines() {
        let line = line.trim_start();
        let Some(item) = ["- ", "* ", "+ "]
            .iter()
            .find_map(|bullet| line.strip_prefix(bullet))
        else {
            continue;
        };
        match item.get(..3) {
            Some("[x]" | "[X]") => done += 1,
            Some("[ ]") => open += 1,
            _ => {}
        }
    }
    match done + open {
        0 => 0.0,
        all => f64::from(done) / f64::from(all),
    }
}

fn end_of(text: &str) -> &str {
    let start = text.len().saturating_sub(COMPARED);
    &text[text.ceil_char_boundary(start)..]
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

    #[test]
    fn outputs_differ_by_their_words() {
        for (before, now, least, most) in [
            ("", "", 0.0, 0.0),
            ("the same words", "the same words", 0.0, 0.0),
            ("", "anything", 1.0, 1.0),
            ("one two three four", "one two three five", 0.05, 0.4),
            ("alpha beta", "gamma delta", 1.0, 1.0),
            ("alpha  beta\n", " alpha beta", 0.0, 0.0),
        ] {
            let found = difference(before, now);
            assert!(
                (least..=most).contains(&found),
                "{before:?} {now:?}: {found}"
            );
        }
    }

    // Shows: fleets/progress/output-diff
    #[test]
    fn large_outputs_are_compared_at_their_end() {
        let end = "ä word ".repeat(COMPARED);
        let (before, now) = (format!("old {end}"), format!("new {end}"));
        assert_eq!(difference_until(&before, &now, None), 0.0);

        let now = format!("{before} and more");
        let found = difference_until(&before, &now, None);
        assert!(0.0 < found && found < 0.2, "{found}");
    }

    // Shows: fleets/progress/output-diff
    #[test]
    fn a_comparison_ends_at_its_deadline() {
        let words = |from: usize| Vec::from_iter((from..from + 8_000).map(|n| n.to_string()));
        let (before, now) = (words(0).join(" "), words(4_000).join(" "));
        let complete = difference_until(&before, &now, None);

        let found = difference_until(&before, &now, Some(Instant::now()));

        assert!(found > complete, "{found} {complete}");
    }

    // Shows: fleets/progress/markers
    #[test]
    fn markers_are_the_texts_between_the_tags_each_once() {
        let output = "<progress> a </progress> x <progress>b</progress><progress></progress>\
                  <progress>a</progress> <progress>not closed";

        assert_eq!(markers(output), ["a", "b"]);
    }
}
