//! Checks licences, sources and duplicates of third-party crates against `deny.toml`.

use std::process::Command;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::tools;

/// Checks the crates of the workspace with the pinned cargo-deny, which is installed if necessary.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    check_manifest(cargo, "Cargo.toml")
}

/// Checks the crates of the workspace with the manifest at `manifest`, a relative path.
pub(crate) fn check_manifest(cargo: &Cargo, manifest: &str) -> Result<(), Failure> {
    let mut deny = Command::new(tools::cargo_deny(cargo)?);
    deny.current_dir(cargo.root());
    deny.args(["--manifest-path", manifest, "--config", "deny.toml"]);
    // Advisories are left out: their database needs a network, and a new one must not break an
    // old commit.
    deny.args(["--all-features", "check", "--hide-inclusion-graph"]);
    deny.args(["licenses", "bans", "sources"]);
    cargo::run(deny)
}
