//! What a flow machine asks for.

use std::collections::BTreeMap;

use autonoe_core::{AgentSessionId, Budget};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::failure::FlowFailure;
use super::{FlowMachine, Frame};
use crate::check::ToolOutcome;
use crate::definition::{Check, Escalation, StepId, VariableName, WorkStep};
use crate::prompt::Variables;

/// What a [`FlowMachine`](super::FlowMachine) asks its driver to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum FlowAction {
    /// Go on with what is under way.
    Continue,
    /// Send the prompt of a step; answer with `Prompted`.
    Prompt(PromptOrder),
    /// Check a step; answer with `Checked`.
    Check(CheckOrder),
    /// Stop the prompt or the check that is under way; answer with its end.
    Stop,
    /// Ask whether the flow is complete; answer with `CompletionChecked`.
    AskCompletion(CompletionOrder),
    /// Tell somebody outside of a failure; answer with `Notified`.
    Notify(NotifyOrder),
    /// Wait; answer with `WaitOver`.
    Wait {
        /// For what.
        reason: FlowWait,
        /// Until when.
        until: Timestamp,
    },
    /// The flow is over, or stopped until it is resumed.
    Finish(FlowEnd),
}

/// Where the flow is: a try of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StepTry {
    /// The step.
    pub step: StepId,
    /// How often the step was visited, with this time.
    pub visit: u32,
    /// How often it was tried again in this visit.
    pub retry: u32,
}

/// A prompt that is to be sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptOrder {
    /// The iteration, from 1.
    pub iteration: u64,
    /// Where the flow is.
    #[serde(flatten)]
    pub at: StepTry,
    /// Which conversation the prompt belongs to.
    pub session: SessionChoice,
    /// The variables of the prompt: in a retry, those of the first try of the visit.
    pub variables: Variables,
    /// The outputs that the agent may set.
    pub outputs: Vec<VariableName>,
    /// Whether a model judges this step or one around it. The answer then has the inputs and the
    /// outputs of tool calls.
    pub judged: bool,
    /// What is left of the budget.
    pub budget: Budget,
}

/// Which conversation a prompt belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionChoice {
    /// The one of the answer before.
    Continue(AgentSessionId),
    /// A new one: there is none to continue, the last one failed, or the flow starts again.
    Fresh,
}

/// A step that is to be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckOrder {
    /// How many iterations there were.
    pub iteration: u64,
    /// Where the flow is.
    #[serde(flatten)]
    pub at: StepTry,
    /// The text parts of all answers of this try, sub-steps included.
    pub text: String,
    /// The tool calls of this try, sub-steps included.
    pub actions: Vec<ToolOutcome>,
    /// The variables of a check's prompt.
    pub variables: Variables,
    /// What is left of the budget.
    pub budget: Budget,
}

/// A question whether the flow is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompletionOrder {
    /// How many iterations there were, at least 1.
    pub iteration: u64,
    /// The step that was run last.
    pub step: StepId,
    /// The text parts of the last answer.
    pub text: String,
    /// Whether the steps have come to their end.
    pub at_end: bool,
}

/// A failure that somebody outside is to be told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NotifyOrder {
    /// When the step failed for good; the same when it is told again after a crash.
    pub failed_at: Timestamp,
    /// How many iterations there were.
    pub iteration: u64,
    /// The step that failed for good.
    pub step: StepId,
    /// The how-manieth visit of it, from 1.
    pub visit: u32,
    /// Who is told, and how.
    pub escalation: Escalation,
    /// Why the step failed.
    pub failure: FlowFailure,
}

/// Why a flow waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowWait {
    /// A step is tried again after an error of the agent.
    Retry,
    /// It is asked again whether the flow is complete, after an error.
    Completion,
    /// The service behind the agent asked to wait until then.
    RateLimit,
    /// The service behind the agent asked to wait, and nobody knows how long.
    RateLimitBackoff,
    /// A notification that could not be delivered is sent again.
    Notification,
}

/// How a flow ended, or why it stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "end",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum FlowEnd {
    /// The flow is complete.
    Complete {
        /// Why, in words for people; not empty.
        reason: String,
        /// What each condition of a composite found last, by its name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        states: BTreeMap<String, bool>,
    },
    /// The flow failed for good.
    Failed {
        /// Why.
        failure: FlowFailure,
    },
    /// The flow stopped and can be resumed: a person stopped it, a quota or a budget is spent, or a
    /// prompt cannot be used.
    Stopped {
        /// Why.
        failure: FlowFailure,
    },
}

impl FlowEnd {
    /// Tells whether the flow is complete.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Complete { .. })
    }

    /// Tells whether the flow can be resumed.
    pub fn is_resumable(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }

    /// Returns why the flow failed or stopped; `None` exactly when it is complete.
    pub fn failure(&self) -> Option<&FlowFailure> {
        match self {
            Self::Complete { .. } => None,
            Self::Failed { failure } | Self::Stopped { failure } => Some(failure),
        }
    }
}

impl FlowMachine {
    pub(super) fn prompt_order(&self) -> FlowAction {
        let Some((frame, work)) = self.top() else {
            return FlowAction::Continue;
        };
        FlowAction::Prompt(PromptOrder {
            iteration: self.context.iteration() + 1,
            at: frame.at.clone(),
            session: match self.context.session_id() {
                Some(id) => SessionChoice::Continue(id.clone()),
                None => SessionChoice::Fresh,
            },
            variables: frame.variables.clone().unwrap_or_default(),
            outputs: work.outputs.clone(),
            judged: self.is_judged(),
            budget: self.budget_left(),
        })
    }

    /// Returns the variables of the first prompt of a visit.
    pub(super) fn prompt_variables(&self, frame: &Frame, work: &WorkStep) -> Variables {
        let mut context = self.context_of(&frame.at, self.context.iteration() + 1);
        // A retry sends the same text, so that it cannot name the number of the retry.
        context.remove("retry");
        self.variables(work, &context)
    }

    /// Tells whether a model judges the step that is being run, or one around it.
    fn is_judged(&self) -> bool {
        let works = self.frames.iter();
        let mut works = works.filter_map(|frame| self.registry.step(&frame.at.step)?.work());
        works.any(|work| matches!(work.check, Some(Check::Prompt(_))))
    }

    pub(super) fn check_order(&self) -> FlowAction {
        let Some((frame, work)) = self.top() else {
            return FlowAction::Continue;
        };
        let iteration = self.context.iteration();
        let mut context = self.context_of(&frame.at, iteration);
        context.insert("response".to_owned(), frame.text.as_str().into());
        FlowAction::Check(CheckOrder {
            iteration,
            at: frame.at.clone(),
            text: frame.text.clone(),
            actions: frame.actions.clone(),
            variables: self.variables(work, &context),
            budget: self.budget_left(),
        })
    }
}
