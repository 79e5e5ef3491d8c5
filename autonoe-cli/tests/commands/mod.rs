//! Tests of the read-only commands, through the binary.

mod bad_files;
mod check;
#[path = "../guide/console.rs"]
mod console;
mod doctor;
mod dry_run;
pub(crate) mod fixture;
mod flow;
mod flow_import;
mod guides;
mod help;
mod init;
mod log;
mod mcp;
mod outputs;
mod project_dir;
mod reference;
mod run_option;
mod schema;
mod status;
mod unwritable;
mod upstream_roadmap;
mod writable;
