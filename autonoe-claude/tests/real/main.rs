//! The backend on both pinned builds of the real program, offline: the model is scripted.

mod build;
mod conformance;
mod credentials;
mod endings;
mod everyday_work;
mod hook_answers;
mod lifecycle;
mod mcp_failures;
mod model_server;
mod outer_sandbox;
mod resume;
mod run_lock;
mod runs;
mod sandbox;
mod second_wall;
mod setting;
mod tool_results;
mod turns;
