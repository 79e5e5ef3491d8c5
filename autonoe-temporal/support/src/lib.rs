//! What the tests and the benchmarks of `autonoe-temporal` share: a real Temporal server, workers on
//! it, and projects whose sessions are played. For nobody else; what goes wrong panics.
//!
//! | what | for |
//! | --- | --- |
//! | [`DevServer`], [`Proxy`] | a server that can be killed, and a way to it that can be cut |
//! | [`Site`], [`Work`], [`Starts`] | projects, and what the sessions in them do |
//! | [`Crew`] | agents that do it and say on which host they are |
//! | [`Log`], [`Entry`], [`What`] | what agents did, on whichever host |
//! | [`Working`], [`Host`] | workers in this process, and in processes of their own that are killed |
//! | [`submit`], [`outcome`], [`seen`], [`eventually`] | runs, and waiting for them |

#![cfg(target_os = "linux")]

mod body;
mod crew;
mod host;
mod log;
mod proxy;
mod runs;
mod server;
mod site;
mod tool;
mod waiting;
mod working;

pub use body::TWO_AT_ONCE;
pub use crew::Crew;
pub use host::{Host, work_if_told_to};
pub use log::{Entry, Log, What};
pub use proxy::Proxy;
pub use runs::{engine, hasty, is_at, outcome, seen, submit, submit_to};
pub use server::DevServer;
pub use site::{Site, Starts, Work};
pub use tool::BUILDING;
pub use waiting::{eventually, within};
pub use working::Working;
