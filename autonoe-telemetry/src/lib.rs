//! Spans and metrics of runs for OpenTelemetry.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`SpanExportLayer`] | a layer of `tracing` that exports the spans of runs through a span processor |
//! | `FleetMeters` (feature `fleets`) | an observer that counts the members of fleets |
//! | [`RunMeters`] | an observer that counts sessions, tokens, costs and denied calls of runs |
//!
//! The spans are opened by `autonoe-core` for runs, sessions and calls, and by `FleetSpans` of
//! `autonoe-harness` for fleets.
//!
//! The crate configures no exporter and sends nothing by itself: the caller provides a span
//! processor and a meter of the OpenTelemetry SDK. The command `autonoe` uses the same types with
//! exporters for OTLP.

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
