//! Tests of git sync between hosts, with a real git.

mod agents_git;
mod conformance;
mod fencing;
mod fixture;
mod foreign_commits;
mod host_changes;
mod hostile;
mod integration_branch;
mod killed;
mod lost_remote;
mod synced_files;
mod task_start;
mod unreachable_remote;
