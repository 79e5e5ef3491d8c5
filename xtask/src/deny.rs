//! Checks licences, sources and duplicates of third-party crates against `deny.toml`.

use std::fs;
use std::process::Command;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::{git, temporal, tools};

/// The files that decide the result of the check.
const INPUTS: [&str; 3] = ["deny.toml", "Cargo.lock", "autonoe-temporal/Cargo.lock"];

/// The hashes of the files that the last check accepted.
const ACCEPTED: &str = "deny.accepted";

/// Checks all crates with the pinned cargo-deny, which is installed if necessary.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    for manifest in ["Cargo.toml", temporal::MANIFEST] {
        let mut deny = Command::new(tools::cargo_deny(cargo)?);
        deny.current_dir(cargo.root());
        deny.args(["--manifest-path", manifest, "--config", "deny.toml"]);
        // Advisories are left out: their database needs a network, and a new one must not break an
        // old commit.
        deny.args(["--all-features", "check", "--hide-inclusion-graph"]);
        deny.args(["licenses", "bans", "sources"]);
        cargo::run(deny)?;
    }
    Ok(())
}

/// Checks all crates, and records the files that were checked.
pub(crate) fn update(cargo: &Cargo) -> Result<(), Failure> {
    check(cargo)?;
    let path = cargo.root().join(ACCEPTED);
    fs::write(&path, hashes(cargo)?)
        .map_err(|source| Failure::new(format!("cannot write {}: {source}", path.display())))
}

/// Fails if a file has changed since it was checked: compiling cargo-deny takes longer than most
/// other checks.
pub(crate) fn check_accepted(cargo: &Cargo) -> Result<(), Failure> {
    let accepted = fs::read_to_string(cargo.root().join(ACCEPTED)).unwrap_or_default();
    Failure::unless_empty(
        "run `cargo xtask licences`, because these files have changed since the last check",
        &changed(&accepted, &hashes(cargo)?),
    )
}

/// Returns a line with hash and path of each input.
fn hashes(cargo: &Cargo) -> Result<String, Failure> {
    let lines = INPUTS.iter().map(|path| {
        let hash = git::hash(cargo.root(), path)?;
        Ok(format!("{hash} {path}\n"))
    });
    lines.collect()
}

fn changed(accepted: &str, hashes: &str) -> Vec<String> {
    let accepted: Vec<_> = accepted.lines().collect();
    let changed = hashes.lines().filter(|line| !accepted.contains(line));
    let paths = changed.filter_map(|line| line.split_once(' '));
    paths.map(|(_, path)| path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_files_that_were_not_accepted() {
        let hashes = "a1 deny.toml\nb2 Cargo.lock\n";

        assert_eq!(changed(hashes, hashes), [""; 0]);
        assert_eq!(
            changed("a1 deny.toml\nb1 Cargo.lock\n", hashes),
            ["Cargo.lock"]
        );
        assert_eq!(changed("", hashes), ["deny.toml", "Cargo.lock"]);
    }
}
