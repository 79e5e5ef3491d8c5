//! Parent trace of the command.

use autonoe_core::event::TraceContext;

use crate::Env;

/// Returns the parent trace of the command, if its caller passed one.
///
/// An invalid trace parent is ignored, as the standard requires.
pub fn parent_trace(env: &Env) -> Option<TraceContext> {
    let parent = env.variable("TRACEPARENT")?;
    let context = TraceContext::parse(parent, env.variable("TRACESTATE"));
    if context.is_err() {
        tracing::debug!("TRACEPARENT is not a valid trace parent; the run starts a new trace");
    }
    context.ok()
}
