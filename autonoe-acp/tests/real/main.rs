//! Tests of the backend with the pinned build of the real Gemini CLI, offline with a scripted
//! model.

mod conformance;
mod fixture;
mod gate_decisions;
mod host_death;
mod outer_sandbox;
mod project_memory;
mod resume;
mod runs;
mod turns;
mod untrusted_project;
