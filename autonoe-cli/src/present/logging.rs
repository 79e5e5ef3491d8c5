//! Diagnostics of the libraries, on the same screen.

use std::io;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

use super::{Detail, Screen, harmless};
use crate::telemetry::SpanLayer;

/// Sends what the libraries trace to the screen, and spans of runs to `spans`.
pub(crate) fn start_logging(screen: &Screen, detail: Detail, spans: Option<SpanLayer>) {
    let level = match detail {
        Detail::Quiet => LevelFilter::ERROR,
        Detail::Normal => LevelFilter::WARN,
        Detail::Debug => LevelFilter::DEBUG,
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .without_time()
        .with_writer(OnScreen(screen.clone()))
        .with_filter(level);
    let spans = spans.map(|spans| spans.with_filter(SpanLayer::filter()));
    let subscriber = tracing_subscriber::registry().with(lines).with(spans);
    // Only the first one counts, and there is one.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

#[derive(Clone, Debug)]
struct OnScreen(Screen);

impl<'w> MakeWriter<'w> for OnScreen {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl io::Write for OnScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&harmless(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
