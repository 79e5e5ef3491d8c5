//! Tests of members: their folders, their processes, their handles and their manager.
//!
//! Tests with processes start this program again, in the role of a member or of a manager that is
//! killed. Each of them checks at its end that no process is left.

#![cfg(target_os = "linux")]

mod checks;
mod conformance;
mod corrupt;
mod fixture;
mod instructions;
mod job;
mod kill;
mod managers;
mod managers_that_die;
mod roles;
mod serve;
mod spending;
