//! What a backend tells of a session, and nothing after its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::signs_of_life::SignsOfLife;
use super::{Events, RunEventKind};
use crate::domain::{Failure, SpanContext, TokenUsage};

/// What a backend tells of one session. When it is over, what is still open gets its end, and
/// whatever the backend says later belongs nowhere any more.
#[derive(Debug)]
pub(crate) struct SessionScope {
    session: Events,
    open: Arc<OpenEnds>,
    signs: Arc<SignsOfLife>,
}

impl SessionScope {
    pub(crate) fn new(session: Events) -> Self {
        Self {
            session,
            open: Arc::default(),
            signs: Arc::default(),
        }
    }

    /// Returns what the backend tells with.
    pub(crate) fn events(&self) -> Events {
        let (open, signs) = (self.open.clone(), self.signs.clone());
        self.session.clone().within(open, signs)
    }
}

impl Drop for SessionScope {
    fn drop(&mut self) {
        let (models, notes) = {
            let mut state = self.open.lock();
            state.is_over = true;
            (
                std::mem::take(&mut state.models),
                std::mem::take(&mut state.notes),
            )
        };
        let error = Failure::retryable("cancelled", "the session ended before the answer came");
        for span in models {
            self.session.at(span).emit(RunEventKind::ModelFailed {
                error: &error,
                tokens: TokenUsage::default(),
            });
        }
        for span in notes {
            self.session.at(span).emit(RunEventKind::ProgressHidden);
        }
    }
}

/// What was begun and has not ended, by its place.
#[derive(Debug, Default)]
pub(super) struct OpenEnds(Mutex<State>);

#[derive(Debug, Default)]
pub(super) struct State {
    is_over: bool,
    models: Vec<SpanContext>,
    notes: Vec<SpanContext>,
}

impl OpenEnds {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes note of what is about to be told; `false` if it must not be told any more.
    pub(super) fn admits(&mut self, kind: &RunEventKind<'_>, at: &SpanContext) -> bool {
        match kind {
            _ if self.is_over => return false,
            RunEventKind::ModelStarted { .. } => self.models.push(*at),
            RunEventKind::ModelEnded { .. } | RunEventKind::ModelFailed { .. } => {
                self.models.retain(|open| open != at);
            }
            RunEventKind::ProgressShown { .. } => self.notes.push(*at),
            RunEventKind::ProgressHidden => {
                let shown = self.notes.iter().position(|open| open == at);
                shown.map(|index| self.notes.remove(index));
            }
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{
        ModelAnswer, ModelAsked, ModelMessages, RunEvent, RunObserver, SeededIds, SystemClock,
    };

    #[test]
    fn what_is_open_at_the_end_gets_its_end_once_and_nothing_follows() {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let keep = told.clone();
        let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
            let json = serde_json::to_value(event).expect("it serialises");
            let name = json["event"].as_str().unwrap_or_default().to_owned();
            keep.lock().expect("not poisoned").push(name);
        });
        let ids = Arc::new(SeededIds::new(1));
        let scope = SessionScope::new(Events::new(vec![observer], Arc::new(SystemClock), ids));
        let asked = ModelAsked::new("a-model", ModelMessages::new(0, &|| serde_json::json!([])));

        let events = scope.events();
        let (ended, open) = (events.model_call(&asked), events.child().model_call(&asked));
        ended.ended(&ModelAnswer::new("", TokenUsage::default()));
        let (hidden, shown) = (events.progress("one"), events.progress("two"));
        drop(hidden);
        drop(scope);
        drop(open);
        drop(shown);
        events.debug("I am still here", None);

        assert_eq!(
            *told.lock().expect("not poisoned"),
            [
                "model_started",
                "model_started",
                "model_ended",
                "progress_shown",
                "progress_shown",
                "progress_hidden",
                "model_failed",
                "progress_hidden",
            ]
        );
    }
}
