//! Tests of the coordinator on an engine, in virtual time.

mod budgets;
mod failover;
mod faulty_engines;
mod fixture;
mod hundred_members;
mod machine;
mod pause;
mod regressions;
