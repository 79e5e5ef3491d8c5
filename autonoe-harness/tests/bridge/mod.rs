//! Engines and session hosts behind pipes: in this process, and in another one.
//!
//! Tests with processes start this program again in the role of who answers, or a shell that
//! answers wrong things. Each of them looks at its end whether a process is left.

#![cfg(target_os = "linux")]

mod engines;
mod engines_that_fail;
mod hosts;
mod hosts_that_fail;
mod questions;
mod roles;
mod stage;
