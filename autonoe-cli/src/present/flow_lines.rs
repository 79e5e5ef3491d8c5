//! What of a flow stays on the screen, beside what its sessions do.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_flow::{FlowEvent, FlowObserver};

use super::Presenter;
use super::flow_words::{FlowWords, prompt_sent};

/// Shows a person where a flow is and what its checks find.
#[derive(Debug)]
pub(crate) struct FlowLines {
    presenter: Arc<Presenter>,
    words: Mutex<FlowWords>,
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
                self.presenter.stays(Some(prompt_sent(at, session)));
            }
            FlowEvent::Decided { fact, action } => {
                let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
                for line in words.decided(fact, Some(action)) {
                    self.presenter.stays(Some(line));
                }
            }
            // The prompt itself is warned of where it is read.
            _ => {}
        }
    }
}
