//! The same decisions on every backend come to the same ledger, files and end.
//!
//! One script of decisions is told to each backend in its own way: to the programs and to the
//! agent on models by a scripted server of the vendor, with the vendor's names of tools; to
//! scripted agents as calls. The programs, their tools and our guards are real.

pub(crate) mod backend;
pub(crate) mod dialect;
pub(crate) mod on_models;
mod on_programs;
mod outcome;
mod place;
pub(crate) mod programs;
mod project_memory;
mod run;
mod same;
mod scripted;
pub(crate) mod served;
mod stories;
pub(crate) mod story;
