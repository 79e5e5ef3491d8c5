//! Fleets, from their orders to what they came to.
//!
//! They take real time, and wait for what they want to see: SQLite has threads of its own, which
//! virtual time does not wait for. Those with processes start this program again, as a coordinator that is killed or as a sub-harness.

#![cfg(target_os = "linux")]

mod again;
mod agents;
mod alerts;
mod asked;
mod chaos;
mod contests;
mod conversations;
mod homes;
mod killed;
mod ledger;
mod orders;
mod roles;
mod setting;
mod tasks;
mod ways;
