//! Spans and metrics of runs for OpenTelemetry.
//!
//! `autonoe-core` opens the spans of runs, sessions and calls. `FleetSpans` of `autonoe-harness`
//! opens the spans of fleets. [`SpanExportLayer`] exports them. [`RunMeters`] measures runs.
//!
//! The crate configures no exporter and sends nothing by itself: the caller provides a span
//! processor and a meter of the OpenTelemetry SDK. This example exports to memory. Replace both
//! exporters with those for your receiver; the command `autonoe` uses exporters for OTLP.
//!
//! ```
//! use autonoe_core::event::InstructionName;
//! use autonoe_core::ledger::MemoryRepository;
//! use autonoe_core::run::FixedInstructions;
//! use autonoe_core::{RunControl, SessionRunner};
//! use autonoe_scripted::{ScriptedBackend, SessionScript};
//! use autonoe_telemetry::{RunMeters, SpanExportLayer};
//! use opentelemetry::metrics::MeterProvider;
//! use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
//! use opentelemetry_sdk::trace::{InMemorySpanExporter, SimpleSpanProcessor};
//! use tracing_subscriber::Layer;
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // The layer exports the spans of Autonoe and no others.
//!     let spans = InMemorySpanExporter::default();
//!     let layer = SpanExportLayer::new(SimpleSpanProcessor::new(spans.clone()), None);
//!     let layer = layer.with_filter(SpanExportLayer::filter());
//!     tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;
//!
//!     let metrics = InMemoryMetricExporter::default();
//!     let provider = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
//!
//!     let runner = SessionRunner::builder(std::env::current_dir()?)
//!         .agents(ScriptedBackend::new([SessionScript::new("looks around").ends()]))
//!         .repository(MemoryRepository::new())
//!         .instructions(FixedInstructions::new([(InstructionName::Initializer, "Plan.")]))
//!         .observer(RunMeters::new(&provider.meter("my-program")))
//!         .max_iterations(1)
//!         .build()?;
//!     runner.run(&RunControl::new()).await;
//!
//!     provider.force_flush()?;
//!     assert!(spans.get_finished_spans()?.iter().any(|span| span.name == "invoke_workflow run"));
//!     assert!(!metrics.get_finished_metrics()?.is_empty());
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`SpanExportLayer`] | a layer of `tracing` that exports the spans of runs and fleets through a span processor |
//! | [`RunMeters`] | an observer that counts sessions, tokens, costs and denied calls of a run |
//! | `FleetMeters` (feature `fleets`) | an observer that counts the members of fleets |
//!
//! | feature | adds |
//! | --- | --- |
//! | `fleets` | `FleetMeters` |

#[cfg(feature = "fleets")]
mod fleet_meters;
mod run_meters;
mod span_fields;
mod span_layer;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, opentelemetry, opentelemetry_sdk, tracing_subscriber};

#[cfg(feature = "fleets")]
pub use fleet_meters::FleetMeters;
pub use run_meters::RunMeters;
pub use span_layer::SpanExportLayer;
