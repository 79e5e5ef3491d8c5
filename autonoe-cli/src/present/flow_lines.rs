//! `FlowLines`, an observer that prints the events of a flow.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_app::text::{DecisionFormatter, prompt_sent};
use autonoe_flow::{FlowEvent, FlowObserver};

use super::Presenter;

/// Prints the position of a flow and the results of its checks.
#[derive(Debug)]
pub(crate) struct FlowLines {
    presenter: Arc<Presenter>,
    words: Mutex<DecisionFormatter>,
}

impl FlowLines {
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            words: Mutex::default(),
        }
    }
}

impl FlowObserver for FlowLines {
    fn on_event(&self, event: &FlowEvent<'_>) {
        match event {
            FlowEvent::PromptSent { at, session, .. } => {
                self.presenter.print_line(Some(prompt_sent(at, session)));
            }
            FlowEvent::Decided { fact, action } => {
                let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
                for line in words.format(fact, Some(action)) {
                    self.presenter.print_line(Some(line));
                }
            }
            // The reader of a prompt prints its warnings.
            _ => {}
        }
    }
}
