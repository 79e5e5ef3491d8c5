//! Detector of stuck agents.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::report::{Iteration, StuckLevel, StuckReason, StuckReport, StuckThresholds};

/// Number of remembered iterations, and of actions: more than any sign needs.
const MEMORY: usize = 64;

/// Observes one agent, and reports after each iteration whether it is stuck.
///
/// It works like a circuit breaker: closed while the agent makes progress, open once it is stuck.
/// After a recovery action, call `helped`. Then one good iteration closes it again
/// and clears the history, and one bad iteration opens it at once.
///
/// ```
/// use autonoe_harness::stuck::{Iteration, StuckDetector, StuckLevel, StuckThresholds};
///
/// let mut detector = StuckDetector::new(StuckThresholds::default());
/// let levels = [0.5, 0.0, 0.1, 0.0].map(|score| {
///     let output = format!("The score is {score}."); // never the same twice
///     detector.observe(Iteration::new(output, score)).level
/// });
///
/// use StuckLevel::{Fine, Stuck, Warning};
/// assert_eq!(levels, [Fine, Fine, Warning, Stuck]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StuckDetector {
    thresholds: StuckThresholds,
    circuit: Circuit,
    history: VecDeque<Iteration>,
    actions: Vec<String>,
}

/// State of the circuit breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    /// The agent makes progress.
    #[default]
    Closed,
    /// The agent is stuck and needs help.
    Open,
    /// A recovery action was taken; the next iteration shows whether it helped.
    HalfOpen,
}

impl StuckDetector {
    /// Creates a detector without history.
    pub fn new(thresholds: StuckThresholds) -> Self {
        Self {
            thresholds,
            circuit: Circuit::Closed,
            history: VecDeque::new(),
            actions: Vec::new(),
        }
    }

    /// Returns the state of the circuit breaker.
    pub fn circuit(&self) -> Circuit {
        self.circuit
    }

    /// Records that a recovery action was taken.
    pub fn record_recovery(&mut self) {
        self.circuit = Circuit::HalfOpen;
    }

    /// Records an iteration, and returns the report.
    pub fn observe(&mut self, iteration: Iteration) -> StuckReport {
        let is_good = iteration.score >= self.thresholds.progress && iteration.error.is_none();
        let was_helped = self.circuit == Circuit::HalfOpen;
        if was_helped && is_good {
            self.history.clear();
            self.actions.clear();
        }
        self.remember(iteration);
        let mut reasons = self.reasons();
        if was_helped && !is_good {
            reasons.insert(0, (StuckLevel::Stuck, StuckReason::NotRecovered));
        }
        // Stable: reasons of the same level keep their order.
        reasons.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        let level = reasons
            .first()
            .map_or(StuckLevel::Fine, |(level, _)| *level);
        self.circuit = if level >= StuckLevel::Stuck {
            Circuit::Open
        } else {
            Circuit::Closed
        };
        let reasons = reasons.into_iter().map(|(_, reason)| reason).collect();
        StuckReport { level, reasons }
    }

    fn remember(&mut self, iteration: Iteration) {
        self.actions.extend(iteration.actions.iter().cloned());
        let surplus = self.actions.len().saturating_sub(MEMORY);
        self.actions.drain(..surplus);
        self.history.push_back(iteration);
        if self.history.len() > MEMORY {
            self.history.pop_front();
        }
    }

    fn reasons(&self) -> Vec<(StuckLevel, StuckReason)> {
        use StuckLevel::{Critical, Stuck, Warning};
        let limits = &self.thresholds;
        let reaches = |count: usize, limit: usize| limit > 0 && count >= limit;
        let history = || self.history.iter();
        let is_idle = |iteration: &&Iteration| iteration.score < limits.progress;
        let mut found = Vec::new();

        let identical = match history().next_back() {
            // Empty outputs do not count as repetition.
            Some(last) if last.output.trim().is_empty() => 0,
            _ => trailing_run(history().map(|iteration| iteration.output.trim())),
        };
        let reason = StuckReason::IdenticalOutput(identical);
        if reaches(identical, limits.runaway_outputs) {
            found.push((Critical, reason));
        } else if reaches(identical, limits.identical_outputs) {
            found.push((Stuck, reason));
        }
        let is_idle_now = trailing_count(history(), is_idle) > 0;
        let repeated = trailing_run(self.actions.iter());
        // An agent that edits one file repeatedly and makes progress is not stuck.
        if reaches(repeated, limits.repeated_actions) && is_idle_now {
            found.push((Stuck, StuckReason::RepeatedAction(repeated)));
        }
        let pairs = trailing_pairs(&self.actions);
        if reaches(pairs, limits.alternations) && is_idle_now {
            found.push((Stuck, StuckReason::AlternatingPair(pairs)));
        }
        let errors = match history().next_back().map(|last| &last.error) {
            Some(Some(_)) => trailing_run(history().map(|iteration| &iteration.error)),
            _ => 0,
        };
        if reaches(errors, limits.repeated_errors) {
            found.push((Stuck, StuckReason::RepeatedError(errors)));
        }
        let denied = trailing_count(history(), |it| is_idle(it) && it.denials > 0);
        if reaches(denied, limits.denied_iterations) {
            found.push((Stuck, StuckReason::Denied(denied)));
        }
        let hasty = trailing_count(history(), |it| {
            is_idle(it) && it.time.as_secs_f64() < limits.hasty_seconds
        });
        if reaches(hasty, limits.hasty_iterations) {
            found.push((Stuck, StuckReason::SuspiciousSpeed(hasty)));
        }
        // Iterations with denied calls are judged separately.
        let idle = trailing_count(history(), |it| is_idle(it) && it.denials == 0);
        let reason = StuckReason::NoProgress(idle);
        if reaches(idle, limits.stuck_after) {
            found.push((Stuck, reason));
        } else if reaches(idle, limits.warn_after) {
            found.push((Warning, reason));
        }
        found
    }
}

/// Counts how many items at the end of `items` equal the last one.
pub(super) fn trailing_run<T: PartialEq>(items: impl DoubleEndedIterator<Item = T>) -> usize {
    let mut items = items.rev();
    let Some(last) = items.next() else { return 0 };
    1 + items.take_while(|item| *item == last).count()
}

/// Counts how many items at the end of `items` satisfy the predicate.
pub(super) fn trailing_count<T>(
    items: impl DoubleEndedIterator<Item = T>,
    is_so: impl Fn(&T) -> bool,
) -> usize {
    items.rev().take_while(is_so).count()
}

/// Counts how often two different items alternate at the end of `items`, in pairs.
pub(super) fn trailing_pairs<T: PartialEq>(items: &[T]) -> usize {
    let [.., before, last] = items else { return 0 };
    if before == last {
        return 0;
    }
    let expected = [last, before].into_iter().cycle();
    let alternating = items.iter().rev().zip(expected);
    alternating
        .take_while(|(item, expected)| item == expected)
        .count()
        / 2
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Observes iterations that differ only by `change`, and returns the report of the last one.
    fn after(times: usize, change: impl Fn(usize, &mut Iteration)) -> StuckReport {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        let mut report = None;
        for number in 0..times {
            let mut iteration = Iteration::new(format!("output {number}"), 0.5);
            change(number, &mut iteration);
            report = Some(detector.observe(iteration));
        }
        report.expect("at least one")
    }

    #[test]
    fn each_sign_is_seen_at_its_threshold_and_not_before() {
        type Change = fn(usize, &mut Iteration);
        let signs: [(Change, usize, StuckReason); 8] = [
            (|_, it| it.score = 0.1, 3, StuckReason::NoProgress(3)),
            (
                |number, it| {
                    it.score = if number == 4 { 0.0 } else { 0.5 };
                    it.actions = vec!["Bash ls".into()];
                },
                5,
                StuckReason::RepeatedAction(5),
            ),
            (
                |_, it| it.error = Some("no".into()),
                3,
                StuckReason::RepeatedError(3),
            ),
            (
                |number, it| {
                    it.score = if number % 2 == 0 { 0.5 } else { 0.0 };
                    it.actions = vec![["Read a", "Edit a"][number % 2].into()];
                },
                6,
                StuckReason::AlternatingPair(3),
            ),
            (
                |_, it| it.output = " same\n".into(),
                3,
                StuckReason::IdenticalOutput(3),
            ),
            (
                |_, it| it.output = "same".into(),
                5,
                StuckReason::IdenticalOutput(5),
            ),
            (
                |number, it| {
                    it.score = 0.0;
                    it.denials = u32::from(number % 2 == 0);
                    it.time = Duration::from_millis(300);
                },
                3,
                StuckReason::SuspiciousSpeed(3),
            ),
            (
                |_, it| {
                    it.score = 0.0;
                    it.denials = 1;
                },
                3,
                StuckReason::Denied(3),
            ),
        ];
        for (change, times, reason) in signs {
            let report = after(times, change);
            assert_eq!(report.reasons, [reason]);
            assert!(report.is_stuck(), "{reason}");

            let before = after(times - 1, change);
            assert!(!before.reasons.contains(&reason), "{reason}: {before:?}");
        }
    }

    #[test]
    fn a_runaway_is_critical() {
        let same = |_, it: &mut Iteration| it.output = "same".into();

        assert_eq!(after(4, same).level, StuckLevel::Stuck);
        assert_eq!(after(5, same).level, StuckLevel::Critical);
    }

    #[test]
    fn an_agent_with_progress_but_no_output_is_not_stuck() {
        let report = after(9, |_, it| it.output = " \n".into());

        assert_eq!(report.level, StuckLevel::Fine);
    }

    #[test]
    fn repeated_edits_with_progress_are_not_stuck() {
        let edits = |_, it: &mut Iteration| it.actions = vec!["Edit src/main.rs".into(); 7];

        assert_eq!(after(1, edits).level, StuckLevel::Fine);
        assert_eq!(after(9, edits).level, StuckLevel::Fine);
    }

    #[test]
    fn repetition_with_progress_after_help_is_not_stuck() {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        detector.observe(Iteration::new("nothing", 0.0));
        detector.record_recovery();
        let mut edits = Iteration::new("better", 0.6);
        edits.actions = vec!["Edit src/main.rs".into(); 7];

        let report = detector.observe(edits);

        assert_eq!(report.level, StuckLevel::Fine);
    }

    #[test]
    fn denials_are_no_lack_of_progress() {
        let report = after(3, |_, it| {
            it.score = 0.0;
            it.denials = 2;
        });

        assert!(
            report
                .reasons
                .iter()
                .all(|reason| reason.is_about_permission())
        );
    }

    #[test]
    fn a_good_iteration_after_help_closes_the_circuit_and_clears_the_history() {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        for number in 0..3 {
            detector.observe(Iteration::new(format!("{number}"), 0.0));
        }
        assert_eq!(detector.circuit(), Circuit::Open);

        detector.record_recovery();
        assert_eq!(detector.circuit(), Circuit::HalfOpen);
        let report = detector.observe(Iteration::new("better", 0.6));

        assert_eq!(report.level, StuckLevel::Fine);
        assert_eq!(detector.circuit(), Circuit::Closed);
        // Becoming stuck again takes as long as the first time.
        let levels =
            [0, 1, 2].map(|n| detector.observe(Iteration::new(format!("x{n}"), 0.0)).level);
        assert_eq!(
            levels,
            [StuckLevel::Fine, StuckLevel::Warning, StuckLevel::Stuck]
        );
    }

    #[test]
    fn a_bad_iteration_after_help_opens_the_circuit() {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        detector.observe(Iteration::new("fine", 0.6));
        detector.record_recovery();

        let report = detector.observe(Iteration::new("nothing", 0.0));

        assert_eq!(report.reasons[0], StuckReason::NotRecovered);
        assert_eq!(detector.circuit(), Circuit::Open);
    }

    #[test]
    fn a_threshold_of_zero_disables_its_sign() {
        let thresholds = StuckThresholds {
            warn_after: 0,
            stuck_after: 0,
            ..StuckThresholds::default()
        };
        let mut detector = StuckDetector::new(thresholds);

        for number in 0..20 {
            let report = detector.observe(Iteration::new(format!("{number}"), 0.0));
            assert_eq!(report.level, StuckLevel::Fine);
        }
    }
}

#[cfg(test)]
mod patterns_tests {
    use super::*;

    #[test]
    fn repetitions_at_the_end_are_counted() {
        for (items, run, pairs) in [
            ("", 0, 0),
            ("a", 1, 0),
            ("aa", 2, 0),
            ("ab", 1, 1),
            ("abab", 1, 2),
            ("xabab", 1, 2),
            ("babab", 1, 2),
            ("ababb", 2, 0),
            ("ababc", 1, 1),
            ("aaab", 1, 1),
        ] {
            let items: Vec<char> = items.chars().collect();
            assert_eq!(trailing_run(items.iter()), run, "{items:?}");
            assert_eq!(trailing_pairs(&items), pairs, "{items:?}");
        }
    }
}
