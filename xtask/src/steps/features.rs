//! Compiles every published crate that has features without them and with each feature alone.
//!
//! The other steps build the whole workspace with all features, so that combination is not repeated
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use serde_json::Value;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::metadata::{self, Package};

/// A set of features of one crate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Selection {
    package: String,
    /// Without `default`, which has no code of its own.
    enabled: BTreeSet<String>,
    /// The feature that enables the others, none for a crate without features.
    feature: Option<String>,
}

/// Compiles several crates at a time, each with one of its sets of features.
///
/// Crates that are compiled together share their dependencies, which saves most of the time. If one
/// of them gets features from another one, it is compiled again, alone.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for round in rounds(&selections(cargo)?) {
        match check_together(cargo, &round) {
            Ok(alone) => failed.extend(check_each(cargo, &alone)),
            Err(failure) => failed.push(failure.to_string()),
        }
    }
    Failure::unless_empty("some combinations of features do not compile", &failed)
}

/// Compiles each crate with each of its sets of features on its own, as a program outside the
/// workspace does: a feature of a third-party crate that only another crate of ours enables is
/// missing.
pub(crate) fn check_alone(cargo: &Cargo) -> Result<(), Failure> {
    let failed = check_each(cargo, &selections(cargo)?);
    Failure::unless_empty("some combinations of features do not compile", &failed)
}

fn check_each(cargo: &Cargo, selections: &[Selection]) -> Vec<String> {
    let checks = selections
        .iter()
        .map(|selection| compile(cargo, std::slice::from_ref(selection)));
    let failed = checks.filter_map(Result::err);
    failed.map(|failure| failure.to_string()).collect()
}

/// Compiles different crates, and returns the ones that had other features than selected.
fn check_together(cargo: &Cargo, selections: &[Selection]) -> Result<Vec<Selection>, Failure> {
    let compiled = compiled_features(&compile(cargo, selections)?);
    let differs = |selection: &&Selection| {
        let enabled = compiled.get(&selection.package);
        enabled != Some(&selection.enabled)
    };
    Ok(selections.iter().filter(differs).cloned().collect())
}

/// Compiles different crates, and returns the messages of cargo. Warnings are failures.
fn compile(cargo: &Cargo, selections: &[Selection]) -> Result<String, Failure> {
    let mut check = cargo.command(arguments(selections));
    check.arg("--message-format=json");
    cargo::announce(&check);
    let output = check.stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| cargo::cannot_start(&check, &source))?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    Failure::unless_empty("the compiler complains", &diagnostics(&messages))?;
    cargo::succeeded(&check, output.status)?;
    Ok(messages)
}

/// Returns the errors and warnings of the compiler, as it shows them.
fn diagnostics(messages: &str) -> Vec<String> {
    let messages = messages.lines().map(serde_json::from_str::<Value>);
    let compiler = messages
        .flatten()
        .filter(|message| message["reason"] == "compiler-message");
    let rendered = compiler.filter_map(|message| {
        let rendered = message["message"]["rendered"].as_str()?;
        Some(rendered.to_owned())
    });
    rendered.collect()
}

/// Returns the arguments of cargo that compile `selections`.
fn arguments(selections: &[Selection]) -> Vec<String> {
    let mut arguments = vec!["check".to_owned(), "--quiet".to_owned()];
    for selection in selections {
        arguments.extend(["-p".to_owned(), selection.package.clone()]);
    }
    arguments.push("--no-default-features".to_owned());
    let features: Vec<_> = selections
        .iter()
        .filter_map(|selection| {
            let feature = selection.feature.as_ref()?;
            Some(format!("{}/{feature}", selection.package))
        })
        .collect();
    if !features.is_empty() {
        arguments.extend(["--features".to_owned(), features.join(",")]);
    }
    arguments
}

/// Reads the features of each library of ours that cargo has compiled.
fn compiled_features(messages: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut compiled = BTreeMap::new();
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let name = message["target"]["name"].as_str();
        let features = message["features"].as_array();
        if let (Some(name), Some(features)) = (name, features)
            && message["target"]["kind"] == serde_json::json!(["lib"])
        {
            let features = features
                .iter()
                .filter_map(Value::as_str)
                .filter(|feature| *feature != "default")
                .map(str::to_owned)
                .collect();
            compiled.insert(name.replace('_', "-"), features);
        }
    }
    compiled
}

/// Distributes the selections to rounds, each with at most one of every crate.
fn rounds(selections: &[Selection]) -> Vec<Vec<Selection>> {
    let mut rounds: Vec<Vec<Selection>> = Vec::new();
    for selection in selections {
        let is_free = |round: &&mut Vec<Selection>| {
            let mut others = round.iter();
            others.all(|other| other.package != selection.package)
        };
        match rounds.iter_mut().find(is_free) {
            Some(round) => round.push(selection.clone()),
            None => rounds.push(vec![selection.clone()]),
        }
    }
    rounds
}

/// Returns the sets of features of all published crates that have features.
fn selections(cargo: &Cargo) -> Result<Vec<Selection>, Failure> {
    let packages = metadata::workspace_packages(cargo)?;
    let published = packages.iter().filter(|package| package.is_published);
    let with_features = published.filter(|package| !package.features.is_empty());
    Ok(with_features.flat_map(selections_of).collect())
}

/// Returns each distinct set of features of a crate: none, and each feature alone.
fn selections_of(package: &Package) -> Vec<Selection> {
    let selection = |enabled, feature| Selection {
        package: package.name.clone(),
        enabled,
        feature,
    };
    let mut seen = BTreeSet::from([BTreeSet::new()]);
    let mut selections = vec![selection(BTreeSet::new(), None)];
    for feature in package.features.keys() {
        let enabled = enabled_by(feature, &package.features);
        if seen.insert(enabled.clone()) {
            selections.push(selection(enabled, Some(feature.clone())));
        }
    }
    selections
}

/// Returns the features of the crate that `feature` switches on, itself included.
fn enabled_by(feature: &str, features: &BTreeMap<String, Vec<String>>) -> BTreeSet<String> {
    let mut enabled = BTreeSet::new();
    let mut pending = vec![feature];
    while let Some(feature) = pending.pop() {
        // Entries such as `dep:serde` and `tokio/net` are not features of the crate.
        if let Some(implied) = features.get(feature)
            && enabled.insert(feature.to_owned())
        {
            pending.extend(implied.iter().map(String::as_str));
        }
    }
    enabled.remove("default");
    enabled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, features: &[(&str, &[&str])]) -> Package {
        let owned = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect();
        let features = features
            .iter()
            .map(|(name, implied)| ((*name).to_owned(), owned(implied)));
        Package {
            name: name.to_owned(),
            features: features.collect(),
            ..Package::default()
        }
    }

    /// Returns the arguments for each set of features.
    fn selected(features: &[(&str, &[&str])]) -> Vec<String> {
        selections_of(&package("a", features))
            .into_iter()
            .map(|selection| arguments(&[selection])[2..].join(" "))
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
                "-p a --no-default-features",
                "-p a --no-default-features --features a/schemars",
                "-p a --no-default-features --features a/serde",
            ]
        );
    }

    #[test]
    fn tries_the_same_features_once() {
        let found = selected(&[("default", &["project"]), ("project", &[])]);

        assert_eq!(
            found,
            [
                "-p a --no-default-features",
                "-p a --no-default-features --features a/default",
            ]
        );
        assert_eq!(
            selected(&[("default", &[])]),
            ["-p a --no-default-features"]
        );
    }

    #[test]
    fn a_round_has_a_crate_once() {
        let mut all = selections_of(&package("a", &[("x", &[])]));
        all.extend(selections_of(&package("b", &[("y", &[]), ("z", &[])])));

        let lines: Vec<_> = rounds(&all)
            .iter()
            .map(|round| arguments(round)[2..].join(" "))
            .collect();

        assert_eq!(
            lines,
            [
                "-p a -p b --no-default-features",
                "-p a -p b --no-default-features --features a/x,b/y",
                "-p b --no-default-features --features b/z",
            ]
        );
    }

    #[test]
    fn finds_the_diagnostics_of_the_compiler() {
        let messages = r#"
{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: unused import\n"}}
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"autonoe_core"},"features":[]}
{"reason":"build-finished","success":true}
"#;

        assert_eq!(diagnostics(messages), ["warning: unused import\n"]);
    }

    #[test]
    fn reads_the_features_that_crates_were_compiled_with() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"autonoe_core"},"features":["default","project"]}
{"reason":"compiler-artifact","target":{"kind":["custom-build"],"name":"build-script-build"},"features":["x"]}
{"reason":"build-finished","success":true}
"#;

        let project = BTreeSet::from(["project".to_owned()]);
        let expected = BTreeMap::from([("autonoe-core".to_owned(), project)]);
        assert_eq!(compiled_features(messages), expected);
    }
}
