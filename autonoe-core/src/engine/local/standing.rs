//! How a run stands, and what changes that.

use crate::domain::{CostTotal, Failure, RunId};
use crate::engine::{RunEnding, RunOutcome, RunPhase, RunProgress, RunView};

/// How a run stands: what happened to it, in the order in which it did.
#[derive(Debug, Default)]
pub(super) struct Standing {
    has_begun: bool,
    is_paused: bool,
    /// Why it was cancelled, in the words of who was first.
    cancelled: Option<String>,
    at: RunProgress,
    outcome: Option<RunOutcome>,
}

impl Standing {
    /// Notes that it begins; or returns why it must not.
    pub(super) fn begin(&mut self) -> Result<(), String> {
        match &self.cancelled {
            Some(reason) => Err(reason.clone()),
            None => {
                self.has_begun = true;
                Ok(())
            }
        }
    }

    pub(super) fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Notes that it is to end, unless it was told so before.
    pub(super) fn cancel(&mut self, reason: &str) {
        self.cancelled.get_or_insert_with(|| reason.to_owned());
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some()
    }

    /// Notes how far it is. What is told after the end is too late.
    pub(super) fn reached(&mut self, at: RunProgress) {
        if self.outcome.is_none() {
            self.at = at;
        }
    }

    pub(super) fn outcome(&self) -> Option<&RunOutcome> {
        self.outcome.as_ref()
    }

    /// Notes what it came to, and returns what stands: the first outcome does.
    pub(super) fn end(&mut self, outcome: RunOutcome) -> RunOutcome {
        let outcome = match (outcome.ending, &self.cancelled) {
            // Who carries it out sees that it was cancelled, but not why.
            (RunEnding::Cancelled { .. }, Some(reason)) => RunOutcome {
                ending: RunEnding::Cancelled {
                    reason: reason.clone(),
                },
                ..outcome
            },
            (ending, _) => RunOutcome { ending, ..outcome },
        };
        self.outcome.get_or_insert(outcome).clone()
    }

    /// Notes that who carried it out is gone without a word. What it had spent since its last
    /// report is unknown.
    pub(super) fn break_off(&mut self, failure: Failure) -> RunOutcome {
        let mut spent = self.at.spent;
        spent.cost.merge(CostTotal::unknown());
        self.end(RunOutcome::failed(failure).with_spent(spent))
    }

    pub(super) fn view(&self, id: &RunId) -> RunView {
        let phase = match self {
            Self {
                outcome: Some(_), ..
            } => RunPhase::Ended,
            Self {
                cancelled: Some(_), ..
            } => RunPhase::Stopping,
            Self {
                has_begun: false, ..
            } => RunPhase::Waiting,
            Self {
                is_paused: true, ..
            } => RunPhase::Paused,
            _ => RunPhase::Running,
        };
        RunView {
            phase,
            at: Some(self.at.clone()),
            outcome: self.outcome.clone(),
            ..RunView::new(id.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn phase(standing: &Standing) -> RunPhase {
        standing.view(&RunId::new("run")).phase
    }

    #[test]
    fn a_run_goes_through_its_phases() {
        let mut standing = Standing::default();
        assert_eq!(phase(&standing), RunPhase::Waiting);

        assert_eq!(standing.begin(), Ok(()));
        assert_eq!(phase(&standing), RunPhase::Running);
        standing.set_paused(true);
        assert_eq!(phase(&standing), RunPhase::Paused);
        standing.cancel("enough");
        assert_eq!(phase(&standing), RunPhase::Stopping);
        standing.end(RunOutcome::cancelled(""));

        assert_eq!(phase(&standing), RunPhase::Ended);
    }

    #[test]
    fn a_run_that_was_cancelled_does_not_begin() {
        let mut standing = Standing::default();
        standing.cancel("first");
        standing.cancel("second");

        assert_eq!(standing.begin(), Err("first".to_owned()));
    }

    #[test]
    fn a_cancelled_run_ends_in_the_words_of_who_ended_it() {
        let mut standing = Standing::default();
        standing.cancel("another was first");

        let outcome = standing.end(RunOutcome::cancelled("").with_output(json!("half")));

        let expected = RunOutcome::cancelled("another was first").with_output(json!("half"));
        assert_eq!(outcome, expected);
    }

    #[test]
    fn the_first_outcome_stands() {
        let mut standing = Standing::default();
        let done = RunOutcome::succeeded(json!("done"));
        standing.end(done.clone());

        standing.reached(RunProgress::of(0.5));
        let late = standing.break_off(Failure::permanent("late", "too late"));

        assert_eq!(late, done);
        assert_eq!(standing.at, RunProgress::default());
    }

    #[test]
    fn what_a_run_cost_that_broke_off_is_not_known() {
        let mut standing = Standing::default();
        let mut at = RunProgress::of(0.5);
        at.spent.tokens.input = 7;
        standing.reached(at);

        let outcome = standing.break_off(Failure::permanent("panicked", "it panicked"));

        assert_eq!(outcome.spent.tokens.input, 7);
        assert_eq!(outcome.spent.cost, CostTotal::unknown());
    }
}
