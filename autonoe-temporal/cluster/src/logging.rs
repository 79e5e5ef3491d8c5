//! Log lines on standard error, and the export of spans.

use autonoe_telemetry::SpanExportLayer;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The part of the SDK that warns about large values.
const SIZE_WARNINGS: &str = "temporalio_common::payload_limits";

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
        // The server accepts larger values than those that its SDK warns about.
        .with_filter(
            Targets::new()
                .with_default(level)
                .with_target(SIZE_WARNINGS, LevelFilter::ERROR),
        );
    let spans = spans.map(|spans| spans.with_filter(SpanExportLayer::filter()));
    // Only the first call has an effect.
    let _ = tracing_subscriber::registry()
        .with(spans)
        .with(lines)
        .try_init();
}
