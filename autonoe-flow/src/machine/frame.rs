//! A step that is being run.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::action::StepTry;
use super::fact::Answer;
use super::failure::FlowFailure;
use crate::check::ToolOutcome;
use crate::definition::{ReturnFlow, StepId};
use crate::prompt::Variables;

/// A step that is being run. One is at the bottom; the others are sub-steps of the one below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) at: StepTry,
    pub(super) role: Role,
    pub(super) stage: Stage,
    /// The variables of the first prompt of this visit. A retry sends the same text.
    pub(super) variables: Option<Variables>,
    /// At the bottom: which sub-steps were begun in this visit, by their place in those around them.
    /// To begin one again is no visit of it.
    pub(super) parts_begun: BTreeSet<Vec<usize>>,
    /// The answers of this try, sub-steps included, with a blank line between them.
    pub(super) text: String,
    /// The tool calls of this try, sub-steps included.
    pub(super) actions: Vec<ToolOutcome>,
}

/// Why a step is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    /// The flow went to it.
    Visit,
    /// It is a part of the step below.
    Part,
    /// Another step failed for good, and it is run for that.
    Called(Call),
}

/// A step that failed for good, and how the flow goes on when that was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Call {
    pub(super) by: StepId,
    pub(super) visit: u32,
    /// When it failed.
    pub(super) at: Timestamp,
    pub(super) failure: FlowFailure,
    pub(super) then: ReturnFlow,
}

/// What of a step comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    Prompt,
    /// The sub-step of this number.
    Part(usize),
    Check,
}

impl Frame {
    pub(super) fn new(step: StepId, visit: u32, role: Role) -> Self {
        Self {
            at: StepTry {
                step,
                visit,
                retry: 0,
            },
            role,
            stage: Stage::Prompt,
            variables: None,
            parts_begun: BTreeSet::new(),
            text: String::new(),
            actions: Vec::new(),
        }
    }

    /// Returns the number of the sub-step that comes next or is being run.
    pub(super) fn part(&self) -> Option<usize> {
        match self.stage {
            Stage::Part(number) => Some(number),
            Stage::Prompt | Stage::Check => None,
        }
    }

    /// Begins a new try of the whole step.
    pub(super) fn try_again(&mut self) {
        self.at.retry = self.at.retry.saturating_add(1);
        self.stage = Stage::Prompt;
        self.text.clear();
        self.actions.clear();
    }

    /// Takes notice of an answer in this step or a part of it.
    pub(super) fn note(&mut self, answer: &Answer) {
        if !self.text.is_empty() && !answer.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&answer.text);
        self.actions.extend(answer.actions.iter().cloned());
    }
}

/// How a try of a step ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Settled {
    Passed,
    Failed(FlowFailure),
}
