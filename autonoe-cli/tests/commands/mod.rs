//! The commands that look and tell, through the binary.

mod ask_guide;
mod bad_files;
mod check;
#[path = "../guide/console.rs"]
mod console;
mod doctor;
mod dry_run;
mod engine;
mod flow;
mod flow_guide;
mod flow_import;
mod harness_guide;
mod help;
mod init;
mod log;
mod mcp;
mod outputs;
mod sandbox_variable;
mod schema;
pub(crate) mod setting;
mod specs;
mod status;
mod unwritable;
mod upstream_roadmap;
mod which_project;
mod which_run;
mod writable;
