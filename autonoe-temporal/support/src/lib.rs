//! Shared fixtures of the tests and benchmarks of `autonoe-temporal`: a real Temporal server,
//! workers, and projects with scripted sessions. Not for other uses; errors panic.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`DevServer`], [`Proxy`] | a server that can be killed, and a connection to it that can be cut |
//! | [`Site`], [`Work`], [`Starts`] | projects, and the work of their sessions |
//! | [`TestHosts`] | scripted agents that do the work and log their host |
//! | [`Log`], [`Entry`], [`SessionEvent`] | the log of all agents on all hosts |
//! | [`RunningWorker`], [`Host`] | workers in this process, and in other processes that can be killed |
//! | [`processes_in`], [`wait_for_no_processes`] | the processes that agents and tools leave behind |
//! | [`submit`], [`outcome`], [`wait_for_status`], [`eventually`] | submitting and awaiting runs |

#![cfg(target_os = "linux")]

mod agent_process;
mod host;
mod local_worker;
mod log;
mod processes;
mod proxy;
mod runs;
mod server;
mod site;
mod test_hosts;
mod tool;
mod waiting;

pub use agent_process::TWO_AT_ONCE;
pub use host::{Host, run_worker_if_requested};
pub use local_worker::RunningWorker;
pub use log::{Entry, Log, SessionEvent};
pub use processes::{processes_in, wait_for_no_processes};
pub use proxy::Proxy;
pub use runs::{engine, is_at, outcome, short_timeouts, submit, submit_to, wait_for_status};
pub use server::{DevServer, free_port, temporal_program};
pub use site::{Site, Starts, Work};
pub use test_hosts::TestHosts;
pub use tool::BUILDING;
pub use waiting::{eventually, within};
