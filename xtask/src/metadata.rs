//! What `cargo metadata` says about packages.

use serde_json::Value;

use crate::cargo::Cargo;
use crate::failure::Failure;

/// A package, ours or from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    pub(crate) origin: Origin,
    pub(crate) features: Vec<String>,
    /// Names of the packages needed to build its libraries and programs, not
    /// its tests or build script.
    pub(crate) dependencies: Vec<String>,
    pub(crate) examples: Vec<String>,
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A directory of this workspace.
    #[default]
    Workspace,
    /// A registry or a repository.
    Elsewhere,
}

/// Returns our own packages.
pub(crate) fn ours(cargo: &Cargo) -> Result<Vec<Package>, Failure> {
    read(&cargo.read(["metadata", "--no-deps", "--format-version", "1"])?)
}

/// Returns our packages and everything they can ever need.
pub(crate) fn all(cargo: &Cargo) -> Result<Vec<Package>, Failure> {
    read(&cargo.read(["metadata", "--all-features", "--format-version", "1"])?)
}

/// Reads the packages in the output of `cargo metadata`.
fn read(json: &str) -> Result<Vec<Package>, Failure> {
    let metadata: Value = serde_json::from_str(json)
        .map_err(|source| Failure::new(format!("cannot read `cargo metadata`: {source}")))?;
    let packages = metadata["packages"].as_array();
    packages
        .and_then(|packages| packages.iter().map(read_package).collect())
        .ok_or_else(|| Failure::new("`cargo metadata` describes packages in an unknown way"))
}

fn read_package(package: &Value) -> Option<Package> {
    let normal = |dependency: &&Value| dependency["kind"].is_null();
    let example = |target: &&Value| {
        let mut kinds = target["kind"].as_array().into_iter().flatten();
        kinds.any(|kind| kind == "example")
    };
    Some(Package {
        name: text(&package["name"])?,
        version: text(&package["version"])?,
        licence: text(&package["license"]),
        origin: match package["source"] {
            Value::Null => Origin::Workspace,
            _ => Origin::Elsewhere,
        },
        features: package["features"].as_object()?.keys().cloned().collect(),
        dependencies: package["dependencies"]
            .as_array()?
            .iter()
            .filter(normal)
            .map(|dependency| text(&dependency["name"]))
            .collect::<Option<_>>()?,
        examples: package["targets"]
            .as_array()?
            .iter()
            .filter(example)
            .map(|target| text(&target["name"]))
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
    fn what_the_checks_need_is_read() {
        let json = serde_json::json!({"packages": [{
            "name": "autonoe-core",
            "version": "0.1.0",
            "license": "MIT OR Apache-2.0",
            "source": null,
            "features": {"default": [], "extra": ["dep:serde"]},
            "dependencies": [
                {"name": "autonoe-security", "kind": null},
                {"name": "autonoe-testkit", "kind": "dev"},
                {"name": "cc", "kind": "build"},
            ],
            "targets": [
                {"name": "autonoe_core", "kind": ["lib"]},
                {"name": "hello", "kind": ["example"]},
            ],
        }, {
            "name": "serde",
            "version": "1.0.228",
            "license": null,
            "source": "registry+somewhere",
            "features": {},
            "dependencies": [],
            "targets": [],
        }]});

        let packages = read(&json.to_string());

        let core = Package {
            name: "autonoe-core".into(),
            version: "0.1.0".into(),
            licence: Some("MIT OR Apache-2.0".into()),
            origin: Origin::Workspace,
            features: vec!["default".into(), "extra".into()],
            dependencies: vec!["autonoe-security".into()],
            examples: vec!["hello".into()],
        };
        let serde = Package {
            name: "serde".into(),
            version: "1.0.228".into(),
            origin: Origin::Elsewhere,
            ..Package::default()
        };
        assert_eq!(packages, Ok(vec![core, serde]));
    }

    #[test]
    fn an_unknown_shape_is_refused() {
        for json in ["", "{}", r#"{"packages": [{"name": "serde"}]}"#] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
