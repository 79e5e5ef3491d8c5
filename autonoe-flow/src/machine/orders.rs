//! What is under way, as it is ordered.

use super::{CheckOrder, FlowAction, FlowMachine, Frame, PromptOrder, SessionChoice};
use crate::definition::{Check, WorkStep};
use crate::prompt::Variables;

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
