//! Captures tracing events in tests.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

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
        let installed = tracing::subscriber::set_default(Capture {
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

struct Capture {
    lines: Arc<Mutex<Vec<CapturedLog>>>,
}

impl Subscriber for Capture {
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
