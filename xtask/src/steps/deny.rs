//! Checks licences, sources and duplicates of third-party crates against `deny.toml`.

use std::process::Command;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::tools;

/// Runs the pinned cargo-deny, installing it first if necessary.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let mut deny = Command::new(tools::cargo_deny(cargo)?);
    deny.current_dir(cargo.root());
    // Advisories are left out: their database needs a network, and a new one must not break an
    // old commit.
    deny.args(["--all-features", "check", "--hide-inclusion-graph"]);
    deny.args(["licenses", "bans", "sources"]);
    cargo::run(deny)
}
