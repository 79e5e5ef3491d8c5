//! `autonoe submit` and `autonoe engine`, with a scripted engine in the place of a cluster.

mod cluster;
mod leading;
mod lines;
mod logs;
mod mistakes;
mod submitting;
mod waiting;

pub(crate) use cluster::with_runs;
