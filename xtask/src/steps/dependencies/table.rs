//! The allowed dependencies among our own crates.

use crate::metadata::Package;

use Allowed::{Anything, Only};

/// Our crates that a crate may use, outside its tests.
#[derive(Clone, Copy, Debug)]
enum Allowed {
    Only(&'static [&'static str]),
    Anything,
}

/// Every crate of the workspace has a line here.
const TABLE: &[(&str, Allowed)] = &[
    ("autonoe-security", Only(&[])),
    ("autonoe-core", Only(&["autonoe-security"])),
    ("autonoe-process", Only(&[])),
    ("autonoe-scripted", Only(&["autonoe-core"])),
    (
        "autonoe-testkit",
        Only(&["autonoe-core", "autonoe-scripted", "autonoe-security"]),
    ),
    (
        "autonoe-backend",
        Only(&["autonoe-core", "autonoe-process"]),
    ),
    (
        "autonoe-acp",
        Only(&["autonoe-backend", "autonoe-core", "autonoe-process"]),
    ),
    (
        "autonoe-claude",
        Only(&["autonoe-backend", "autonoe-core", "autonoe-process"]),
    ),
    (
        "autonoe-codex",
        Only(&["autonoe-backend", "autonoe-core", "autonoe-process"]),
    ),
    ("autonoe-dashboard", Only(&["autonoe-core"])),
    ("autonoe-flow", Only(&["autonoe-core", "autonoe-process"])),
    // The testkit only for its conformance suites, behind a feature.
    (
        "autonoe-harness",
        Only(&["autonoe-core", "autonoe-process", "autonoe-testkit"]),
    ),
    ("autonoe-mcp", Only(&["autonoe-core"])),
    // The testkit only for its conformance suite, behind a feature.
    (
        "autonoe-model",
        Only(&["autonoe-core", "autonoe-process", "autonoe-testkit"]),
    ),
    // The harness only for the metrics of fleets, behind a feature.
    (
        "autonoe-telemetry",
        Only(&["autonoe-core", "autonoe-harness"]),
    ),
    // What both programs compose.
    (
        "autonoe-app",
        Only(&[
            "autonoe-acp",
            "autonoe-claude",
            "autonoe-codex",
            "autonoe-core",
            "autonoe-flow",
            "autonoe-harness",
            "autonoe-mcp",
            "autonoe-model",
            "autonoe-process",
            "autonoe-scripted",
            "autonoe-telemetry",
        ]),
    ),
    ("autonoe-cli", Anything),
    ("autonoe-docs", Anything),
    (
        "autonoe-examples",
        Only(&["autonoe-core", "autonoe-scripted"]),
    ),
    ("autonoe-benches", Anything),
    ("autonoe-bench-sdk", Anything),
    ("xtask", Anything),
];

/// Lists what the packages of the workspace use against the table.
pub(super) fn violations(packages: &[Package]) -> Vec<String> {
    let is_package = |name: &String| packages.iter().any(|package| package.name == *name);

    let mut found = Vec::new();
    for Package {
        name, dependencies, ..
    } in packages
    {
        match TABLE.iter().find(|(known, _)| known == name) {
            None => found.push(format!("{name} is not in the table: add it in {}", file!())),
            Some((_, Anything)) => {}
            Some((_, Only(allowed))) => found.extend(
                dependencies
                    .iter()
                    .filter(|used| is_package(used) && !allowed.contains(&used.as_str()))
                    .map(|used| format!("{name} may not depend on {used}")),
            ),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        Package {
            name: name.into(),
            dependencies: dependencies.iter().copied().map(Into::into).collect(),
            ..Package::default()
        }
    }

    #[test]
    fn allowed_dependencies_are_no_violation() {
        let packages = [
            package("autonoe-security", &["serde"]),
            package("autonoe-core", &["autonoe-security", "tokio"]),
            package("autonoe-testkit", &["autonoe-core", "autonoe-security"]),
            package("autonoe-examples", &["autonoe-scripted", "autonoe-core"]),
            package("autonoe-benches", &["autonoe-testkit"]),
            package("xtask", &["serde_json"]),
        ];

        assert_eq!(violations(&packages), Vec::<String>::new());
    }

    #[test]
    fn a_dependency_against_the_table_is_named() {
        let packages = [
            package("autonoe-security", &["autonoe-core"]),
            package("autonoe-core", &["autonoe-security", "autonoe-testkit"]),
            package("autonoe-testkit", &["xtask"]),
            package("xtask", &[]),
        ];

        assert_eq!(
            violations(&packages),
            [
                "autonoe-security may not depend on autonoe-core",
                "autonoe-core may not depend on autonoe-testkit",
                "autonoe-testkit may not depend on xtask",
            ]
        );
    }

    #[test]
    fn a_crate_without_a_line_has_to_get_one() {
        let found = violations(&[package("autonoe-new", &[])]);

        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("autonoe-new is not in the table: add it in "));
    }
}
