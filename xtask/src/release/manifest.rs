//! [`Manifest`]: the fields of a package that the registry shows or requires.

use std::path::PathBuf;

use serde_json::Value;

use crate::cargo::Cargo;
use crate::failure::Failure;

/// A package of the workspace, as `cargo metadata` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(super) version: String,
    /// The path of `Cargo.toml`.
    pub(super) path: PathBuf,
    pub(super) is_published: bool,
    /// The fields with a text that are set, for example `description`.
    pub(super) fields: Vec<&'static str>,
    pub(super) readme: Option<String>,
    pub(super) keywords: Vec<String>,
    pub(super) categories: Vec<String>,
    /// The section `[package.metadata.docs.rs]`, if there is one.
    pub(super) docs_rs: Option<DocsRs>,
    /// Dependencies on packages of this repository.
    pub(super) dependencies: Vec<Dependency>,
}

/// Settings with which docs.rs builds the documentation of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DocsRs {
    /// Whether it shows the API of all features.
    pub(super) is_all_features: bool,
    /// The platforms.
    pub(super) targets: Vec<String>,
}

/// A dependency with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// The required version; `*` if there is none.
    pub(super) version: String,
    /// Whether only tests, examples and benchmarks use it.
    pub(super) is_dev: bool,
}

impl Dependency {
    /// Returns whether the published package has the dependency. Cargo removes dependencies of
    /// tests that have a path and no version.
    pub(super) fn is_packaged(&self) -> bool {
        !self.is_dev || self.version != "*"
    }
}

/// Fields with a text that a published package must have.
pub(super) const FIELDS: [&str; 6] = [
    "description",
    "license",
    "repository",
    "homepage",
    "documentation",
    "rust_version",
];

/// Reads the packages of the workspace.
pub(super) fn read_workspace(cargo: &Cargo) -> Result<Vec<Manifest>, Failure> {
    parse(&cargo.read(["metadata", "--no-deps", "--format-version", "1"])?)
}

fn parse(json: &str) -> Result<Vec<Manifest>, Failure> {
    let metadata: Value = serde_json::from_str(json)
        .map_err(|source| Failure::new(format!("cannot read `cargo metadata`: {source}")))?;
    metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().map(parse_package).collect())
        .ok_or_else(|| Failure::new("`cargo metadata` describes packages in an unknown way"))
}

fn parse_package(package: &Value) -> Option<Manifest> {
    let is_set = |field: &&&str| package[**field].as_str().is_some_and(|it| !it.is_empty());
    Some(Manifest {
        name: text(&package["name"])?,
        version: text(&package["version"])?,
        path: package["manifest_path"].as_str()?.into(),
        // `null` allows every registry; `publish = false` is an empty list.
        is_published: package["publish"]
            .as_array()
            .is_none_or(|registries| !registries.is_empty()),
        fields: FIELDS.iter().filter(is_set).copied().collect(),
        readme: text(&package["readme"]),
        keywords: texts(&package["keywords"])?,
        categories: texts(&package["categories"])?,
        docs_rs: parse_docs_rs(&package["metadata"]["docs"]["rs"]),
        dependencies: package["dependencies"]
            .as_array()?
            .iter()
            .filter(|dependency| dependency["path"].is_string())
            .map(parse_dependency)
            .collect::<Option<_>>()?,
    })
}

fn parse_docs_rs(section: &Value) -> Option<DocsRs> {
    section.is_object().then(|| DocsRs {
        is_all_features: section["all-features"] == true,
        targets: texts(&section["targets"]).unwrap_or_default(),
    })
}

fn parse_dependency(dependency: &Value) -> Option<Dependency> {
    Some(Dependency {
        name: text(&dependency["name"])?,
        version: text(&dependency["req"])?,
        is_dev: dependency["kind"] == "dev",
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_fields_of_a_package() {
        let json = serde_json::json!({"packages": [{
            "name": "autonoe-core",
            "version": "0.1.0",
            "manifest_path": "/src/autonoe-core/Cargo.toml",
            "publish": null,
            "description": "Runs agents",
            "license": "",
            "repository": null,
            "readme": "README.md",
            "keywords": ["agent"],
            "categories": [],
            "metadata": {"docs": {"rs": {"all-features": true, "targets": ["x86_64"]}}},
            "dependencies": [
                {"name": "serde", "req": "^1.0", "kind": null},
                {"name": "autonoe-security", "req": "^0.1.0", "kind": null, "path": "/src/a"},
                {"name": "autonoe-testkit", "req": "*", "kind": "dev", "path": "/src/b"},
            ],
        }]});

        let security = Dependency {
            name: "autonoe-security".into(),
            version: "^0.1.0".into(),
            is_dev: false,
        };
        let testkit = Dependency {
            name: "autonoe-testkit".into(),
            version: "*".into(),
            is_dev: true,
        };
        assert!(security.is_packaged() && !testkit.is_packaged());
        let core = Manifest {
            name: "autonoe-core".into(),
            version: "0.1.0".into(),
            path: "/src/autonoe-core/Cargo.toml".into(),
            is_published: true,
            fields: vec!["description"],
            readme: Some("README.md".into()),
            keywords: vec!["agent".into()],
            categories: Vec::new(),
            docs_rs: Some(DocsRs {
                is_all_features: true,
                targets: vec!["x86_64".into()],
            }),
            dependencies: vec![security, testkit],
        };
        assert_eq!(parse(&json.to_string()), Ok(vec![core]));
    }

    #[test]
    fn refuses_unknown_metadata() {
        for json in ["", "{}", r#"{"packages": [{"name": "serde"}]}"#] {
            assert!(parse(json).is_err(), "{json}");
        }
    }
}
