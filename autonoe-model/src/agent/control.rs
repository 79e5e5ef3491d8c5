//! Reaches a session that is at work.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::{AgentError, AgentErrorKind, SessionControl};
use tokio_util::sync::CancellationToken;

/// What reaches a session while it is at work. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Stops the turn under way; `None` while there is none.
    turn: Option<CancellationToken>,
    /// What a person told, and the model not yet.
    told: VecDeque<String>,
}

impl Reach {
    /// A turn begins that `stop` ends.
    pub(super) fn begin(&self, stop: CancellationToken) {
        self.lock().turn = Some(stop);
    }

    /// Takes what a person told.
    pub(super) fn take_told(&self) -> Vec<String> {
        self.lock().told.drain(..).collect()
    }

    pub(super) fn has_told(&self) -> bool {
        !self.lock().told.is_empty()
    }

    /// The turn is over, unless something was told that the model has not heard: then it is not.
    pub(super) fn end(&self) -> bool {
        let mut inner = self.lock();
        let is_over = inner.told.is_empty();
        if is_over {
            inner.turn = None;
        }
        is_over
    }

    /// The turn is over, whatever was told.
    pub(super) fn abandon(&self) {
        let mut inner = self.lock();
        inner.turn = None;
        inner.told.clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionControl for Reach {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // Without a turn there is nothing to stop.
        if let Some(stop) = &self.lock().turn {
            stop.cancel();
        }
        Ok(())
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        let mut inner = self.lock();
        match &inner.turn {
            Some(stop) if !stop.is_cancelled() => {
                inner.told.push_back(text.to_owned());
                Ok(())
            }
            _ => Err(AgentError::new(
                AgentErrorKind::Other,
                "no turn is under way",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn steer(reach: &Reach, text: &str) -> bool {
        reach.steer(text).now_or_never().expect("at once").is_ok()
    }

    #[test]
    fn what_is_told_is_heard_or_refused_and_never_lost() {
        let reach = Reach::default();
        assert!(!steer(&reach, "before the turn"));

        reach.begin(CancellationToken::new());
        assert!(steer(&reach, "hurry"));
        assert!(!reach.end(), "something is not heard yet");
        assert_eq!(reach.take_told(), ["hurry"]);
        assert!(reach.end());

        assert!(!steer(&reach, "after the turn"));
    }

    #[test]
    fn a_turn_that_is_stopped_takes_nothing_more() {
        let reach = Reach::default();
        let stop = CancellationToken::new();
        reach.begin(stop.clone());

        reach
            .interrupt()
            .now_or_never()
            .expect("at once")
            .expect("it can be");

        assert!(stop.is_cancelled());
        assert!(!steer(&reach, "too late"));
    }
}
