//! Logging setup: sends the diagnostics of the libraries to the screen or a file.

use std::fmt;
use std::io;
use std::sync::Mutex;

use autonoe_app::text::{Level, Line, shorten};
use autonoe_core::sanitize;
use autonoe_telemetry::SpanExportLayer;
use tracing::field::{Field, Visit};
use tracing::{Event, Level as TraceLevel, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, Registry};

use super::{Detail, Screen};

/// Sends the diagnostics of the libraries to the screen, and the spans of runs to `spans`.
///
/// With [`Detail::Debug`], they have the format of `tracing`. Otherwise only warnings and errors
/// are printed, with [`Detail::Quiet`] only errors. They look like the command's own warnings,
/// without levels and module paths.
pub(crate) fn start_logging(screen: &Screen, detail: Detail, spans: Option<SpanExportLayer>) {
    let diagnostics = match detail {
        Detail::Quiet => Diagnostics::boxed(screen, LevelFilter::ERROR),
        Detail::Normal => Diagnostics::boxed(screen, LevelFilter::WARN),
        Detail::Debug => tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .without_time()
            .with_writer(ScreenWriter(screen.clone()))
            .with_filter(LevelFilter::DEBUG)
            .boxed(),
    };
    subscribe(Some(diagnostics), spans);
}

/// Sends spans to `spans`, and nothing to the screen, which a full-screen view owns.
pub(crate) fn start_span_export(spans: Option<SpanExportLayer>) {
    subscribe(None, spans);
}

/// Sends the diagnostics of the libraries to `log` in the format of `tracing`, and spans to
/// `spans`.
pub(crate) fn start_log_file(log: impl io::Write + Send + 'static, spans: Option<SpanExportLayer>) {
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(log))
        .with_filter(LevelFilter::WARN)
        .boxed();
    subscribe(Some(lines), spans);
}

fn subscribe(
    diagnostics: Option<Box<dyn Layer<Registry> + Send + Sync>>,
    spans: Option<SpanExportLayer>,
) {
    let spans = spans.map(|spans| spans.with_filter(SpanExportLayer::filter()));
    let subscriber = tracing_subscriber::registry().with(diagnostics).with(spans);
    // Only the first call has an effect, and there is only one.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Prints warnings and errors of the libraries like warnings of the command.
struct Diagnostics(Screen);

impl Diagnostics {
    fn boxed<S>(screen: &Screen, level: LevelFilter) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'s> tracing_subscriber::registry::LookupSpan<'s>,
    {
        Self(screen.clone()).with_filter(level).boxed()
    }
}

impl<S: Subscriber> Layer<S> for Diagnostics {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = match *event.metadata().level() {
            TraceLevel::ERROR => Level::Error,
            _ => Level::Warning,
        };
        let mut text = EventText::default();
        event.record(&mut text);
        self.0.write_line(&Line::new(level, text.to_string()));
    }
}

/// Plain text of an event: its message, the error that caused it, and its other fields.
#[derive(Debug, Default)]
struct EventText {
    message: String,
    error: Option<String>,
    others: Vec<String>,
}

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let value = format!("{value:?}");
        match field.name() {
            "message" => self.message = value,
            "error" => self.error = Some(value),
            name => self.others.push(format!("{name} {}", shorten(&value))),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl fmt::Display for EventText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning: {}", self.message)?;
        if let Some(error) = &self.error {
            write!(f, ": {error}")?;
        }
        if self.others.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.others.join(", "))
        }
    }
}

#[derive(Clone, Debug)]
struct ScreenWriter(Screen);

impl<'w> MakeWriter<'w> for ScreenWriter {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl io::Write for ScreenWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&sanitize(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Collects the texts of events.
    #[derive(Clone, Default)]
    struct Texts(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Texts {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            let mut text = EventText::default();
            event.record(&mut text);
            self.0.lock().expect("whole").push(text.to_string());
        }
    }

    #[test]
    fn an_event_is_a_plain_warning_without_its_level_and_module() {
        let texts = Texts::default();
        let subscriber = tracing_subscriber::registry().with(texts.clone());

        tracing::subscriber::with_default(subscriber, || {
            let error = io::Error::other("the disk is full");
            tracing::error!(%error, "the end of the run is not in the journal");
            tracing::warn!("disposing of an agent client took too long");
            tracing::warn!(step = "build", visit = 2, "a step is escalated");
        });

        assert_eq!(
            *texts.0.lock().expect("whole"),
            [
                "warning: the end of the run is not in the journal: the disk is full",
                "warning: disposing of an agent client took too long",
                "warning: a step is escalated (step build, visit 2)",
            ]
        );
    }
}
