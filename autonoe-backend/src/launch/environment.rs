//! The environment of a session.

use std::ffi::OsString;

use autonoe_core::{SessionSpec, TraceContext};

/// Returns the variables that `spec` adds to those of the program: its trace, and what it says
/// itself, which wins.
pub fn session_environment(spec: &SessionSpec) -> impl Iterator<Item = (OsString, OsString)> {
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    let trace = trace.map(|(name, value)| (name.into(), value.into()));
    let own = spec.environment.iter();
    trace.chain(own.map(|(name, value)| (name.into(), value.into())))
}
