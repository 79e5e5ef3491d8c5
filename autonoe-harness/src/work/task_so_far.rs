//! How a task stood when the process that worked on it was lost.

use std::time::Duration;

use jiff::Timestamp;

use super::WorkEvent;
use super::conversation::Conversation;
use super::decide::is_permanent;
use crate::{BackendModel, Climb, RecoveryChange, RecoveryStep, StuckReport};

/// How a task stood when the process that worked on it was lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TaskSoFar {
    pub(super) iterations: u32,
    pub(super) waits: u32,
    /// Without an iteration between that counts.
    pub(super) waits_in_a_row: u32,
    /// Whether the last iteration was one after which it waits.
    waited: bool,
    /// How long its iterations took, with all that was checked in them.
    pub(super) worked: Duration,
    /// Until when it was to wait for its quota.
    pub(super) waits_until: Option<Timestamp>,
    pub(super) climb: Climb,
    /// The change after which no iteration began.
    pub(super) changed: Option<RecoveryChange>,
    /// The other ways of that change.
    pub(super) ways: WaysSoFar,
    /// The words of its goal, if they were changed.
    pub(super) goal: Option<String>,
    /// Who was put in charge of it.
    pub(super) escalated: Option<BackendModel>,
    /// Who had its last turn.
    pub(super) cli: Option<String>,
    pub(super) problem: Option<String>,
    pub(super) backend_failed: bool,
    pub(super) report: Option<StuckReport>,
    /// What its next turn continues.
    pub(super) conversation: Option<Conversation>,
}

/// How far the search for other ways was.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WaysSoFar {
    /// How many came to their end.
    pub(super) ended: usize,
    /// The branch of the one that did not, and how many of its iterations began.
    pub(super) open: Option<(String, u32)>,
}

impl WaysSoFar {
    pub(super) fn begins(&mut self, branch: &str, iteration: u32) {
        self.open = Some((branch.to_owned(), iteration));
    }

    pub(super) fn ends(&mut self) {
        self.ended += 1;
        self.open = None;
    }
}

impl TaskSoFar {
    pub(super) fn begins(&mut self, iteration: u32) {
        self.iterations = self.iterations.max(iteration);
        if !self.waited {
            self.waits_in_a_row = 0;
        }
        self.waited = false;
        self.waits_until = None;
        self.changed = None;
    }

    pub(super) fn was_cut_off(&mut self) {
        self.problem = Some("it was cut off before it came to its end".to_owned());
    }

    pub(super) fn did_not_begin(&mut self, reason: &str) {
        self.problem = Some(reason.to_owned());
        self.backend_failed = true;
    }

    /// Takes in an iteration that was no success.
    pub(super) fn iterated(&mut self, event: &WorkEvent) {
        let WorkEvent::Iterated {
            iteration,
            cli,
            model,
            end,
            conversation,
            verification,
            stuck,
            ..
        } = event
        else {
            return;
        };
        self.iterations = self.iterations.max(*iteration);
        self.problem = Some(verification.reason().to_owned());
        self.backend_failed = is_permanent(end);
        self.report = Some(stuck.clone());
        self.cli.get_or_insert_with(|| cli.clone());
        let of_turn = Conversation::of_turn(cli, model.as_deref(), conversation.as_ref());
        let before = self.conversation.take();
        self.conversation = Conversation::after_turn(before, end, of_turn);
    }

    pub(super) fn waits(&mut self, until: Timestamp) {
        self.waits = self.waits.saturating_add(1);
        self.waits_in_a_row = self.waits_in_a_row.saturating_add(1);
        self.waited = true;
        self.waits_until = Some(until);
    }

    pub(super) fn is_helped(&mut self, step: &RecoveryStep, climb: &Climb) {
        self.climb = climb.clone();
        self.changed = Some(step.change.clone());
        self.ways = WaysSoFar::default();
        let before = self.conversation.take();
        self.conversation = Conversation::after_change(before, &step.change);
        match &step.change {
            RecoveryChange::Prompt { goal } => self.goal = Some(goal.clone()),
            RecoveryChange::Escalate { to } => {
                self.escalated = Some(to.clone());
                self.backend_failed = false;
            }
            _ => {}
        }
    }
}
