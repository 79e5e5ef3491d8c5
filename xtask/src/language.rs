//! `cargo xtask language`: finds names and comments that break the writing rules of CONTRIBUTING.md.

mod finding;

use std::fs;

use self::finding::Finding;
use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::git;

/// Fails with the file and line of every name or comment that breaks a rule.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let mut findings = Vec::new();
    for file in git::tracked_files(cargo.root(), "*.rs")? {
        let text = fs::read_to_string(cargo.root().join(&file))
            .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
        findings.extend(Finding::in_file(&file, &text));
    }
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    Failure::unless_empty(
        "names or comments break the writing rules of CONTRIBUTING.md",
        &lines,
    )
}
