//! [`RunState`], the state of a run and its transitions.

use crate::agent::CostTotal;
use crate::engine::{RunEnding, RunOutcome, RunPhase, RunProgress, RunView};
use crate::event::Failure;
use crate::time::RunId;

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    has_begun: bool,
    is_paused: bool,
    /// The reason of the first cancellation.
    cancelled: Option<String>,
    at: RunProgress,
    outcome: Option<RunOutcome>,
}

impl RunState {
    /// Marks the run as started. Returns the reason if it was cancelled before.
    pub(super) fn start(&mut self) -> Result<(), String> {
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

    /// Marks the run as cancelled, unless it was cancelled before.
    pub(super) fn cancel(&mut self, reason: &str) {
        self.cancelled.get_or_insert_with(|| reason.to_owned());
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some()
    }

    /// Records the progress. Reports after the end are ignored.
    pub(super) fn set_progress(&mut self, at: RunProgress) {
        if self.outcome.is_none() {
            self.at = at;
        }
    }

    pub(super) fn outcome(&self) -> Option<&RunOutcome> {
        self.outcome.as_ref()
    }

    /// Records the outcome and returns the final one: the first outcome wins.
    pub(super) fn end(&mut self, outcome: RunOutcome) -> RunOutcome {
        let outcome = match (outcome.ending, &self.cancelled) {
            // The runner sees the cancellation, but not its reason.
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

    /// Records that the runner ended without an outcome. The usage since its last report is
    /// unknown.
    pub(super) fn abort(&mut self, failure: Failure) -> RunOutcome {
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
            progress: Some(self.at.clone()),
            outcome: self.outcome.clone(),
            ..RunView::new(id.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn phase(state: &RunState) -> RunPhase {
        state.view(&RunId::new("run")).phase
    }

    #[test]
    fn a_run_goes_through_its_phases() {
        let mut state = RunState::default();
        assert_eq!(phase(&state), RunPhase::Waiting);

        assert_eq!(state.start(), Ok(()));
        assert_eq!(phase(&state), RunPhase::Running);
        state.set_paused(true);
        assert_eq!(phase(&state), RunPhase::Paused);
        state.cancel("enough");
        assert_eq!(phase(&state), RunPhase::Stopping);
        state.end(RunOutcome::cancelled(""));

        assert_eq!(phase(&state), RunPhase::Ended);
    }

    #[test]
    fn a_run_that_was_cancelled_does_not_begin() {
        let mut state = RunState::default();
        state.cancel("first");
        state.cancel("second");

        assert_eq!(state.start(), Err("first".to_owned()));
    }

    #[test]
    fn a_cancelled_run_ends_with_the_reason_of_its_cancellation() {
        let mut state = RunState::default();
        state.cancel("another was first");

        let outcome = state.end(RunOutcome::cancelled("").with_output(json!("half")));

        let expected = RunOutcome::cancelled("another was first").with_output(json!("half"));
        assert_eq!(outcome, expected);
    }

    #[test]
    fn the_first_outcome_wins() {
        let mut state = RunState::default();
        let done = RunOutcome::succeeded(json!("done"));
        state.end(done.clone());

        state.set_progress(RunProgress::new(0.5));
        let late = state.abort(Failure::permanent("late", "too late"));

        assert_eq!(late, done);
        assert_eq!(state.at, RunProgress::default());
    }

    #[test]
    fn the_cost_of_an_interrupted_run_is_unknown() {
        let mut state = RunState::default();
        let mut at = RunProgress::new(0.5);
        at.spent.tokens.input = 7;
        state.set_progress(at);

        let outcome = state.abort(Failure::permanent("panicked", "it panicked"));

        assert_eq!(outcome.spent.tokens.input, 7);
        assert_eq!(outcome.spent.cost, CostTotal::unknown());
    }
}
