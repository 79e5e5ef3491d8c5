//! Project on disk, through the public API and with real files.
#![cfg(feature = "project")]

#[cfg(unix)]
#[cfg(target_os = "linux")]
mod file_system;
mod flows;
#[cfg(unix)]
mod foreign_ledger;
mod foreign_writes;
#[cfg(unix)]
mod git_commands;
mod hosted_ledger;
mod hosted_lock;
mod hosted_run_end;
mod invariants;
mod journal;
mod kill;
mod layout;
#[cfg(unix)]
mod ledger_ownership;
mod lock;
mod moved_project;
#[cfg(target_os = "linux")]
mod power_cut;
mod preview;
mod project_run;
mod repository;
#[cfg(unix)]
mod requests;
mod run;
#[cfg(target_os = "linux")]
mod sandboxed_git;
mod session_host;
mod single_sessions;
mod writer;

/// Returns the number of rounds that a torture run requests for tests that stop writers.
fn rounds() -> Option<usize> {
    let text = std::env::var("AUTONOE_TORTURE_ROUNDS").ok()?;
    Some(text.parse().expect("a number of rounds"))
}
