//! What is traced, as text.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps all that is traced, spans and events, with its level.
#[derive(Clone, Debug, Default)]
pub(super) struct CapturedLog(Arc<Mutex<Vec<(Level, String)>>>);

impl CapturedLog {
    /// Returns all lines of at least this level.
    pub(super) fn lines(&self, least: Level) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The graver a level, the less it is.
        let grave = lines.iter().filter(|(level, _)| *level <= least);
        grave.map(|(_, line)| line.clone()).collect()
    }

    fn keep(&self, level: Level, record: impl FnOnce(&mut Line)) {
        let mut line = Line(String::new());
        record(&mut line);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((level, line.0));
    }
}

struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        // Without quotes, so that nothing in it is escaped.
        let _ = write!(self.0, "{field}={value} ");
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

impl Subscriber for CapturedLog {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.keep(*span.metadata().level(), |line| span.record(line));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        // Nobody tells the level of the span here, so that it counts as the gravest.
        self.keep(Level::ERROR, |line| values.record(line));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.keep(*event.metadata().level(), |line| event.record(line));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
