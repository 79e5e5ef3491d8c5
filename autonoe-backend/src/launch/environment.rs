//! The environment of a session.

use std::collections::BTreeMap;
use std::ffi::OsString;

use autonoe_core::{SessionSpec, TraceContext};
use autonoe_process::refuse_bare_repositories;

/// Adds the variables of a session to the environment of its program: the trace, the variables of
/// `spec`, which have priority, and a setting by which Git ignores planted bare repositories.
pub fn add_session_environment(environment: &mut BTreeMap<OsString, OsString>, spec: &SessionSpec) {
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    environment.extend(trace.map(|(name, value)| (name.into(), value.into())));
    let own = spec.environment.iter();
    environment.extend(own.map(|(name, value)| (name.into(), value.into())));
    refuse_bare_repositories(environment);
}
