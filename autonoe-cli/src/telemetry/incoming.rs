//! The trace that the command was started in.

use autonoe_core::TraceContext;

use crate::surroundings::Surroundings;

/// Returns the trace that the command was started in, if whoever started it said so.
///
/// What is no trace parent is left out, as the standard wants it.
pub(crate) fn incoming_trace(surroundings: &Surroundings) -> Option<TraceContext> {
    let parent = surroundings.variable("TRACEPARENT")?;
    let context = TraceContext::parse(parent, surroundings.variable("TRACESTATE"));
    if context.is_err() {
        tracing::debug!("TRACEPARENT is no trace parent; the run is a trace of its own");
    }
    context.ok()
}
