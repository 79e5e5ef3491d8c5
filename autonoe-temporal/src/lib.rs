//! Runs on a [Temporal](https://temporal.io) cluster, behind the engine port of `autonoe-core`.
//!
//! A [`TemporalEngine`] is an [`Engine`](autonoe_core::engine::Engine): clients of a
//! [`LocalEngine`](autonoe_core::engine::LocalEngine) can use it unchanged. [`TemporalWorker`]s
//! execute the runs, on this machine or on others. They poll the server for work, so they need no
//! open port.
//!
//! The server stores runs, instructions and progress, which survive crashes of the server and of
//! workers. If the server receives no heartbeat from a worker for [`Timeouts::heartbeat`], it gives
//! the runs of this worker to another one. Work is therefore executed at least once. The journal
//! and the epoch of a project directory ensure that it counts once.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`TemporalSettings`], [`Tls`], [`Timeouts`] | address of the server, encryption and timeouts |
//! | [`ConnectError`] | connection error |
//! | [`SessionsRun`], [`SESSIONS_JOB`] | a run that is driven session by session |
//! | [`TemporalEngine`] | submits and queries runs |
//! | [`TemporalWorker`], [`WorkerSettings`], [`WorkerError`] | executes runs |
//! | [`SessionHosts`] | finds the session host of a run on a worker |
//! | [`JournalSource`], [`JournalError`] | journal pages, read on their host |
//! | [`Cluster`], [`RunSummary`] | lists runs and reads their journals |
//!
//! A fleet of `autonoe-harness` is also one run: submit a
//! [`StrategyRun`](autonoe_harness::coordinate::StrategyRun). Its members are separate runs, as
//! child workflows of the fleet's workflow.

mod connection;
mod engine;
mod failure;
mod fleet;
mod heartbeat;
mod instruction_log;
mod job;
mod journal;
mod payload;
mod run_workflow;
mod sessions;
mod settings;
mod wire;
mod worker;

pub use connection::ConnectError;
pub use engine::{Cluster, RunSummary, TemporalEngine};
pub use journal::{JournalError, JournalSource};
pub use sessions::{SESSIONS_JOB, SessionHosts, SessionsRun};
pub use settings::{TemporalSettings, Timeouts, Tls};
pub use worker::{TemporalWorker, WorkerError, WorkerSettings};

/// Compiles the examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/cluster.md")]
mod guide {}
