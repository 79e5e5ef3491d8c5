//! Checks and order of the packages that a release publishes: `cargo xtask release --check`.

mod archive;
mod consumer;
mod manifest;
mod package_files;
mod readme;
mod rules;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use self::manifest::Manifest;
use crate::args::ApiMode;
use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::{api, chores, deny, git};

/// Checks and builds everything that a release publishes.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let order = check_packages(cargo)?;
    // Fails with another Rust release than that of the listings, instead of skipping them.
    api::run(cargo, ApiMode::Check, &[])?;
    chores::check_schemas(cargo)?;
    chores::check_fixtures(cargo)?;
    deny::check(cargo)?;
    archive::check(cargo)?;
    // The program of `consumer::check` builds packages with their default features.
    let mut package = cargo.command(["package", "--locked", "--all-features"]);
    for manifest in &order {
        package.args(["--package", &manifest.name]);
    }
    // Cargo orders the packages itself and builds each one against the packages before it.
    cargo::run(package)?;
    consumer::check(cargo, &order)?;
    print_order(&order);
    Ok(())
}

/// Checks metadata, files and dependencies of the packages. Returns the published packages in
/// dependency order.
pub(crate) fn check_packages(cargo: &Cargo) -> Result<Vec<Manifest>, Failure> {
    let manifests = manifest::read_workspace(cargo)?;
    let mut found = rules::violations(&manifests);
    found.extend(separate_manifests(cargo.root(), &manifests)?);
    let published: Vec<_> = manifests.iter().filter(|it| it.is_published).collect();
    let sources = compiled_sources(cargo.root())?;
    for manifest in &published {
        let listed = ["package", "--list", "--allow-dirty", "--package"];
        let listed = cargo.read(listed.into_iter().chain([manifest.name.as_str()]))?;
        found.extend(package_files::missing(&manifest.name, &listed));
        let folder = manifest.path.parent().unwrap_or(cargo.root());
        found.extend(package_files::changed_licences(
            &manifest.name,
            folder,
            cargo.root(),
        ));
        found.extend(package_files::undocumented_features(
            &manifest.name,
            &read(&manifest.path)?,
        ));
        let text = read(&manifest.path.with_file_name("README.md"))?;
        found.extend(readme::violations(&manifest.name, &text, &sources));
    }
    Failure::unless_empty("the packages are not ready to be published", &found)?;

    let order = publish_order(&manifests)?;
    let page = read(&cargo.root().join("docs/releasing.md"))?;
    let found = undocumented_order(&order, &page);
    Failure::unless_empty("the documented order is wrong", &found)?;
    println!("{} packages can be published", order.len());
    Ok(order)
}

/// Prints the commands that publish the packages.
fn print_order(order: &[Manifest]) {
    println!("\nEvery check has passed. To publish the packages in this order:\n");
    for manifest in order {
        println!("cargo publish --locked --package {}", manifest.name);
    }
}

/// Lists the packages of other workspaces in this repository that could be published by mistake.
fn separate_manifests(root: &Path, workspace: &[Manifest]) -> Result<Vec<String>, Failure> {
    let members: BTreeSet<_> = workspace.iter().map(|it| it.path.as_path()).collect();
    let mut found = Vec::new();
    for file in git::tracked_files(root, "*Cargo.toml")? {
        let path = root.join(&file);
        if !members.contains(path.as_path()) && rules::is_publishable(&read(&path)?) {
            found.push(format!("{}: set `publish = false`", file.display()));
        }
    }
    Ok(found)
}

/// Returns the texts whose code the tests compile: guides, examples and the sources of the crates.
fn compiled_sources(root: &Path) -> Result<Vec<String>, Failure> {
    let mut sources = Vec::new();
    for pattern in ["docs/guides/*.md", "examples/*.rs", "autonoe-*/*.rs"] {
        for file in git::tracked_files(root, pattern)? {
            sources.push(readme::normalize(&read(&root.join(file))?));
        }
    }
    Ok(sources)
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|source| Failure::new(format!("cannot read {}: {source}", path.display())))
}

/// Returns the published packages, each after the packages that it depends on.
///
/// Packages that could be published at the same time are in alphabetical order.
fn publish_order(packages: &[Manifest]) -> Result<Vec<Manifest>, Failure> {
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
fn undocumented_order(order: &[Manifest], page: &str) -> Vec<String> {
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
    use super::manifest::Dependency;
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
