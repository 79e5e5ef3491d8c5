//! Which versions of which CLIs, and what their packages are.

use std::fmt;

use serde_json::{Value, json};

use crate::failure::Failure;

/// One version of a CLI for this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    /// The package in the npm registry.
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    /// The hash of the package, which npm compares.
    integrity: &'static str,
}

const X64: &str = "@anthropic-ai/claude-code-linux-x64";
const ARM64: &str = "@anthropic-ai/claude-code-linux-arm64";

const PINS: [Pin; 4] = [
    Pin {
        package: X64,
        version: "2.1.197",
        integrity: "sha512-rIlKmrY0QMyHgPRX/MYWNj039vbypICvI9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg==",
    },
    Pin {
        package: X64,
        version: "2.1.325",
        integrity: "sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==",
    },
    Pin {
        package: ARM64,
        version: "2.1.197",
        integrity: "sha512-sx6SoGj3MNR5CV+YDkNtbLHXa1tn3G8qcYFgm1gnvOi9ODQUKbhiPfankJfkTMDVekOvnKJhm6i9hGFIPzp7cQ==",
    },
    Pin {
        package: ARM64,
        version: "2.1.325",
        integrity: "sha512-NCvQcOxr685Y4mkYUjQT8l/Ouzw0k2xWloWeyzfsUtWiOedHosPkaW6XCSpzAl1dMuvDNBF97qpWgVDrSdK2Vw==",
    },
];

/// Returns the pinned CLIs for a system.
pub(super) fn of(os: &str, arch: &str) -> Result<Vec<Pin>, Failure> {
    let package = match (os, arch) {
        ("linux", "x86_64") => X64,
        ("linux", "aarch64") => ARM64,
        _ => {
            return Err(Failure::new(format!(
                "the pinned CLIs are for Linux on x86_64 and aarch64, and this is {os} on {arch}"
            )));
        }
    };
    let pins = PINS.into_iter().filter(|pin| pin.package == package);
    Ok(pins.collect())
}

impl Pin {
    /// Returns the name of its folder, where tests look for it.
    pub(super) fn folder(&self) -> String {
        format!("claude-code-{}", self.version)
    }

    /// Returns what it prints when it is asked for its version.
    pub(super) fn version_line(&self) -> String {
        format!("{} (Claude Code)", self.version)
    }

    /// Returns the `package.json` that asks npm for it.
    pub(super) fn manifest(&self) -> Value {
        json!({
            "name": "clis",
            "private": true,
            "dependencies": {self.package: self.version},
        })
    }

    /// Returns the `package-lock.json` by which npm accepts this package and no other.
    pub(super) fn lock_file(&self) -> Value {
        let place = format!("node_modules/{}", self.package);
        json!({
            "name": "clis",
            "lockfileVersion": 3,
            "requires": true,
            "packages": {
                "": self.manifest(),
                place: {"version": self.version, "integrity": self.integrity},
            },
        })
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.package, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_system_gets_the_same_versions() {
        for (arch, package) in [("x86_64", X64), ("aarch64", ARM64)] {
            let pins = of("linux", arch).unwrap();

            let versions: Vec<_> = pins.iter().map(|pin| pin.version).collect();
            assert_eq!(versions, ["2.1.197", "2.1.325"]);
            assert!(pins.iter().all(|pin| pin.package == package));
        }
    }

    #[test]
    fn an_unknown_system_is_told() {
        let sentence = "the pinned CLIs are for Linux on x86_64 and aarch64, \
                        and this is macos on aarch64";

        assert_eq!(of("macos", "aarch64"), Err(Failure::new(sentence)));
    }

    #[test]
    fn npm_is_bound_to_version_and_hash() {
        let pin = of("linux", "x86_64").unwrap()[0];

        let locked = &pin.lock_file()["packages"][format!("node_modules/{X64}")];

        assert_eq!(locked["version"], "2.1.197");
        assert_eq!(locked["integrity"], pin.integrity);
        assert_eq!(pin.manifest()["dependencies"][X64], "2.1.197");
    }
}
