//! [`SessionControl`] of a running session: interrupts and steering messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::AgentError;
use autonoe_core::agent::{AgentErrorKind, SessionControl};
use tokio_util::sync::CancellationToken;

/// Control handle of a running session. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnControl {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Stops the current turn; `None` between turns.
    turn: Option<CancellationToken>,
    /// Steering messages that are not part of a request yet.
    queued: VecDeque<String>,
    /// Steering messages of the current request, not answered yet.
    sent: Vec<String>,
}

impl TurnControl {
    /// Starts a turn that `stop` cancels.
    pub(super) fn start(&self, stop: CancellationToken) {
        self.lock().turn = Some(stop);
    }

    /// Takes the queued steering messages for the next request.
    pub(super) fn take_queued(&self) -> Vec<String> {
        let mut inner = self.lock();
        let queued: Vec<_> = inner.queued.drain(..).collect();
        inner.sent.extend(queued.iter().cloned());
        queued
    }

    /// Marks the taken messages as read, because the model has answered.
    pub(super) fn mark_read(&self) {
        self.lock().sent.clear();
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.lock().queued.is_empty()
    }

    /// Ends the turn and returns `true`, unless steering messages are queued: then the turn
    /// continues.
    pub(super) fn end(&self) -> bool {
        let mut inner = self.lock();
        let is_over = inner.queued.is_empty();
        if is_over {
            inner.turn = None;
        }
        is_over
    }

    /// Ends the turn unconditionally. Unread messages stay for the next turn, or for
    /// [`take_unread`](SessionControl::take_unread).
    pub(super) fn abandon(&self) {
        self.lock().turn = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionControl for TurnControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // Between turns there is nothing to stop.
        if let Some(stop) = &self.lock().turn {
            stop.cancel();
        }
        Ok(())
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        let mut inner = self.lock();
        match &inner.turn {
            Some(stop) if !stop.is_cancelled() => {
                inner.queued.push_back(text.to_owned());
                Ok(())
            }
            _ => Err(AgentError::new(
                AgentErrorKind::Other,
                "no turn is in progress",
            )),
        }
    }

    fn take_unread(&self) -> Vec<String> {
        let mut inner = self.lock();
        if inner.turn.is_some() {
            return Vec::new();
        }
        let mut unread = std::mem::take(&mut inner.sent);
        unread.extend(inner.queued.drain(..));
        unread
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn steer(reach: &TurnControl, text: &str) -> bool {
        reach.steer(text).now_or_never().expect("at once").is_ok()
    }

    #[test]
    fn steering_is_queued_or_refused() {
        let reach = TurnControl::default();
        assert!(!steer(&reach, "before the turn"));

        reach.start(CancellationToken::new());
        assert!(steer(&reach, "hurry"));
        assert!(!reach.end(), "something is not heard yet");
        assert_eq!(reach.take_queued(), ["hurry"]);
        assert!(reach.end());

        assert!(!steer(&reach, "after the turn"));
    }

    #[test]
    fn unread_steering_is_returned_once() {
        let reach = TurnControl::default();
        reach.start(CancellationToken::new());
        for text in ["one", "two"] {
            assert!(steer(&reach, text));
            assert_eq!(reach.take_queued(), [text]);
            if text == "one" {
                reach.mark_read();
            }
        }
        assert!(steer(&reach, "three"));
        assert!(reach.take_unread().is_empty(), "it may still be heard");

        reach.abandon();

        assert_eq!(reach.take_unread(), ["two", "three"]);
        assert!(reach.take_unread().is_empty());
    }

    #[test]
    fn a_stopped_turn_accepts_no_messages() {
        let reach = TurnControl::default();
        let stop = CancellationToken::new();
        reach.start(stop.clone());

        reach
            .interrupt()
            .now_or_never()
            .expect("at once")
            .expect("it can be");

        assert!(stop.is_cancelled());
        assert!(!steer(&reach, "too late"));
    }
}
