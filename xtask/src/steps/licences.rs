//! Nothing we use has a licence that `deny.toml` does not allow.

use std::collections::BTreeSet;
use std::fs;

use crate::allow_list;
use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::metadata::{self, Origin, Package};
use crate::spdx;

/// Asks cargo-deny, or reads the licences itself where it is not installed.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    if cargo.has("deny") {
        return cargo.run(["deny", "check", "licenses", "bans", "sources"]);
    }

    println!("cargo-deny is not installed: checking licences only");
    let deny_toml = fs::read_to_string(cargo.root().join("deny.toml"))
        .map_err(|source| Failure::new(format!("cannot read deny.toml: {source}")))?;
    let allowed = allow_list::read(&deny_toml)?;
    let packages = metadata::all(cargo)?;
    let others = packages
        .iter()
        .filter(|package| package.origin == Origin::Elsewhere);
    println!("third-party packages: {}", others.count());
    Failure::unless_empty(
        "packages without an allowed licence",
        &objections(&packages, &allowed),
    )
}

/// Lists the packages of others that may not be used, with the reason.
fn objections(packages: &[Package], allowed: &BTreeSet<String>) -> Vec<String> {
    packages
        .iter()
        .filter(|package| package.origin == Origin::Elsewhere)
        .filter_map(|package| {
            let reason = objection(package.licence.as_deref(), allowed)?;
            Some(format!("{} v{}: {reason}", package.name, package.version))
        })
        .collect()
}

fn objection(licence: Option<&str>, allowed: &BTreeSet<String>) -> Option<String> {
    let Some(expression) = licence else {
        return Some("states no licence".to_owned());
    };
    match spdx::is_satisfied(expression, allowed) {
        Ok(true) => None,
        Ok(false) => Some(expression.to_owned()),
        Err(failure) => Some(failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: Option<&str>, origin: Origin) -> Package {
        Package {
            name: name.into(),
            version: "1.0.0".into(),
            licence: licence.map(Into::into),
            origin,
            ..Package::default()
        }
    }

    #[test]
    fn a_package_is_refused_with_the_reason() {
        let packages = [
            package("fine", Some("MIT OR GPL-3.0-only"), Origin::Elsewhere),
            package("copyleft", Some("GPL-3.0-only"), Origin::Elsewhere),
            package("silent", None, Origin::Elsewhere),
            package("odd", Some("MIT OR"), Origin::Elsewhere),
            package("ours", None, Origin::Workspace),
        ];

        let objections = objections(&packages, &BTreeSet::from(["MIT".to_owned()]));

        assert_eq!(
            objections,
            [
                "copyleft v1.0.0: GPL-3.0-only",
                "silent v1.0.0: states no licence",
                "odd v1.0.0: cannot read the licence expression `MIT OR`",
            ]
        );
    }
}
