//! Tests of durable state and shared context: contracts, files, and killed processes.

mod files;
mod fleet_state;
mod member_state;
mod shared;
mod shared_killed;
mod worker;
mod writers;
