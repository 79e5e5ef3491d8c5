//! Exports the spans and metrics of a run to memory, where a program would send them to a receiver.
//!
//! Run it with `cargo run -p autonoe-telemetry --example telemetry`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::{RunControl, SessionRunner};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use autonoe_telemetry::{RunMeters, SpanExportLayer};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SimpleSpanProcessor};
use serde_json::json;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The crate `autonoe-core` opens `tracing` spans. The layer exports those and no others.
    let spans = InMemorySpanExporter::default();
    let layer = SpanExportLayer::new(SimpleSpanProcessor::new(spans.clone()), None);
    let layer = layer.with_filter(SpanExportLayer::filter());
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;

    let metrics = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(metrics.clone())
        .build();

    let agents = ScriptedBackend::new([SessionScript::new("looks around")
        .uses_tool("Read", json!({"file_path": "SPEC.md"}))
        .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
        .ends()]);
    let texts = [(InstructionName::Initializer, "Plan what SPEC.md asks for.")];
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents)
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(texts))
        .observer(Arc::new(RunMeters::new(&provider.meter("my-program"))))
        .max_iterations(1)
        .build()?;
    runner.run(&RunControl::new()).await;

    // A span is exported when it ends: children come before their parents.
    for span in spans.get_finished_spans()? {
        println!("{} below {}", span.name, span.parent_span_id);
    }
    provider.force_flush()?;
    for exported in metrics.get_finished_metrics()? {
        for metric in exported.scope_metrics().flat_map(|scope| scope.metrics()) {
            println!("{}: {}", metric.name(), metric.description());
        }
    }
    Ok(())
}
