//! Integration tests of `autonoe-security`.

mod common;
mod fuzz;
mod oracle;
mod policy;
mod programs;
mod syntax;
