//! The spans that are open.

use std::collections::HashMap;

use tracing::{Id, Span};

use crate::domain::{SpanContext, SpanId};

/// The spans that are open, by their places in the tree of the run.
#[derive(Debug, Default)]
pub(super) struct OpenSpans {
    open: HashMap<SpanId, Open>,
    /// What was part of what, of spans of this session that are closed: a sub-agent may go on
    /// after the call that it is.
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

    /// Tells whether something may begin at this place: what it is part of has begun, and it has not.
    pub(super) fn can_begin(&self, at: &SpanContext) -> bool {
        self.nearest(at.parent).is_some() && !self.open.contains_key(&at.span)
    }

    /// Returns the span that one at this place is part of; where that is closed, the one above it.
    pub(super) fn above(&self, at: &SpanContext) -> Option<Id> {
        self.nearest(at.parent)?.span.id()
    }

    /// Returns the span at this place, or the nearest above it that is open.
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

    /// Closes the span at this place, after a last word.
    pub(super) fn close(&mut self, at: &SpanContext, last: impl FnOnce(&Span)) {
        if let Some(open) = self.open.remove(&at.span) {
            last(&open.span);
            self.closed.insert(at.span, open.parent);
        }
    }

    /// Closes what is open below this place.
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

    /// Tells whether a place is the one of `above`, or below it.
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
    use crate::domain::TraceId;

    #[test]
    fn a_sub_agent_may_go_on_after_the_call_that_it_is_and_ends_with_its_session() {
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

        assert!(spans.can_begin(&late), "the session goes on");
        assert!(!spans.can_begin(&read), "it has begun already");
        spans.close_below(&session);
        assert!(spans.open.keys().eq([&session.span]), "{spans:?}");
        assert!(!spans.can_begin(&late), "nobody knows its call any more");
    }
}
