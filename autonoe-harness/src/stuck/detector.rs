//! The judgement.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::iteration::Iteration;
use super::patterns::{pairs_at_end, run_at_end, such_at_end};
use super::report::{StuckLevel, StuckReason, StuckReport};
use super::thresholds::StuckThresholds;

/// How many iterations are remembered, and how many actions: more than any sign needs.
const MEMORY: usize = 64;

/// Watches one agent, and says after each iteration whether it is stuck.
///
/// It is like a fuse: closed while the agent comes on, open once it is stuck. Whoever helps the
/// agent says so ([`helped`](Self::helped)); then one good iteration closes it again, with
/// everything forgotten, and one bad iteration opens it at once.
///
/// ```
/// use autonoe_harness::{Iteration, StuckDetector, StuckLevel, StuckThresholds};
///
/// let mut detector = StuckDetector::new(StuckThresholds::default());
/// let levels = [0.5, 0.0, 0.1, 0.0].map(|score| {
///     let said = format!("I came to {score}"); // never the same twice
///     detector.observe(Iteration::new(said, score)).level
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

/// Whether an agent goes on as it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    /// It comes on.
    #[default]
    Closed,
    /// It is stuck and needs help.
    Open,
    /// It was helped; its next iteration shows whether that was of use.
    HalfOpen,
}

impl StuckDetector {
    /// Makes a detector that knows nothing yet.
    pub fn new(thresholds: StuckThresholds) -> Self {
        Self {
            thresholds,
            circuit: Circuit::Closed,
            history: VecDeque::new(),
            actions: Vec::new(),
        }
    }

    /// Returns how the agent goes on.
    pub fn circuit(&self) -> Circuit {
        self.circuit
    }

    /// Notes that the agent was helped.
    pub fn helped(&mut self) {
        self.circuit = Circuit::HalfOpen;
    }

    /// Takes in an iteration, and judges.
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
        // Of those that are equally bad the first stays first.
        reasons.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        let level = reasons
            .first()
            .map_or(StuckLevel::Fine, |(level, _)| *level);
        self.circuit = match level >= StuckLevel::Stuck {
            true => Circuit::Open,
            false => Circuit::Closed,
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
            // Who says nothing has not said the same again.
            Some(last) if last.output.trim().is_empty() => 0,
            _ => run_at_end(history().map(|iteration| iteration.output.trim())),
        };
        let reason = StuckReason::IdenticalOutput(identical);
        if reaches(identical, limits.runaway_outputs) {
            found.push((Critical, reason));
        } else if reaches(identical, limits.identical_outputs) {
            found.push((Stuck, reason));
        }
        let is_idle_now = such_at_end(history(), is_idle) > 0;
        let repeated = run_at_end(self.actions.iter());
        // Who edits one file again and again and comes on is at work.
        if reaches(repeated, limits.repeated_actions) && is_idle_now {
            found.push((Stuck, StuckReason::RepeatedAction(repeated)));
        }
        let pairs = pairs_at_end(&self.actions);
        if reaches(pairs, limits.alternations) && is_idle_now {
            found.push((Stuck, StuckReason::AlternatingPair(pairs)));
        }
        let errors = match history().next_back().map(|last| &last.error) {
            Some(Some(_)) => run_at_end(history().map(|iteration| &iteration.error)),
            _ => 0,
        };
        if reaches(errors, limits.repeated_errors) {
            found.push((Stuck, StuckReason::RepeatedError(errors)));
        }
        let denied = such_at_end(history(), |it| is_idle(it) && it.denials > 0);
        if reaches(denied, limits.denied_iterations) {
            found.push((Stuck, StuckReason::Denied(denied)));
        }
        let hasty = such_at_end(history(), |it| {
            is_idle(it) && it.time.as_secs_f64() < limits.hasty_seconds
        });
        if reaches(hasty, limits.hasty_iterations) {
            found.push((Stuck, StuckReason::SuspiciousSpeed(hasty)));
        }
        // An iteration whose calls were denied is judged apart.
        let idle = such_at_end(history(), |it| is_idle(it) && it.denials == 0);
        let reason = StuckReason::NoProgress(idle);
        if reaches(idle, limits.stuck_after) {
            found.push((Stuck, reason));
        } else if reaches(idle, limits.warn_after) {
            found.push((Warning, reason));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Lets a detector see iterations that differ in nothing but what `change` does; returns what
    /// it says of the last.
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
    fn who_says_nothing_but_comes_on_is_not_stuck() {
        let report = after(9, |_, it| it.output = " \n".into());

        assert_eq!(report.level, StuckLevel::Fine);
    }

    #[test]
    fn who_edits_one_file_many_times_and_comes_on_is_not_stuck() {
        let edits = |_, it: &mut Iteration| it.actions = vec!["Edit src/main.rs".into(); 7];

        assert_eq!(after(1, edits).level, StuckLevel::Fine);
        assert_eq!(after(9, edits).level, StuckLevel::Fine);
    }

    #[test]
    fn who_was_helped_and_comes_on_is_not_stuck_for_what_it_repeats() {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        detector.observe(Iteration::new("nothing", 0.0));
        detector.helped();
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
    fn one_good_iteration_after_help_closes_the_fuse_and_all_is_forgotten() {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        for number in 0..3 {
            detector.observe(Iteration::new(format!("{number}"), 0.0));
        }
        assert_eq!(detector.circuit(), Circuit::Open);

        detector.helped();
        assert_eq!(detector.circuit(), Circuit::HalfOpen);
        let report = detector.observe(Iteration::new("better", 0.6));

        assert_eq!(report.level, StuckLevel::Fine);
        assert_eq!(detector.circuit(), Circuit::Closed);
        // It takes as long as at first until it is stuck again.
        let levels =
            [0, 1, 2].map(|n| detector.observe(Iteration::new(format!("x{n}"), 0.0)).level);
        assert_eq!(
            levels,
            [StuckLevel::Fine, StuckLevel::Warning, StuckLevel::Stuck]
        );
    }

    #[test]
    fn one_bad_iteration_after_help_opens_the_fuse_at_once() {
        let mut detector = StuckDetector::new(StuckThresholds::default());
        detector.observe(Iteration::new("fine", 0.6));
        detector.helped();

        let report = detector.observe(Iteration::new("nothing", 0.0));

        assert_eq!(report.reasons[0], StuckReason::NotRecovered);
        assert_eq!(detector.circuit(), Circuit::Open);
    }

    #[test]
    fn a_threshold_of_nothing_switches_its_sign_off() {
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
