//! Which calls of an answer run side by side.

use autonoe_core::ToolEffect;

/// Cuts calls into batches: those of one run side by side, the batches one after the other.
///
/// Calls that only look and stand next to each other share a batch. A call that changes
/// something has one of its own, so that what an agent calls later sees what it called before.
pub(super) fn batches(effects: &[ToolEffect]) -> Vec<std::ops::Range<usize>> {
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
    let mut only_looks = false;
    for (at, effect) in effects.iter().enumerate() {
        let looks = *effect == ToolEffect::ReadOnly;
        match batches.last_mut() {
            Some(last) if looks && only_looks => last.end = at + 1,
            _ => batches.push(at..at + 1),
        }
        only_looks = looks;
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(calls: &str) -> String {
        let effects: Vec<_> = calls
            .chars()
            .map(|call| match call {
                'r' => ToolEffect::ReadOnly,
                _ => ToolEffect::Writes,
            })
            .collect();
        let cut = batches(&effects)
            .into_iter()
            .map(|batch| calls[batch].to_owned());
        cut.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_only_looks_runs_side_by_side() {
        for (calls, expected) in [
            ("", ""),
            ("r", "r"),
            ("rrr", "rrr"),
            ("w", "w"),
            ("ww", "w w"),
            ("rrwrr", "rr w rr"),
            ("wrrw", "w rr w"),
        ] {
            assert_eq!(cut(calls), expected, "{calls}");
        }
    }

    proptest! {
        #[test]
        fn every_call_is_in_one_batch_and_in_its_order(calls in "[rw]{0,20}") {
            prop_assert_eq!(cut(&calls).replace(' ', ""), calls);
        }
    }
}
