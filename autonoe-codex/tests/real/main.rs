//! Tests of the backend with the pinned real program, offline with a scripted model.

mod build;
mod conformance;
mod fake_program;
mod fake_requests;
mod fake_sessions;
mod fixture;
mod host_death;
mod later_sessions;
mod lifecycle;
mod login;
mod model;
mod permission_requests;
mod project_files;
mod project_memory;
mod protocol_changes;
mod resume;
mod runs;
mod sandbox;
mod schema;
mod session_isolation;
mod stop_points;
mod tool_results;
mod turns;
