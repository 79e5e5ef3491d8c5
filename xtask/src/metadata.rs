//! Packages of the workspace, read from `cargo metadata`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::cargo::Cargo;
use crate::failure::Failure;

/// A package of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Whether it goes to the registry.
    pub(crate) is_published: bool,
    /// The name of its library in Rust code.
    pub(crate) library: Option<String>,
    /// Each feature with what it switches on.
    pub(crate) features: BTreeMap<String, Vec<String>>,
    /// Names of the packages needed to build its libraries and programs, not
    /// its tests or build script.
    pub(crate) dependencies: Vec<String>,
}

/// Returns our own packages.
pub(crate) fn workspace_packages(cargo: &Cargo) -> Result<Vec<Package>, Failure> {
    read(&cargo.read(["metadata", "--no-deps", "--format-version", "1"])?)
}

/// Returns the directory of what cargo builds.
pub(crate) fn target_dir(cargo: &Cargo) -> Result<PathBuf, Failure> {
    let json = cargo.read(["metadata", "--no-deps", "--format-version", "1"])?;
    parse(&json)?["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| Failure::new("`cargo metadata` reports no target directory"))
}

/// Reads the packages in the output of `cargo metadata`.
fn read(json: &str) -> Result<Vec<Package>, Failure> {
    let metadata = parse(json)?;
    let packages = metadata["packages"].as_array();
    packages
        .and_then(|packages| packages.iter().map(read_package).collect())
        .ok_or_else(|| Failure::new("cannot parse the packages of `cargo metadata`"))
}

fn parse(json: &str) -> Result<Value, Failure> {
    serde_json::from_str(json)
        .map_err(|source| Failure::new(format!("cannot read `cargo metadata`: {source}")))
}

fn read_package(package: &Value) -> Option<Package> {
    let normal = |dependency: &&Value| dependency["kind"].is_null();
    Some(Package {
        name: text(&package["name"])?,
        // A list of allowed registries, `null` for all; `publish = false` is an empty list.
        is_published: package["publish"]
            .as_array()
            .is_none_or(|registries| !registries.is_empty()),
        library: package["targets"]
            .as_array()?
            .iter()
            .find(|target| target["kind"] == serde_json::json!(["lib"]))
            .and_then(|target| text(&target["name"])),
        features: package["features"]
            .as_object()?
            .iter()
            .map(|(name, implied)| {
                let implied = implied
                    .as_array()?
                    .iter()
                    .map(text)
                    .collect::<Option<_>>()?;
                Some((name.clone(), implied))
            })
            .collect::<Option<_>>()?,
        dependencies: package["dependencies"]
            .as_array()?
            .iter()
            .filter(normal)
            .map(|dependency| text(&dependency["name"]))
            .collect::<Option<_>>()?,
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_needed_by_checks() {
        let json = serde_json::json!({"packages": [{
            "name": "autonoe-core",
            "publish": null,
            "targets": [
                {"kind": ["test"], "name": "all"},
                {"kind": ["lib"], "name": "autonoe_core"},
            ],
            "features": {"default": [], "extra": ["dep:serde"]},
            "dependencies": [
                {"name": "autonoe-security", "kind": null},
                {"name": "autonoe-testkit", "kind": "dev"},
                {"name": "cc", "kind": "build"},
            ],
        }, {
            "name": "xtask",
            "publish": [],
            "targets": [{"kind": ["bin"], "name": "xtask"}],
            "features": {},
            "dependencies": [],
        }]});

        let packages = read(&json.to_string());

        let core = Package {
            name: "autonoe-core".into(),
            is_published: true,
            library: Some("autonoe_core".into()),
            features: BTreeMap::from([
                ("default".into(), Vec::new()),
                ("extra".into(), vec!["dep:serde".into()]),
            ]),
            dependencies: vec!["autonoe-security".into()],
        };
        let xtask = Package {
            name: "xtask".into(),
            ..Package::default()
        };
        assert_eq!(packages, Ok(vec![core, xtask]));
    }

    #[test]
    fn an_unknown_shape_is_refused() {
        for json in ["", "{}", r#"{"packages": [{"name": "serde"}]}"#] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
