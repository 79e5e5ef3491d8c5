//! Everyday work of coding agents, as whole runs of the built command on the real programs.
//!
//! Each test scripts the model with the command lines that agents use and runs `autonoe run`, or a
//! flow, in the default sandbox. It checks the disk, the git log, the ledger, `autonoe log` and the
//! absence of processes.

mod background_command;
mod chore;
mod conversations;
mod credentials;
mod dev_server;
mod every_backend;
mod files;
mod findings;
mod git_work;
mod guide_example;
mod languages;
mod long_runs;
mod mcp_server;
mod memory_file;
mod protected_files;
mod spec_example;
mod sub_agent;
mod temporary_files;
mod web_site;
mod whole_run;
mod workplace;
