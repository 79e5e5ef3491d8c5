//! Tests of durable state and shared context: contracts, files, and killed processes.

mod conformance;
mod faulty;
mod files;
mod opened_twice;
mod shared;
mod shared_killed;
mod upstream;
mod worker;
mod writers;
