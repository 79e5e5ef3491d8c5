//! [`SessionScope`], which ends the open events of a backend when its session ends.

use std::sync::Arc;

use crate::agent::TokenUsage;
use crate::event::session_activity::{Heartbeat, UnfinishedEvents};
use crate::event::{Events, Failure, RunEventKind};

/// Lifetime of the events that a backend emits for one session. Dropping the scope ends all open
/// model calls and progress notes, and discards later events of the backend.
#[derive(Debug)]
pub(crate) struct SessionScope {
    session: Events,
    open: Arc<UnfinishedEvents>,
    heartbeat: Arc<Heartbeat>,
}

impl SessionScope {
    pub(crate) fn new(session: Events) -> Self {
        Self {
            session,
            open: Arc::default(),
            heartbeat: Arc::default(),
        }
    }

    /// Returns the handle through which the backend emits events.
    pub(crate) fn events(&self) -> Events {
        let (open, heartbeat) = (self.open.clone(), self.heartbeat.clone());
        self.session.clone().in_session(open, heartbeat)
    }
}

impl Drop for SessionScope {
    fn drop(&mut self) {
        let (models, notes) = self.open.close();
        let error = Failure::retryable("cancelled", "the session ended before the model answered");
        for span in models {
            self.session.at_span(span).emit(RunEventKind::ModelFailed {
                error: &error,
                tokens: TokenUsage::default(),
            });
        }
        for span in notes {
            self.session.at_span(span).emit(RunEventKind::ProgressEnded);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::agent::{ModelAnswer, ModelCallRequest, ModelMessages};
    use crate::event::{RunEvent, RunObserver};
    use crate::time::{SeededIds, SystemClock};

    #[test]
    fn open_events_end_once_with_the_session_and_nothing_follows() {
        let names: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = names.clone();
        let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
            let json = serde_json::to_value(event).expect("it serialises");
            let name = json["event"].as_str().unwrap_or_default().to_owned();
            sink.lock().expect("not poisoned").push(name);
        });
        let ids = Arc::new(SeededIds::new(1));
        let scope = SessionScope::new(Events::new(vec![observer], Arc::new(SystemClock), ids));
        let request =
            ModelCallRequest::new("a-model", ModelMessages::new(0, &|| serde_json::json!([])));

        let events = scope.events();
        let (ended, open) = (
            events.model_call(&request),
            events.child().model_call(&request),
        );
        ended.ended(&ModelAnswer::new("", TokenUsage::default()));
        let (hidden, visible) = (events.progress("one"), events.progress("two"));
        drop(hidden);
        drop(scope);
        drop(open);
        drop(visible);
        events.debug("I am still here", None);

        assert_eq!(
            *names.lock().expect("not poisoned"),
            [
                "model_started",
                "model_started",
                "model_ended",
                "progress_started",
                "progress_started",
                "progress_ended",
                "model_failed",
                "progress_ended",
            ]
        );
    }
}
