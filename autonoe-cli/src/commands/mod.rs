//! Implementations of the commands.

mod ask;
mod check;
mod completions;
mod configuration;
mod doctor;
mod dry_run;
mod flow;
mod harness;
mod init;
mod interrupted_run;
mod log;
mod mcp;
mod notify;
mod output_file;
mod report;
mod run;
mod run_lookup;
mod run_ui;
mod schema;
mod serve;
mod signals;
mod status;

pub(crate) use ask::ask_agent;
pub(crate) use check::check;
pub(crate) use completions::{completions, man};
#[cfg(test)]
pub(crate) use configuration::configuration_lines;
pub(crate) use doctor::doctor;
pub(crate) use flow::flow;
pub(crate) use harness::harness;
pub(crate) use init::init;
pub(crate) use log::log;
pub(crate) use mcp::mcp;
pub(crate) use report::report;
pub(crate) use run::{run, sync};
pub(crate) use schema::schema;
pub(crate) use serve::serve;
pub(crate) use status::status;
