//! The backend on the pinned build of the real Gemini CLI, offline: the model is scripted.

mod conformance;
mod host_death;
mod judged;
mod outer_sandbox;
mod project_memory;
mod resume;
mod runs;
mod setting;
mod turns;
mod untrusted_project;
