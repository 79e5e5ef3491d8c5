//! Rules for the manifests of packages.

use super::manifest::{Dependency, DocsRs, FIELDS, Manifest};

/// The packages that a release publishes. Every other package has `publish = false`.
const PUBLISHED: [&str; 15] = [
    "autonoe-acp",
    "autonoe-backend",
    "autonoe-claude",
    "autonoe-codex",
    "autonoe-core",
    "autonoe-dashboard",
    "autonoe-flow",
    "autonoe-harness",
    "autonoe-mcp",
    "autonoe-model",
    "autonoe-process",
    "autonoe-scripted",
    "autonoe-security",
    "autonoe-telemetry",
    "autonoe-testkit",
];

/// Categories of crates.io that our crates use. The registry only warns about unknown ones, so look
/// up a new one at <https://crates.io/category_slugs>.
const CATEGORIES: [&str; 9] = [
    "api-bindings",
    "asynchronous",
    "development-tools",
    "development-tools::profiling",
    "development-tools::testing",
    "os::linux-apis",
    "parser-implementations",
    "visualization",
    "web-programming::http-server",
];

/// The platforms for which docs.rs builds the documentation.
const DOCS_TARGETS: [&str; 1] = ["x86_64-unknown-linux-gnu"];

/// The limits of the registry.
const MAX_KEYWORDS: usize = 5;
const MAX_KEYWORD_LEN: usize = 20;

/// Lists what keeps the packages from being published.
pub(super) fn violations(packages: &[Manifest]) -> Vec<String> {
    let mut found = Vec::new();
    for name in PUBLISHED {
        if !packages.iter().any(|package| package.name == name) {
            found.push(format!("{name}: there is no such package"));
        }
    }
    for package in packages {
        let problems = if package.is_published {
            published_violations(package, packages)
        } else if PUBLISHED.contains(&package.name.as_str()) {
            vec!["remove `publish = false`".to_owned()]
        } else {
            Vec::new()
        };
        found.extend(problems.iter().map(|it| format!("{}: {it}", package.name)));
    }
    found
}

fn published_violations(package: &Manifest, packages: &[Manifest]) -> Vec<String> {
    if !PUBLISHED.contains(&package.name.as_str()) {
        return vec![format!(
            "set `publish = false`, or add it to the list in {}",
            file!()
        )];
    }
    let mut found = Vec::new();
    let missing = FIELDS
        .iter()
        .filter(|field| !package.fields.contains(field));
    found.extend(missing.map(|field| format!("`{field}` is missing")));
    if package.readme.as_deref() != Some("README.md") {
        found.push("`readme` is not \"README.md\"".to_owned());
    }
    found.extend(docs_rs_violation(package.docs_rs.as_ref()));
    if package.keywords.is_empty() || package.keywords.len() > MAX_KEYWORDS {
        let count = package.keywords.len();
        found.push(format!("{count} keywords instead of 1 to {MAX_KEYWORDS}"));
    }
    let keywords = package.keywords.iter().filter(|it| !is_keyword(it));
    found.extend(keywords.map(|it| format!("the registry does not allow the keyword {it:?}")));
    if package.categories.is_empty() {
        found.push("`categories` is missing".to_owned());
    }
    let categories = package.categories.iter();
    let unknown = categories.filter(|it| !CATEGORIES.contains(&it.as_str()));
    found.extend(unknown.map(|it| format!("the category {it:?} is not in {}", file!())));
    let packaged = package.dependencies.iter().filter(|it| it.is_packaged());
    found.extend(packaged.filter_map(|it| dependency_violation(it, packages)));
    found
}

fn docs_rs_violation(docs_rs: Option<&DocsRs>) -> Option<String> {
    let Some(docs_rs) = docs_rs else {
        return Some("the section [package.metadata.docs.rs] is missing".to_owned());
    };
    if !docs_rs.is_all_features {
        return Some("[package.metadata.docs.rs] has no `all-features = true`".to_owned());
    }
    (docs_rs.targets != DOCS_TARGETS).then(|| {
        let targets = &docs_rs.targets;
        format!(
            "[package.metadata.docs.rs] has the targets {targets:?} instead of {DOCS_TARGETS:?}"
        )
    })
}

fn is_keyword(text: &str) -> bool {
    text.len() <= MAX_KEYWORD_LEN
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "_-+".contains(it))
}

fn dependency_violation(dependency: &Dependency, packages: &[Manifest]) -> Option<String> {
    let name = &dependency.name;
    let Some(used) = packages.iter().find(|package| package.name == *name) else {
        return Some(format!("the dependency {name} is not in the workspace"));
    };
    if !used.is_published {
        return Some(format!("the dependency {name} is not published"));
    }
    let expected = format!("^{}", used.version);
    (dependency.version != expected).then(|| {
        let found = &dependency.version;
        format!("the dependency {name} has the version `{found}` instead of `{expected}`")
    })
}

/// Returns whether `manifest`, the text of a `Cargo.toml`, is a package without `publish = false`.
pub(super) fn is_publishable(manifest: &str) -> bool {
    let Some((_, package)) = manifest.split_once("[package]\n") else {
        return false;
    };
    let package = package.split("\n[").next().unwrap_or_default();
    !package.lines().any(|line| line.trim() == "publish = false")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str) -> Manifest {
        Manifest {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            is_published: true,
            fields: FIELDS.to_vec(),
            readme: Some("README.md".to_owned()),
            keywords: vec!["agent".to_owned()],
            categories: vec!["development-tools".to_owned()],
            docs_rs: Some(DocsRs {
                is_all_features: true,
                targets: DOCS_TARGETS.map(str::to_owned).to_vec(),
            }),
            ..Manifest::default()
        }
    }

    fn all() -> Vec<Manifest> {
        PUBLISHED.map(package).to_vec()
    }

    fn dependency(name: &str, version: &str, is_dev: bool) -> Dependency {
        Dependency {
            name: name.to_owned(),
            version: version.to_owned(),
            is_dev,
        }
    }

    #[test]
    fn complete_packages_have_no_violations() {
        let mut packages = all();
        packages[0].dependencies = vec![
            dependency("autonoe-core", "^0.1.0", false),
            // Cargo removes it from the package.
            dependency("xtask", "*", true),
        ];
        packages.push(Manifest {
            name: "xtask".to_owned(),
            ..Manifest::default()
        });

        assert_eq!(violations(&packages), Vec::<String>::new());
    }

    #[test]
    fn missing_fields_are_listed() {
        let mut packages = all();
        packages[0] = Manifest {
            name: "autonoe-acp".to_owned(),
            is_published: true,
            fields: vec!["license", "repository", "homepage", "rust_version"],
            readme: Some("../README.md".to_owned()),
            keywords: vec!["an agent".to_owned(), "c++".to_owned()],
            categories: vec!["tools".to_owned()],
            ..Manifest::default()
        };

        assert_eq!(
            violations(&packages),
            [
                "autonoe-acp: `description` is missing",
                "autonoe-acp: `documentation` is missing",
                "autonoe-acp: `readme` is not \"README.md\"",
                "autonoe-acp: the section [package.metadata.docs.rs] is missing",
                "autonoe-acp: the registry does not allow the keyword \"an agent\"",
                "autonoe-acp: the category \"tools\" is not in xtask/src/release/rules.rs",
            ]
        );
    }

    #[test]
    fn docs_rs_builds_all_features_for_the_listed_targets() {
        for (is_all_features, targets, expected) in [
            (false, &DOCS_TARGETS[..], "has no `all-features = true`"),
            (true, &[], "has the targets [] instead of"),
            (
                true,
                &["x86_64-pc-windows-msvc"],
                "instead of [\"x86_64-unknown-linux-gnu\"]",
            ),
        ] {
            let mut packages = all();
            packages[0].docs_rs = Some(DocsRs {
                is_all_features,
                targets: targets.iter().map(|it| (*it).to_owned()).collect(),
            });

            let found = violations(&packages);

            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("autonoe-acp: ") && found[0].contains(expected));
        }
    }

    #[test]
    fn the_list_decides_which_packages_are_published() {
        let mut packages = all();
        packages[0].is_published = false;
        packages[1] = package("autonoe-new");

        assert_eq!(
            violations(&packages),
            [
                "autonoe-backend: there is no such package",
                "autonoe-acp: remove `publish = false`",
                "autonoe-new: set `publish = false`, or add it to the list in \
                 xtask/src/release/rules.rs",
            ]
        );
    }

    #[test]
    fn dependencies_of_a_package_are_published_with_their_version() {
        let mut packages = all();
        packages[0].dependencies = vec![
            dependency("autonoe-core", "*", false),
            dependency("autonoe-mcp", "^0.0.9", true),
            dependency("autonoe-app", "^0.1.0", false),
            dependency("autonoe-old", "^0.1.0", false),
        ];
        packages.push(Manifest {
            name: "autonoe-app".to_owned(),
            ..Manifest::default()
        });

        assert_eq!(
            violations(&packages),
            [
                "autonoe-acp: the dependency autonoe-core has the version `*` instead of `^0.1.0`",
                "autonoe-acp: the dependency autonoe-mcp has the version `^0.0.9` instead of \
                 `^0.1.0`",
                "autonoe-acp: the dependency autonoe-app is not published",
                "autonoe-acp: the dependency autonoe-old is not in the workspace",
            ]
        );
    }

    #[test]
    fn a_package_outside_of_the_workspace_must_not_be_publishable() {
        for (manifest, expected) in [
            ("[workspace]\n", false),
            (
                "[package]\nname = \"a\"\npublish = false\n\n[dependencies]\n",
                false,
            ),
            (
                "[package]\nname = \"a\"\n\n[dependencies]\npublish = false\n",
                true,
            ),
        ] {
            assert_eq!(is_publishable(manifest), expected, "{manifest}");
        }
    }
}
