//! [`OpenSpans`], the open spans of a run by span ID.

use std::collections::HashMap;

use tracing::{Id, Span};

use crate::event::{SpanContext, SpanId};

/// The open spans of a run, by their span IDs.
#[derive(Debug, Default)]
pub(super) struct OpenSpans {
    open: HashMap<SpanId, Open>,
    /// Parents of closed spans of this session: a sub-agent may continue after the end of the call
    /// that started it.
    closed: HashMap<SpanId, Option<SpanId>>,
}

#[derive(Debug)]
struct Open {
    span: Span,
    parent: Option<SpanId>,
}

impl OpenSpans {
    pub(super) fn insert(&mut self, at: &SpanContext, span: Span) {
        let parent = at.parent;
        self.open.insert(at.span, Open { span, parent });
    }

    /// Returns whether a span may start here: its parent has started, and it has not.
    pub(super) fn can_start(&self, at: &SpanContext) -> bool {
        self.nearest(at.parent).is_some() && !self.open.contains_key(&at.span)
    }

    /// Returns the parent span; if the parent is closed, its nearest open ancestor.
    pub(super) fn parent(&self, at: &SpanContext) -> Option<Id> {
        self.nearest(at.parent)?.span.id()
    }

    /// Returns the span with the ID `place`, or its nearest open ancestor.
    fn nearest(&self, place: Option<SpanId>) -> Option<&Open> {
        let mut place = place;
        while let Some(id) = place {
            if let Some(open) = self.open.get(&id) {
                return Some(open);
            }
            place = self.closed.get(&id).copied().flatten();
        }
        None
    }

    pub(super) fn with(&self, at: &SpanContext, then: impl FnOnce(&Span)) {
        if let Some(open) = self.open.get(&at.span) {
            then(&open.span);
        }
    }

    pub(super) fn with_parent(&self, at: &SpanContext, then: impl FnOnce(&Span)) {
        if let Some(open) = at.parent.and_then(|parent| self.open.get(&parent)) {
            then(&open.span);
        }
    }

    /// Closes a span, after `last` has recorded its final fields.
    pub(super) fn close(&mut self, at: &SpanContext, last: impl FnOnce(&Span)) {
        if let Some(open) = self.open.remove(&at.span) {
            last(&open.span);
            self.closed.insert(at.span, open.parent);
        }
    }

    /// Closes the open descendants of a span.
    pub(super) fn close_below(&mut self, at: &SpanContext) {
        let below: Vec<SpanId> = self
            .open
            .iter()
            .filter(|(_, open)| self.is_within(open.parent, at.span))
            .map(|(id, _)| *id)
            .collect();
        self.open.retain(|id, _| !below.contains(id));
        self.closed.clear();
    }

    /// Returns whether `place` is `above` or one of its descendants.
    fn is_within(&self, place: Option<SpanId>, above: SpanId) -> bool {
        let mut place = place;
        while let Some(id) = place {
            if id == above {
                return true;
            }
            place = match self.open.get(&id) {
                Some(open) => open.parent,
                None => self.closed.get(&id).copied().flatten(),
            };
        }
        false
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.closed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TraceId;

    #[test]
    fn a_sub_agent_may_continue_after_its_call_and_ends_with_its_session() {
        let session = SpanContext::root(TraceId(1), SpanId(1));
        let (task, read) = (
            session.child(SpanId(2)),
            session.child(SpanId(2)).child(SpanId(3)),
        );
        let late = task.child(SpanId(4));
        let mut spans = OpenSpans::default();
        for at in [&session, &task, &read] {
            spans.insert(at, Span::none());
        }

        spans.close(&task, |_| ());

        assert!(spans.can_start(&late), "the session continues");
        assert!(!spans.can_start(&read), "it has begun already");
        spans.close_below(&session);
        assert!(spans.open.keys().eq([&session.span]), "{spans:?}");
        assert!(!spans.can_start(&late), "its call is no longer known");
    }
}
