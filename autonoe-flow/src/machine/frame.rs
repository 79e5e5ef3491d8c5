//! [`Frame`]: a step in progress.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::action::StepAttempt;
use super::fact::Answer;
use super::failure::FlowFailure;
use crate::check::ToolOutcome;
use crate::definition::{ReturnFlow, StepId};
use crate::prompt::Variables;

/// A step in progress. The bottom frame is the visited step; each other frame is a sub-step of the
/// frame below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) at: StepAttempt,
    pub(super) role: FrameRole,
    pub(super) stage: StepStage,
    /// The variables of the first prompt of this visit. A retry sends the same text.
    pub(super) variables: Option<Variables>,
    /// Only in the bottom frame: the sub-steps that were started in this visit, by their path of
    /// indices. Starting one of them again does not count as a visit.
    pub(super) started_parts: BTreeSet<Vec<usize>>,
    /// The answers of this attempt, including sub-steps, separated by blank lines.
    pub(super) text: String,
    /// The tool calls of this attempt, including sub-steps.
    pub(super) actions: Vec<ToolOutcome>,
}

/// Reason for running a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FrameRole {
    /// A transition led to it.
    Visit,
    /// It is a sub-step of the step below.
    Part,
    /// It handles the escalation of another step.
    Called(EscalationCall),
}

/// The escalation of a step that has failed for good, and how the flow continues after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EscalationCall {
    pub(super) by: StepId,
    pub(super) visit: u32,
    /// Time of the failure.
    pub(super) at: Timestamp,
    pub(super) failure: FlowFailure,
    pub(super) then: ReturnFlow,
}

/// The next part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepStage {
    Prompt,
    /// The sub-step with this index.
    Part(usize),
    Check,
}

impl Frame {
    pub(super) fn new(step: StepId, visit: u32, role: FrameRole) -> Self {
        Self {
            at: StepAttempt {
                step,
                visit,
                retry: 0,
            },
            role,
            stage: StepStage::Prompt,
            variables: None,
            started_parts: BTreeSet::new(),
            text: String::new(),
            actions: Vec::new(),
        }
    }

    /// Returns the index of the sub-step that is next or in progress.
    pub(super) fn part(&self) -> Option<usize> {
        match self.stage {
            StepStage::Part(number) => Some(number),
            StepStage::Prompt | StepStage::Check => None,
        }
    }

    /// Starts a new attempt of the whole step.
    pub(super) fn start_retry(&mut self) {
        self.at.retry = self.at.retry.saturating_add(1);
        self.stage = StepStage::Prompt;
        self.text.clear();
        self.actions.clear();
    }

    /// Adds an answer of this step or of one of its sub-steps.
    pub(super) fn add_answer(&mut self, answer: &Answer) {
        if !self.text.is_empty() && !answer.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&answer.text);
        self.actions.extend(answer.actions.iter().cloned());
    }
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AttemptOutcome {
    Passed,
    Failed(FlowFailure),
}
