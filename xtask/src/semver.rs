//! `cargo xtask semver`: breaking changes of the published crates since the last release.

use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::{git, metadata};

/// The program that compares two versions of a crate.
const PROGRAM: &str = "semver-checks";

/// Compares the published crates with the last release tag.
///
/// # Errors
///
/// There is no tag, the program is missing, or it finds a change that the version does not allow.
pub(crate) fn run(cargo: &Cargo) -> Result<(), Failure> {
    let Some(tag) = git::last_tag(cargo.root(), "v*")? else {
        return Err(Failure::new(
            "there is no release tag such as v0.1.0 yet, so there is nothing to compare with",
        ));
    };
    if !cargo.has(PROGRAM) {
        return Err(Failure::new(
            "cargo-semver-checks is missing; install it with \
             `cargo install --locked cargo-semver-checks`",
        ));
    }
    let packages = metadata::workspace_packages(cargo)?;
    let published = packages.into_iter().filter(|package| package.is_published);
    cargo.run(arguments(&tag, published.map(|package| package.name)))
}

/// Returns the arguments of cargo that compare `packages` with `tag`.
fn arguments(tag: &str, packages: impl Iterator<Item = String>) -> Vec<String> {
    let mut arguments = [PROGRAM, "--all-features", "--baseline-rev", tag]
        .map(str::to_owned)
        .to_vec();
    for package in packages {
        arguments.extend(["--package".to_owned(), package]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_compared_with_the_tag() {
        let packages = ["autonoe-core", "autonoe-flow"].map(str::to_owned);

        let arguments = arguments("v0.1.0", packages.into_iter());

        assert_eq!(
            arguments.join(" "),
            "semver-checks --all-features --baseline-rev v0.1.0 --package autonoe-core \
             --package autonoe-flow"
        );
    }
}
