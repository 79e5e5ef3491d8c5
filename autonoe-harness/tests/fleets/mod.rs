//! Tests of fleets, from their orders to their reports.
//!
//! They run in real time and poll for their conditions: SQLite has threads of its own, which
//! virtual time does not wait for. Tests with processes start this program again, as a coordinator
//! that is killed or as a member.

#![cfg(target_os = "linux")]

mod agents;
mod alerts;
mod chaos;
mod contests;
mod conversations;
mod explorations;
mod fixture;
mod homes;
mod kills;
mod ledger;
mod orders;
mod rebuild;
mod requests;
mod rerun;
mod roles;
mod tasks;
