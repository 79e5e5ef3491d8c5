//! What is under way, as it is ordered.

use super::{CheckOrder, FlowAction, FlowMachine, PromptOrder, SessionChoice};
use crate::definition::Check;

impl FlowMachine {
    pub(super) fn prompt_order(&self) -> FlowAction {
        let Some((frame, work)) = self.top() else {
            return FlowAction::Continue;
        };
        let iteration = self.context.iteration() + 1;
        let context = self.context_of(&frame.at, iteration);
        FlowAction::Prompt(PromptOrder {
            iteration,
            at: frame.at.clone(),
            session: match self.context.session_id() {
                Some(id) => SessionChoice::Continue(id.clone()),
                None => SessionChoice::Fresh,
            },
            variables: self.variables(work, &context),
            outputs: work.outputs.clone(),
            judged: self.is_judged(),
            budget: self.budget_left(),
        })
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
