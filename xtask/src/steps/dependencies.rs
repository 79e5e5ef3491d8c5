//! Rules for dependencies between the crates of the workspace.

mod audit;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::git;
use crate::metadata;
use crate::tree;

/// Maximum number of third-party crates that a user of `autonoe-core` has to build.
const CORE_LIMIT: usize = 60;

/// Third-party crates that `cargo run --example quickstart` may build.
const EXAMPLES_LIMIT: usize = 60;

/// The list of third-party crates with their reasons.
const LIST: &str = "docs/dependencies.md";

/// Checks the dependencies among our crates and the weight of the others.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let packages = metadata::workspace_packages(cargo)?;
    let our_names = packages.iter().map(|package| package.name.as_str());
    let our_names: BTreeSet<&str> = our_names.collect();

    Failure::unless_empty(
        "dependencies between our crates break the rules of the table",
        &table::violations(&packages),
    )?;
    println!("dependencies between our crates: as in the table");
    check_list(cargo.root())?;

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
        &tree::third_party(&read_tree(cargo, &security)?, &our_names)?,
    )?;
    at_most(
        CORE_LIMIT,
        "autonoe-core",
        &tree::third_party(
            &read_tree(cargo, &["-e", "normal", "-p", "autonoe-core"])?,
            &our_names,
        )?,
    )?;
    // A newcomer builds these with the first command of the README.
    let examples = ["-e", "normal,build,dev", "-p", "autonoe-examples"];
    at_most(
        EXAMPLES_LIMIT,
        "the quickstart",
        &tree::third_party(&read_tree(cargo, &examples)?, &our_names)?,
    )
}

/// Compares the list of third-party crates with all manifests of the repository.
fn check_list(root: &Path) -> Result<(), Failure> {
    let read = |file: &Path| {
        fs::read_to_string(root.join(file))
            .map_err(|source| Failure::new(format!("cannot read {}: {source}", file.display())))
    };
    let manifests: Result<Vec<_>, _> = git::tracked_files(root, "*Cargo.toml")?
        .iter()
        .map(|file| read(file))
        .collect();
    let page = read(Path::new(LIST))?;
    Failure::unless_empty(
        &format!("{LIST} does not match the manifests"),
        &audit::violations(&manifests?, &page),
    )?;
    println!("third-party crates: as in {LIST}");
    Ok(())
}

fn read_tree(cargo: &Cargo, selection: &[&str]) -> Result<String, Failure> {
    let args = ["tree"].iter().chain(selection);
    cargo.read(args.chain(&tree::FLAT))
}

/// Prints how many crates `name` needs, and refuses more than `limit`.
fn at_most(limit: usize, name: &str, needed: &BTreeSet<String>) -> Result<(), Failure> {
    let count = needed.len();
    println!("third-party crates of {name}: {count} (at most {limit})");
    if count <= limit {
        return Ok(());
    }
    let needed: Vec<String> = needed.iter().cloned().collect();
    let heading =
        format!("{name} has {count} third-party dependencies, and at most {limit} are allowed");
    Failure::unless_empty(&heading, &needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_matches_the_manifests_of_this_repository() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();

        assert_eq!(check_list(root), Ok(()));
    }

    #[test]
    fn a_limit_may_be_reached_but_not_passed() {
        let two = BTreeSet::from(["serde v1.0.0".to_owned(), "syn v2.0.0".to_owned()]);

        assert_eq!(at_most(2, "core", &two), Ok(()));
        assert_eq!(
            at_most(1, "core", &two),
            Err(Failure::new(
                "core has 2 third-party dependencies, and at most 1 are allowed:\n  \
                 serde v1.0.0\n  syn v2.0.0"
            ))
        );
    }
}
