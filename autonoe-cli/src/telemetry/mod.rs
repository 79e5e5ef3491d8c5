//! Runs as traces and metrics of OpenTelemetry, for receivers that speak OTLP over HTTP.
//!
//! Core opens spans with the names of the conventions and with the ids that it hands on to other
//! processes; [`SpanExportLayer`](autonoe_telemetry::SpanExportLayer) exports them as they are. Nothing of this is
//! begun unless a variable or the configuration names a receiver, and nothing of it can fail a run.

mod incoming;
mod pipeline;
mod section;
mod sender;
mod session_telemetry;
mod settings;
mod signal;
mod troubles;

pub(crate) use incoming::incoming_trace;
pub(crate) use pipeline::Telemetry;
pub(crate) use section::TelemetrySection;
pub(crate) use session_telemetry::SessionTelemetry;
