//! Plugin specs: serialisable descriptions of hooks and backends.

mod deny_tool;
mod known_backends;
// The main type has its own file.
#[allow(clippy::module_inception)]
mod spec;

pub use deny_tool::DenyTool;
pub use known_backends::{plain_backend, probe_backends};
pub(crate) use spec::all_specs;
pub use spec::{
    BackendSpec, HookSpec, SpecContext, SpecEntry, SpecError, SpecPort, registered_specs,
    spec_schema,
};
