//! Files and features of a package.

use std::fs;
use std::path::Path;

/// Files that every package contains.
const FILES: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Files that every package has as a copy of the file in the root folder.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Lists the files that are missing in `listed`, the output of `cargo package --list`.
pub(super) fn missing(package: &str, listed: &str) -> Vec<String> {
    FILES
        .iter()
        .filter(|file| !listed.lines().any(|line| line == **file))
        .map(|file| format!("{package}: the package does not contain {file}"))
        .collect()
}

/// Lists the licences in `folder`, the folder of a package, that differ from those in `root`.
///
/// A missing copy is not listed: [`missing`] lists it.
pub(super) fn changed_licences(package: &str, folder: &Path, root: &Path) -> Vec<String> {
    LICENCES
        .iter()
        .filter(|file| {
            let copy = fs::read(folder.join(file)).ok();
            copy.is_some() && copy != fs::read(root.join(file)).ok()
        })
        .map(|file| format!("{package}: {file} differs from the file in the root folder"))
        .collect()
}

/// Lists the features in `manifest`, the text of a `Cargo.toml`, that have no comment above them.
///
/// The feature `default` needs none.
pub(super) fn undocumented_features(package: &str, manifest: &str) -> Vec<String> {
    let Some((_, section)) = manifest.split_once("\n[features]\n") else {
        return Vec::new();
    };
    let section = section.split("\n[").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut previous = "";
    for line in section.lines() {
        let feature = line.split_once(" = [").map(|(name, _)| name);
        if let Some(feature) = feature.filter(|name| *name != "default")
            && !previous.starts_with('#')
            && !line.starts_with('#')
        {
            found.push(format!("{package}: the feature `{feature}` has no comment"));
        }
        previous = line;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_listed() {
        let listed = "Cargo.toml\nLICENSE-MIT\ndocs/README.md\nsrc/lib.rs\n";

        assert_eq!(
            missing("autonoe-core", listed),
            [
                "autonoe-core: the package does not contain LICENSE-APACHE",
                "autonoe-core: the package does not contain README.md",
            ]
        );
    }

    #[test]
    fn changed_licences_are_listed() {
        let root = tempfile::tempdir().unwrap();
        let package = root.path().join("autonoe-core");
        fs::create_dir(&package).unwrap();
        for (path, text) in [
            ("LICENSE-APACHE", "Apache"),
            ("LICENSE-MIT", "MIT"),
            ("autonoe-core/LICENSE-APACHE", "Apache"),
        ] {
            fs::write(root.path().join(path), text).unwrap();
        }
        let changed = || changed_licences("autonoe-core", &package, root.path());

        assert!(changed().is_empty());
        fs::write(package.join("LICENSE-MIT"), "MIT, 2020").unwrap();
        assert_eq!(
            changed(),
            ["autonoe-core: LICENSE-MIT differs from the file in the root folder"]
        );
    }

    #[test]
    fn features_need_a_comment() {
        let manifest = "[package]\n\n[features]\ndefault = [\"a\"]\n# Adds a = [].\na = []\n\
                        b = [\n    \"dep:c\",\n]\n\n[dependencies]\nc = [\"1\"]\n";

        assert_eq!(
            undocumented_features("autonoe-flow", manifest),
            ["autonoe-flow: the feature `b` has no comment"]
        );
        assert!(undocumented_features("autonoe-acp", "[package]\n").is_empty());
    }
}
