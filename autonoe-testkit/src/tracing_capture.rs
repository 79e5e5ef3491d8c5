//! Captures tracing events and spans in tests.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

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
        spans.iter().map(|captured| captured.span.clone()).collect()
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
        if let Some(captured) = lock(&self.0).get_mut(span_index(id)) {
            change(captured);
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
        self.change(id, |captured| captured.span.fields.extend(fields.0));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn clone_span(&self, id: &Id) -> Id {
        self.change(id, |captured| captured.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut is_closed = false;
        self.change(&id, |captured| {
            captured.handles = captured.handles.saturating_sub(1);
            is_closed = captured.handles == 0;
            captured.span.is_closed |= is_closed;
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

/// Captures the tracing events of the current thread until it is dropped.
///
/// ```
/// use autonoe_testkit::CapturedLogs;
///
/// let logs = CapturedLogs::start();
/// tracing::warn!(session = 3, "something is odd");
///
/// assert_eq!(logs.at_least(tracing::Level::WARN)[0].message, "something is odd session=3");
/// ```
#[must_use = "nothing is captured once it is dropped"]
pub struct CapturedLogs {
    lines: Arc<Mutex<Vec<CapturedLog>>>,
    _installed: tracing::subscriber::DefaultGuard,
}

/// One captured tracing event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedLog {
    /// The severity of the event.
    pub level: Level,
    /// The message, then its fields as `name=value`.
    pub message: String,
}

impl CapturedLogs {
    /// Starts capturing.
    pub fn start() -> Self {
        let lines: Arc<Mutex<Vec<CapturedLog>>> = Arc::default();
        let installed = tracing::subscriber::set_default(LogCapture {
            lines: lines.clone(),
        });
        Self {
            lines,
            _installed: installed,
        }
    }

    /// Returns all events.
    pub fn lines(&self) -> Vec<CapturedLog> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the events of `level` and more severe ones.
    pub fn at_least(&self, level: Level) -> Vec<CapturedLog> {
        // Levels are ordered by verbosity: ERROR is the lowest.
        self.lines()
            .into_iter()
            .filter(|line| line.level <= level)
            .collect()
    }
}

impl fmt::Debug for CapturedLogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lines()).finish()
    }
}

struct LogCapture {
    lines: Arc<Mutex<Vec<CapturedLog>>>,
}

impl Subscriber for LogCapture {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let line = CapturedLog {
            level: *event.metadata().level(),
            message: format!("{}{}", text.message, text.fields),
        };
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
