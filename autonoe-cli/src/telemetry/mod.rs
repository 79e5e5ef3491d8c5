//! Runs as traces and metrics of OpenTelemetry, for receivers that speak OTLP over HTTP.
//!
//! Core opens spans with the names of the conventions and with the ids that it hands on to other
//! processes; [`SpanLayer`] exports them as they are. Nothing of this is
//! begun unless a variable or the configuration names a receiver, and nothing of it can fail a run.

mod incoming;
mod meters;
mod pipeline;
mod section;
mod sender;
mod settings;
mod signal;
mod span_fields;
mod span_layer;
mod troubles;

pub(crate) use incoming::incoming_trace;
pub(crate) use pipeline::Telemetry;
pub(crate) use section::TelemetrySection;
pub(crate) use span_layer::SpanLayer;
