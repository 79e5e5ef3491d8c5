//! Export of runs as OpenTelemetry traces and metrics, over OTLP/HTTP.
//!
//! Core opens spans with conventional names and with the IDs that it passes to other processes.
//! [`SpanExportLayer`](autonoe_telemetry::SpanExportLayer) exports them unchanged. Nothing is
//! started unless a variable or the configuration names a receiver, and no export error fails a
//! run.

mod export_errors;
mod pipeline;
mod section;
mod sender;
mod settings;

pub use pipeline::{SessionTelemetry, Telemetry, parent_trace};
pub use section::TelemetrySection;
