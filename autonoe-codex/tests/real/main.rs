//! The backend on the pinned real program, offline: the model is scripted.

mod asking;
mod build;
mod conformance;
mod cut_short;
mod host_death;
mod lifecycle;
mod login;
mod model;
mod odd_program;
mod odd_questions;
mod odd_stories;
mod project_files;
mod project_memory;
mod resume;
mod runs;
mod sandbox;
mod schema;
mod sessions_in_a_row;
mod setting;
mod tool_results;
mod turns;
mod unseen;
