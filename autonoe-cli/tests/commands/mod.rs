//! Tests of the read-only commands, through the binary.

mod ask_guide;
mod bad_files;
mod check;
#[path = "../guide/console.rs"]
mod console;
mod doctor;
mod dry_run;
pub(crate) mod fixture;
mod flow;
mod flow_guide;
mod flow_import;
mod harness_guide;
mod help;
mod init;
mod log;
mod mcp;
mod outputs;
mod reference;
mod sandbox_variable;
mod schema;
mod specs;
mod status;
mod unwritable;
mod upstream_roadmap;
mod which_project;
mod which_run;
mod writable;
