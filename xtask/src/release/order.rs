//! The order in which packages are published.

use super::manifest::Manifest;
use crate::failure::Failure;

/// Returns the published packages, each after the packages that it depends on.
///
/// Packages that could be published at the same time are in alphabetical order.
pub(super) fn publish_order(packages: &[Manifest]) -> Result<Vec<Manifest>, Failure> {
    let mut waiting: Vec<_> = packages.iter().filter(|it| it.is_published).collect();
    waiting.sort_by_key(|package| &package.name);
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|package| {
            let mut needed = package.dependencies.iter().filter(|it| it.is_packaged());
            needed.all(|needed| !waiting.iter().any(|other| other.name == needed.name))
        });
        let Some(ready) = ready else {
            let names: Vec<_> = waiting.iter().map(|it| it.name.clone()).collect();
            return Failure::unless_empty("these packages depend on each other", &names)
                .map(|()| order);
        };
        order.push(waiting.remove(ready).clone());
    }
    Ok(order)
}

/// Lists where `page`, the text of docs/releasing.md, publishes in another order than `order`.
pub(super) fn undocumented_order(order: &[Manifest], page: &str) -> Vec<String> {
    let commands = page.lines().map(str::trim);
    let documented: Vec<_> = commands
        .filter_map(|line| line.strip_prefix("$ cargo publish --locked --package "))
        .collect();
    let computed: Vec<_> = order.iter().map(|package| package.name.as_str()).collect();
    if documented == computed {
        return Vec::new();
    }
    vec![format!(
        "docs/releasing.md publishes {}, but the order is {}",
        documented.join(", "),
        computed.join(", ")
    )]
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Dependency;
    use super::*;

    fn package(name: &str, dependencies: &[(&str, &str)]) -> Manifest {
        Manifest {
            name: name.to_owned(),
            is_published: true,
            dependencies: dependencies
                .iter()
                .map(|(name, version)| Dependency {
                    name: (*name).to_owned(),
                    version: (*version).to_owned(),
                    is_dev: true,
                })
                .collect(),
            ..Manifest::default()
        }
    }

    fn names(order: &[Manifest]) -> Vec<&str> {
        order.iter().map(|package| package.name.as_str()).collect()
    }

    #[test]
    fn a_package_comes_after_its_dependencies() {
        let mut internal = package("app", &[("claude", "^0.1.0")]);
        internal.is_published = false;
        let packages = [
            package("claude", &[("core", "^0.1.0"), ("testkit", "^0.1.0")]),
            // Without a version, the test dependency is not part of the package.
            package("core", &[("security", "^0.1.0"), ("testkit", "*")]),
            package("testkit", &[("core", "^0.1.0")]),
            package("security", &[]),
            internal,
        ];

        let order = publish_order(&packages).unwrap();

        assert_eq!(names(&order), ["security", "core", "testkit", "claude"]);
    }

    #[test]
    fn the_page_has_the_computed_order() {
        let order = [package("security", &[]), package("core", &[])];
        let page = |names: [&str; 2]| {
            let commands = names.map(|name| format!("$ cargo publish --locked --package {name}"));
            format!("$ cargo login\n{}\n$ cargo logout\n", commands.join("\n"))
        };

        assert!(undocumented_order(&order, &page(["security", "core"])).is_empty());
        assert_eq!(
            undocumented_order(&order, &page(["core", "security"])),
            ["docs/releasing.md publishes core, security, but the order is security, core"]
        );
        assert_eq!(undocumented_order(&order, "").len(), 1);
    }

    #[test]
    fn a_cycle_is_refused() {
        let packages = [
            package("core", &[("testkit", "^0.1.0")]),
            package("security", &[]),
            package("testkit", &[("core", "^0.1.0")]),
        ];

        assert_eq!(
            publish_order(&packages),
            Err(Failure::new(
                "these packages depend on each other:\n  core\n  testkit"
            ))
        );
    }
}
