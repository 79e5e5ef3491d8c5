//! Tests of durable state and shared context: contracts, files, and killed processes.

mod conformance;
mod faulty;
mod files;
mod shared;
mod shared_killed;
mod worker;
mod writers;
