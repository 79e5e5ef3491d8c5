//! Tests of the backend with both pinned builds of the real program, offline with a scripted model.

mod build;
mod conformance;
mod credentials;
mod deny_rules;
mod everyday_work;
mod fixture;
mod hook_answers;
mod lifecycle;
mod mcp_failures;
mod model_server;
mod outer_sandbox;
mod resume;
mod run_lock;
mod runs;
mod sandbox;
mod session_ends;
mod tool_results;
mod turns;
