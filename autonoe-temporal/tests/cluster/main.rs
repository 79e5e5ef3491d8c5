//! Engine and workers on a real Temporal server, which `cargo xtask test-temporal` installs.

mod conformance;
mod project;
mod server;
mod sessions;
mod working;
