//! Activity of one session: its heartbeat, unfinished model calls and progress notes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::event::{RunEventKind, SpanContext};

/// Tracks the model calls and progress notes of one session that have started but not ended, by
/// span.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedEvents(Mutex<State>);

#[derive(Debug, Default)]
pub(crate) struct State {
    is_over: bool,
    models: Vec<SpanContext>,
    notes: Vec<SpanContext>,
}

impl UnfinishedEvents {
    /// Rejects all further events, and returns the open model calls and the open progress notes.
    pub(crate) fn close(&self) -> (Vec<SpanContext>, Vec<SpanContext>) {
        let mut state = self.lock();
        state.is_over = true;
        (
            std::mem::take(&mut state.models),
            std::mem::take(&mut state.notes),
        )
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Registers an event that is about to be emitted. Returns `false` if the session has ended.
    pub(crate) fn try_register(&mut self, kind: &RunEventKind<'_>, at: &SpanContext) -> bool {
        match kind {
            _ if self.is_over => return false,
            RunEventKind::ModelStarted { .. } => self.models.push(*at),
            RunEventKind::ModelEnded { .. } | RunEventKind::ModelFailed { .. } => {
                self.models.retain(|open| open != at);
            }
            RunEventKind::ProgressStarted { .. } => self.notes.push(*at),
            RunEventKind::ProgressEnded => {
                let open = self.notes.iter().position(|open| open == at);
                open.map(|index| self.notes.remove(index));
            }
            _ => {}
        }
        true
    }
}

/// Time at which a backend last emitted an event or a heartbeat.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat(Mutex<Option<Timestamp>>);

impl Heartbeat {
    /// Records a heartbeat.
    pub(crate) fn record(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// Returns the time of the last heartbeat, or `None` before the first one.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
