//! Captures tracing spans in tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Captures the spans that the current thread opens, until it is dropped.
///
/// ```
/// use autonoe_testkit::CapturedSpans;
///
/// let spans = CapturedSpans::start();
/// let outer = tracing::info_span!("outer", number = 1);
/// drop(tracing::info_span!(parent: &outer, "inner"));
///
/// let all = spans.all();
/// assert_eq!(all[0].fields["number"], "1");
/// assert_eq!(all[1].parent, Some(0));
/// assert!(all[1].is_closed && !all[0].is_closed);
/// ```
#[must_use = "nothing is captured once it is dropped"]
pub struct CapturedSpans {
    spans: Spans,
    _installed: tracing::subscriber::DefaultGuard,
}

type Spans = Arc<Mutex<Vec<SpanData>>>;

/// One captured span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedSpan {
    /// The name of the span.
    pub name: &'static str,
    /// The target of the span, used by filters.
    pub target: String,
    /// The index of the parent span.
    pub parent: Option<usize>,
    /// The recorded fields by name; the last recorded value wins.
    pub fields: BTreeMap<&'static str, String>,
    /// Whether the span was closed.
    pub is_closed: bool,
}

#[derive(Debug)]
struct SpanData {
    span: CapturedSpan,
    handles: usize,
}

impl CapturedSpans {
    /// Starts capturing.
    pub fn start() -> Self {
        let spans = Spans::default();
        let installed = tracing::subscriber::set_default(Capture(spans.clone()));
        Self {
            spans,
            _installed: installed,
        }
    }

    /// Returns all spans, in the order in which they were opened.
    pub fn all(&self) -> Vec<CapturedSpan> {
        let spans = lock(&self.spans);
        spans.iter().map(|kept| kept.span.clone()).collect()
    }
}

impl fmt::Debug for CapturedSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

fn lock(spans: &Spans) -> MutexGuard<'_, Vec<SpanData>> {
    spans.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Capture(Spans);

impl Capture {
    fn change(&self, id: &Id, change: impl FnOnce(&mut SpanData)) {
        if let Some(kept) = lock(&self.0).get_mut(span_index(id)) {
            change(kept);
        }
    }
}

/// Converts an id into an index: ids count the spans from 1.
fn span_index(id: &Id) -> usize {
    usize::try_from(id.into_u64()).map_or(usize::MAX, |number| number - 1)
}

impl Subscriber for Capture {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let metadata = span.metadata();
        let mut spans = lock(&self.0);
        spans.push(SpanData {
            span: CapturedSpan {
                name: metadata.name(),
                target: metadata.target().to_owned(),
                parent: span.parent().map(span_index),
                fields: fields.0,
                is_closed: false,
            },
            handles: 1,
        });
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, record: &Record<'_>) {
        let mut fields = Fields::default();
        record.record(&mut fields);
        self.change(id, |kept| kept.span.fields.extend(fields.0));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn clone_span(&self, id: &Id) -> Id {
        self.change(id, |kept| kept.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut is_closed = false;
        self.change(&id, |kept| {
            kept.handles = kept.handles.saturating_sub(1);
            is_closed = kept.handles == 0;
            kept.span.is_closed |= is_closed;
        });
        is_closed
    }
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
