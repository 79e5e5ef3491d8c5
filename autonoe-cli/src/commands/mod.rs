//! The commands, one file each.

mod ask;
mod check;
mod completions;
mod configuration;
mod doctor;
mod dry_run;
mod engine;
mod flow;
mod harness;
mod init;
mod interrupted_run;
mod log;
mod mcp;
mod output_file;
mod report;
mod run;
mod schema;
mod session_host;
mod signals;
mod stage;
mod status;
mod which_run;

pub(crate) use ask::ask;
pub(crate) use check::check;
pub(crate) use completions::{completions, man};
#[cfg(test)]
pub(crate) use configuration::configuration_lines;
pub(crate) use doctor::doctor;
pub(crate) use engine::{engine, submit};
pub(crate) use flow::flow;
pub(crate) use harness::harness;
pub(crate) use init::init;
pub(crate) use log::log;
pub(crate) use mcp::mcp;
pub(crate) use report::report;
pub(crate) use run::{run, sync};
pub(crate) use schema::schema;
pub(crate) use session_host::session_host;
pub(crate) use status::status;
