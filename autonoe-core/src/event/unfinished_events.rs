//! Unfinished model calls and progress notes of one session.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::event::RunEventKind;
use crate::event::SpanContext;

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
