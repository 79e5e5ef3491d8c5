//! Checks of the packages that a release publishes: `cargo xtask release --check`.
//!
//! [`check_packages`] is fast and part of `cargo xtask test`. [`check`] also builds each crate from
//! its package, and a program that depends on the packages.

mod archive;
mod consumer;
mod manifest;
mod order;
mod package_files;
mod readme;
mod rules;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use self::manifest::Manifest;
use crate::api;
use crate::args::ApiMode;
use crate::cargo::{self, Cargo};
use crate::chores;
use crate::deny;
use crate::failure::Failure;
use crate::git;
use crate::temporal;

/// Checks and builds everything that a release publishes.
pub(crate) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let order = check_packages(cargo)?;
    // Fails with another Rust release than that of the listings, instead of skipping them.
    api::run(cargo, ApiMode::Check, &[])?;
    chores::check_schemas(cargo)?;
    deny::check(cargo)?;
    deny::check_manifest(cargo, temporal::MANIFEST)?;
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
        found.extend(package_files::undocumented_features(
            &manifest.name,
            &read(&manifest.path)?,
        ));
        let text = read(&manifest.path.with_file_name("README.md"))?;
        found.extend(readme::violations(&manifest.name, &text, &sources));
    }
    Failure::unless_empty("the packages are not ready to be published", &found)?;

    let order = order::publish_order(&manifests)?;
    let page = read(&cargo.root().join("docs/releasing.md"))?;
    let found = order::undocumented_order(&order, &page);
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
