//! Compiles every published crate that has features on its own, with each of them.
//!
//! The other steps build the whole workspace, where a crate can use a feature of a dependency that
//! only another crate asks for. They also build with all features, so that combination is not
//! repeated here. `cargo xtask release --check` builds the crates without features on their own,
//! from their packages.

use std::collections::{BTreeMap, BTreeSet};

use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::metadata;

/// Compiles each published crate that has features without them and with each feature alone.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let mut failed = Vec::new();
    let packages = metadata::workspace_packages(cargo)?;
    let published = packages.iter().filter(|package| package.is_published);
    for package in published.filter(|package| !package.features.is_empty()) {
        for features in selections(&package.features) {
            let args = ["check", "--quiet", "-p", &package.name];
            let features = features.iter().map(String::as_str);
            if let Err(failure) = cargo.run(args.into_iter().chain(features)) {
                failed.push(failure.to_string());
            }
        }
    }
    Failure::unless_empty("some combinations of features do not compile", &failed)
}

/// Returns the arguments for each distinct set of features.
fn selections(features: &BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let mut seen = BTreeSet::from([BTreeSet::new()]);
    let mut selections = vec![vec!["--no-default-features".to_owned()]];
    for feature in features.keys() {
        if seen.insert(enabled_by(feature, features)) {
            let selection = ["--no-default-features", "--features", feature];
            selections.push(selection.map(str::to_owned).to_vec());
        }
    }
    selections
}

/// Returns the features of the crate that `feature` switches on, itself included.
fn enabled_by<'a>(
    feature: &'a str,
    features: &'a BTreeMap<String, Vec<String>>,
) -> BTreeSet<&'a str> {
    let mut enabled = BTreeSet::new();
    let mut pending = vec![feature];
    while let Some(feature) = pending.pop() {
        // Entries such as `dep:serde` and `tokio/net` are not features of the crate.
        if let Some(implied) = features.get(feature)
            && enabled.insert(feature)
        {
            pending.extend(implied.iter().map(String::as_str));
        }
    }
    // `default` has no code of its own.
    enabled.remove("default");
    enabled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(features: &[(&str, &[&str])]) -> Vec<String> {
        let owned = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect();
        let features = features
            .iter()
            .map(|(name, implied)| ((*name).to_owned(), owned(implied)))
            .collect();
        selections(&features)
            .iter()
            .map(|words| words.join(" "))
            .collect()
    }

    #[test]
    fn tries_each_feature_alone() {
        let found = selected(&[
            ("schemars", &["serde", "dep:schemars"]),
            ("serde", &["dep:serde"]),
        ]);

        assert_eq!(
            found,
            [
                "--no-default-features",
                "--no-default-features --features schemars",
                "--no-default-features --features serde",
            ]
        );
    }

    #[test]
    fn tries_the_same_features_once() {
        let found = selected(&[("default", &["project"]), ("project", &[])]);

        assert_eq!(
            found,
            [
                "--no-default-features",
                "--no-default-features --features default",
            ]
        );
        assert_eq!(selected(&[("default", &[])]), ["--no-default-features"]);
    }
}
