//! Parser for the output of `cargo tree`.

use std::collections::BTreeSet;

use crate::failure::Failure;

/// Arguments that make `cargo tree` print one package per line.
pub(crate) const FLAT: [&str; 4] = ["--prefix", "none", "--format", "{p}"];

/// Returns the packages in `tree` that are not among `our_names`, each once, as
/// `name v1.2.3`.
pub(crate) fn third_party(
    tree: &str,
    our_names: &BTreeSet<&str>,
) -> Result<BTreeSet<String>, Failure> {
    let mut found = BTreeSet::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        // What follows the version is a path, `(proc-macro)` or `(*)`.
        let mut words = line.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else {
            return Err(unreadable(line));
        };
        if !version.starts_with('v') {
            return Err(unreadable(line));
        }
        if !our_names.contains(name) {
            found.insert(format!("{name} {version}"));
        }
    }
    Ok(found)
}

fn unreadable(line: &str) -> Failure {
    Failure::new(format!("cannot read this line of `cargo tree`: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_peoples_packages_are_found_once_per_version() {
        let tree = "\
autonoe-core v0.1.0 (/somewhere/autonoe-core)
async-trait v0.1.89 (proc-macro)
syn v2.0.110
autonoe-security v0.1.0 (/somewhere/autonoe-security)

syn v2.0.110
syn v1.0.0 (*)
";

        let found = third_party(tree, &BTreeSet::from(["autonoe-core", "autonoe-security"]));

        let expected = ["async-trait v0.1.89", "syn v1.0.0", "syn v2.0.110"];
        assert_eq!(found, Ok(expected.map(str::to_owned).into()));
    }

    #[test]
    fn an_unknown_line_is_refused() {
        for line in ["serde", "├── serde v1.0.0"] {
            assert!(third_party(line, &BTreeSet::new()).is_err(), "{line}");
        }
    }
}
