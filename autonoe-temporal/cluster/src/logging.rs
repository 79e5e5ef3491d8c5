//! Log lines on standard error, and the export of spans.

use autonoe_telemetry::SpanExportLayer;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts to log warnings, or only errors, and to export `spans`.
pub(crate) fn start(quiet: bool, spans: Option<SpanExportLayer>) {
    let level = if quiet {
        LevelFilter::ERROR
    } else {
        LevelFilter::WARN
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .with_filter(level);
    let spans = spans.map(|spans| spans.with_filter(SpanExportLayer::filter()));
    // Only the first call has an effect.
    let _ = tracing_subscriber::registry()
        .with(spans)
        .with(lines)
        .try_init();
}
