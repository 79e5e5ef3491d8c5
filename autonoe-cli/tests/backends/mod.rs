//! Tests that the same decisions lead to the same ledger, files and exit on every backend.
//!
//! Each backend gets one script of decisions in its own form. For the programs and the agent on
//! models, a scripted server of the vendor uses the vendor's tool names. Scripted agents get the
//! script as calls. The programs, their tools and our guards are real.

pub(crate) mod backend;
pub(crate) mod dialect;
pub(crate) mod model_server;
mod outcome;
pub(crate) mod programs;
mod project_memory;
mod run;
pub(crate) mod run_script;
mod run_scripts;
mod same;
mod scripted;
mod workspace;
