//! The installed package of Gemini CLI, read without starting the program.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The version of Gemini CLI that Autonoe is tested with.
pub(crate) const TESTED_VERSION: &str = "0.61.0";

/// Name of the package in the npm registry.
const PACKAGE: &str = "@google/gemini-cli";

/// The fields of `package.json` that are read.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
}

/// Returns whether `script` belongs to an installed package of the tested version.
///
/// Starting Gemini CLI takes seconds. A probe of the tested version therefore uses the answer that
/// was recorded from it.
pub(crate) fn is_tested_version(script: &OsStr) -> bool {
    let version = installed_version(Path::new(script));
    version.is_some_and(|version| version == TESTED_VERSION)
}

/// Returns the version of the package that has `script`, at its root or in a directory of it.
fn installed_version(script: &Path) -> Option<String> {
    let script = script.canonicalize().ok().filter(|path| path.is_file())?;
    let manifests = script.ancestors().skip(1).take(2);
    manifests
        .filter_map(|directory| fs::read(directory.join("package.json")).ok())
        .filter_map(|text| serde_json::from_slice::<Manifest>(&text).ok())
        .find(|manifest| manifest.name == PACKAGE)
        .map(|manifest| manifest.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_package_around_the_script() {
        let folder = tempfile::tempdir().expect("a folder");
        let bundle = folder.path().join("bundle");
        let script = bundle.join("gemini.js");
        fs::create_dir(&bundle).expect("writable");
        fs::write(&script, "").expect("writable");
        let manifest = |text: &str| fs::write(folder.path().join("package.json"), text);

        assert_eq!(installed_version(&script), None);
        for (text, version) in [
            (
                r#"{"name": "@google/gemini-cli", "version": "0.61.0"}"#,
                Some("0.61.0"),
            ),
            (r#"{"name": "gemini", "version": "0.61.0"}"#, None),
            (r#"{"name": "@google/gemini-cli"}"#, None),
            ("not JSON", None),
        ] {
            manifest(text).expect("writable");

            assert_eq!(installed_version(&script).as_deref(), version, "{text}");
        }
        assert_eq!(installed_version(&bundle.join("other.js")), None);
    }

    #[test]
    fn only_the_tested_version_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("gemini.js");
        fs::write(&script, "").expect("writable");
        for (version, expected) in [(TESTED_VERSION, true), ("0.61.1", false)] {
            let text = format!(r#"{{"name": "{PACKAGE}", "version": "{version}"}}"#);
            fs::write(folder.path().join("package.json"), text).expect("writable");

            assert_eq!(is_tested_version(script.as_os_str()), expected, "{version}");
        }
    }
}
