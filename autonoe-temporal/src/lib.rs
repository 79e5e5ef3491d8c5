//! Runs on a [Temporal](https://temporal.io) cluster, behind the engine seam of `autonoe-core`.
//!
//! A [`TemporalEngine`] is an [`Engine`](autonoe_core::Engine): whoever submits runs to a
//! [`LocalEngine`](autonoe_core::LocalEngine) submits them here without a change. What carries them
//! out are [`TemporalWorker`]s, on this machine or on others. They ask the server for work, so they
//! need no port of their own.
//!
//! The server keeps what was submitted, told and reached, and survives its own death and that of
//! workers. A run whose worker dies is given to another one once the server has not heard of it for
//! [`Pace::heartbeat`]. So work is done at least once; that it counts once is the business of what
//! carries it out (the journal and the epoch of a project directory).
//!
//! | what | for |
//! | --- | --- |
//! | [`TemporalSettings`], [`Tls`], [`Pace`] | where the server is, how the way there is guarded, and how long to wait for what |
//! | [`ConnectError`], [`GuardError`] | why it cannot be used |
//! | [`SessionsRun`], [`SESSIONS_JOB`] | a run that is driven session by session |
//! | [`TemporalEngine`] | submits runs and asks for them |
//! | [`TemporalWorker`], [`WorkerSettings`], [`WorkerError`] | carries them out |
//! | [`SessionHosts`] | finds what a session works on, on a worker |
//!
//! A fleet of `autonoe-harness` is one run, too: submit a
//! [`StrategyRun`](autonoe_harness::StrategyRun), and its members are carried out as runs of their own,
//! which the server knows as workflows below that of the fleet.

mod beat;
mod beginning;
mod connecting;
mod engine;
mod failure;
mod fleet;
mod job;
mod pace;
mod payload;
mod sessions;
mod settings;
mod standing;
mod tls;
mod watching;
mod wire;
mod worker;

pub use connecting::ConnectError;
pub use engine::TemporalEngine;
pub use pace::Pace;
pub use sessions::{SESSIONS_JOB, SessionHosts, SessionsRun};
pub use settings::TemporalSettings;
pub use tls::{GuardError, Tls};
pub use worker::{TemporalWorker, WorkerError, WorkerSettings};

/// What is in the guide compiles.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/cluster.md")]
mod guide {}
