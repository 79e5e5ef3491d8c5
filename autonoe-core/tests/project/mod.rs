//! The project on disk, through the public API and with real files.
#![cfg(feature = "project")]

mod aftermath;
#[cfg(unix)]
#[cfg(target_os = "linux")]
mod file_system;
mod flows;
#[cfg(unix)]
mod foreign_ledger;
mod foreign_writes;
#[cfg(unix)]
mod git_commands;
mod hosted_end;
mod hosted_ledger;
mod hosted_lock;
mod journal;
mod kill;
mod layout;
#[cfg(unix)]
mod ledger_ownership;
mod lock;
mod lost_ground;
#[cfg(target_os = "linux")]
mod power_cut;
mod preview;
mod project_run;
mod repository;
mod run;
#[cfg(target_os = "linux")]
mod sandboxed_git;
mod session_host;
mod single_sessions;
mod writer;

/// Returns how many rounds a torture run wants of a test that stops writers in the middle.
fn rounds() -> Option<usize> {
    let text = std::env::var("AUTONOE_TORTURE_ROUNDS").ok()?;
    Some(text.parse().expect("a number of rounds"))
}
