//! Sub-harnesses: their folders, their processes, their handles and who looks after them.
//!
//! Tests with processes start this program again, in the role of a sub-harness or of a manager that
//! is killed. Each of them looks at its end whether a process is left.

#![cfg(target_os = "linux")]

mod conformance;
mod corrupt;
mod instructions;
mod intervals;
mod kill;
mod managers;
mod managers_that_die;
mod roles;
mod serving;
mod spending;
mod stage;
