//! Who may depend on what.

mod table;

use std::collections::BTreeSet;

use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::metadata;
use crate::tree;

/// How many crates of others a user of `autonoe-core` has to build at most.
const CORE_LIMIT: usize = 60;

/// Third-party crates that `cargo run --example quickstart` may build.
const EXAMPLES_LIMIT: usize = 60;

/// Checks the dependencies among our crates and the weight of the others.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let packages = metadata::ours(cargo)?;
    let ours = packages.iter().map(|package| package.name.as_str());
    let ours: BTreeSet<&str> = ours.collect();

    Failure::unless_empty(
        "our crates depend on each other in a way they may not",
        &table::violations(&packages),
    )?;
    println!("dependencies among our own crates: as in the table");

    let security = [
        "-e",
        "normal",
        "-p",
        "autonoe-security",
        "--no-default-features",
    ];
    at_most(
        0,
        "autonoe-security without features",
        &tree::third_party(&read_tree(cargo, &security)?, &ours)?,
    )?;
    at_most(
        CORE_LIMIT,
        "autonoe-core",
        &tree::third_party(
            &read_tree(cargo, &["-e", "normal", "-p", "autonoe-core"])?,
            &ours,
        )?,
    )?;
    // A newcomer builds these with the first command of the README.
    let examples = ["-e", "normal,build,dev", "-p", "autonoe-examples"];
    at_most(
        EXAMPLES_LIMIT,
        "the quickstart",
        &tree::third_party(&read_tree(cargo, &examples)?, &ours)?,
    )
}

fn read_tree(cargo: &Cargo, selection: &[&str]) -> Result<String, Failure> {
    let args = ["tree"].iter().chain(selection);
    cargo.read(args.chain(&tree::FLAT))
}

/// Prints how many crates `who` needs, and refuses more than `limit`.
fn at_most(limit: usize, who: &str, needed: &BTreeSet<String>) -> Result<(), Failure> {
    let count = needed.len();
    println!("third-party crates of {who}: {count} (at most {limit})");
    if count <= limit {
        return Ok(());
    }
    let needed: Vec<String> = needed.iter().cloned().collect();
    let heading = format!("{who} needs {count} third-party crates, {limit} are allowed");
    Failure::unless_empty(&heading, &needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_may_be_reached_but_not_passed() {
        let two = BTreeSet::from(["serde v1.0.0".to_owned(), "syn v2.0.0".to_owned()]);

        assert_eq!(at_most(2, "core", &two), Ok(()));
        assert_eq!(
            at_most(1, "core", &two),
            Err(Failure::new(
                "core needs 2 third-party crates, 1 are allowed:\n  serde v1.0.0\n  syn v2.0.0"
            ))
        );
    }
}
