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
    /// What the model is told, but has not answered yet.
    asked: Vec<String>,
}

impl Reach {
    /// A turn begins that `stop` ends.
    pub(super) fn begin(&self, stop: CancellationToken) {
        self.lock().turn = Some(stop);
    }

    /// Takes what a person told, to tell it to the model.
    pub(super) fn take_told(&self) -> Vec<String> {
        let mut inner = self.lock();
        let told: Vec<_> = inner.told.drain(..).collect();
        inner.asked.extend(told.iter().cloned());
        told
    }

    /// The model has answered: it has heard what was taken.
    pub(super) fn heard(&self) {
        self.lock().asked.clear();
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

    /// The turn is over, whatever was told. What the model has not heard is kept for the next
    /// turn, or for who takes it.
    pub(super) fn abandon(&self) {
        self.lock().turn = None;
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

    fn unheard(&self) -> Vec<String> {
        let mut inner = self.lock();
        if inner.turn.is_some() {
            return Vec::new();
        }
        let mut unheard = std::mem::take(&mut inner.asked);
        unheard.extend(inner.told.drain(..));
        unheard
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
    fn what_the_model_did_not_hear_is_given_back_once() {
        let reach = Reach::default();
        reach.begin(CancellationToken::new());
        for text in ["one", "two"] {
            assert!(steer(&reach, text));
            assert_eq!(reach.take_told(), [text]);
            if text == "one" {
                reach.heard();
            }
        }
        assert!(steer(&reach, "three"));
        assert!(reach.unheard().is_empty(), "it may still be heard");

        reach.abandon();

        assert_eq!(reach.unheard(), ["two", "three"]);
        assert!(reach.unheard().is_empty());
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
