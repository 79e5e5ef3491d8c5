//! What is under way, as it is ordered.

use super::{CheckOrder, FlowAction, FlowMachine, PromptOrder, SessionChoice};

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
            budget: self.budget_left(),
        })
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
