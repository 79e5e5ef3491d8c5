//! The spans that are open.

use std::collections::HashMap;

use tracing::{Id, Span};

use crate::domain::{SpanContext, SpanId};

/// The spans that are open, by their places in the tree of the run.
#[derive(Debug, Default)]
pub(super) struct OpenSpans(HashMap<SpanId, Open>);

#[derive(Debug)]
struct Open {
    span: Span,
    parent: Option<SpanId>,
}

impl OpenSpans {
    pub(super) fn insert(&mut self, at: &SpanContext, span: Span) {
        let parent = at.parent;
        self.0.insert(at.span, Open { span, parent });
    }

    /// Tells whether something may begin at this place: what it is part of has begun, and it has not.
    pub(super) fn can_begin(&self, at: &SpanContext) -> bool {
        let parent = at.parent.is_some_and(|parent| self.0.contains_key(&parent));
        parent && !self.0.contains_key(&at.span)
    }

    /// Returns the span that one at this place is part of.
    pub(super) fn above(&self, at: &SpanContext) -> Option<Id> {
        let parent = self.0.get(&at.parent?)?;
        parent.span.id()
    }

    pub(super) fn with(&self, at: &SpanContext, then: impl FnOnce(&Span)) {
        if let Some(open) = self.0.get(&at.span) {
            then(&open.span);
        }
    }

    pub(super) fn with_parent(&self, at: &SpanContext, then: impl FnOnce(&Span)) {
        if let Some(open) = at.parent.and_then(|parent| self.0.get(&parent)) {
            then(&open.span);
        }
    }

    /// Closes the span at this place, after a last word.
    pub(super) fn close(&mut self, at: &SpanContext, last: impl FnOnce(&Span)) {
        if let Some(open) = self.0.remove(&at.span) {
            last(&open.span);
        }
    }

    /// Closes what is open below this place.
    pub(super) fn close_below(&mut self, at: &SpanContext) {
        let mut gone = vec![at.span];
        while let Some(parent) = gone.pop() {
            let below = self
                .0
                .iter()
                .filter(|(_, open)| open.parent == Some(parent));
            let below: Vec<_> = below.map(|(id, _)| *id).collect();
            for id in below {
                self.0.remove(&id);
                gone.push(id);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
