//! Runs on models of every provider, through the command, against scripted servers.

mod announcements;
mod ask;
mod configuration;
mod failures;
mod fixture;
mod keys;
mod sandbox;
mod servers;
mod telemetry;
mod vendor;
mod whole_runs;
