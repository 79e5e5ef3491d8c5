//! [`ReplayState`]: the sessions of a cassette while they are played.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::SessionSpec;

use super::answer::answered_calls;
use super::format::RecordedSession;

/// The sessions of a cassette while they are played.
#[derive(Clone, Default)]
pub(super) struct ReplayState {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) slots: Vec<Slot>,
    pub(super) mismatches: Vec<String>,
    /// Whether a session was created.
    pub(super) was_used: bool,
}

/// A session and its replay progress.
pub(super) struct Slot {
    session: RecordedSession,
    started: bool,
    pub(super) calls: usize,
}

impl ReplayState {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the session for `spec`, or records that there is none.
    pub(super) fn begin(&self, spec: &SessionSpec) -> Option<(usize, RecordedSession)> {
        let (number, now) = (spec.key.number, &spec.instruction);
        let mut inner = self.lock();
        inner.was_used = true;
        let found = inner
            .slots
            .iter_mut()
            .enumerate()
            .find(|(_, slot)| !slot.started && slot.session.number == number)
            .map(|(index, slot)| {
                slot.started = true;
                (index, slot.session.clone())
            });
        match &found {
            None => inner
                .mismatches
                .push(format!("session {number} ({now}) is not on the cassette")),
            Some((_, session)) if session.instruction != *now => {
                let recorded = &session.instruction;
                inner.mismatches.push(format!(
                    "session {number}\n  - recorded instruction: {recorded}\n  + now instruction: {now}"
                ));
            }
            Some(_) => {}
        }
        found
    }
}

impl Slot {
    pub(super) fn new(session: RecordedSession) -> Self {
        Self {
            session,
            started: false,
            calls: 0,
        }
    }

    /// Describes the part of the session that was not played.
    pub(super) fn missing(&self) -> Option<String> {
        let number = self.session.number;
        let instruction = &self.session.instruction;
        let (answered, recorded) = (self.calls, answered_calls(&self.session));
        if !self.started {
            Some(format!("session {number} ({instruction}) was never played"))
        } else if answered < recorded {
            Some(format!(
                "session {number} ({instruction}) was stopped after {answered} of {recorded} calls"
            ))
        } else {
            None
        }
    }
}
