//! Pinned versions of the CLIs and their packages.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// One version of a program for this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    /// The package in the npm registry.
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    /// The hash of the package, which npm compares.
    integrity: &'static str,
    /// The packages that it needs beside itself.
    needs: &'static [Needed],
    kind: Kind,
}

/// A package that another one needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needed {
    package: &'static str,
    version: &'static str,
    integrity: &'static str,
}

/// Kind of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Claude Code: one binary in one package.
    ClaudeCode,
    /// The Playwright MCP server: a script for Node.js and what it needs.
    PlaywrightMcp,
    /// Codex: binaries in one package, whose version names the system.
    Codex {
        version: &'static str,
        /// The folder of the system.
        system: &'static str,
    },
    /// Gemini CLI: one bundled script for Node.js.
    GeminiCli,
    /// The official checks of MCP servers: a script for Node.js and what it needs, which is much.
    McpConformance,
}

/// The packages of the official checks of MCP servers, as a lock file has them. Version 0.1.13 is
/// the last one for Node.js 20.
const MCP_CONFORMANCE_PACKAGES: &str = include_str!("mcp_conformance_packages.json");

const X64: &str = "@anthropic-ai/claude-code-linux-x64";
const ARM64: &str = "@anthropic-ai/claude-code-linux-arm64";
const PLAYWRIGHT: &str = "@playwright/mcp";
const CODEX: &str = "@openai/codex";
const GEMINI: &str = "@google/gemini-cli";
const MCP_CONFORMANCE: &str = "@modelcontextprotocol/conformance";

const PINS: [Pin; 9] = [
    Pin {
        package: X64,
        version: "2.1.197",
        integrity: "sha512-rIlKmrY0QMyHgPRX/MYWNj039vbypICvI9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg==",
        needs: &[],
        kind: Kind::ClaudeCode,
    },
    Pin {
        package: X64,
        version: "2.1.325",
        integrity: "sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==",
        needs: &[],
        kind: Kind::ClaudeCode,
    },
    Pin {
        package: ARM64,
        version: "2.1.197",
        integrity: "sha512-sx6SoGj3MNR5CV+YDkNtbLHXa1tn3G8qcYFgm1gnvOi9ODQUKbhiPfankJfkTMDVekOvnKJhm6i9hGFIPzp7cQ==",
        needs: &[],
        kind: Kind::ClaudeCode,
    },
    Pin {
        package: ARM64,
        version: "2.1.325",
        integrity: "sha512-NCvQcOxr685Y4mkYUjQT8l/Ouzw0k2xWloWeyzfsUtWiOedHosPkaW6XCSpzAl1dMuvDNBF97qpWgVDrSdK2Vw==",
        needs: &[],
        kind: Kind::ClaudeCode,
    },
    Pin {
        package: PLAYWRIGHT,
        version: "0.0.83",
        integrity: "sha512-oNcl+Ae2/IAjhfPeP46BfIkSakfmprY+aOtkv5MjrQ4lPav4/yNtPhL0iq8SlIM90oApWgBDUxaNKvktazUKOg==",
        needs: &[
            Needed {
                package: "playwright",
                version: "1.64.0-alpha-1790635538000",
                integrity: "sha512-/5XDUMxpOd/9AojJtWDFIRV3EJZNQ0AwvK69wgt3CPzy8wTgiBG9pX45VfxtqtvIRGwfWzMhrvawNKreG69Snw==",
            },
            Needed {
                package: "playwright-core",
                version: "1.64.0-alpha-1790635538000",
                integrity: "sha512-pNwaXirhXMRLaRQs4NQ18EpTdtDoFwyPH9FOaaDC7YXG4hpwE2xmwCic/1srbuExVQC7zT9LJSJpDBAru+Vo9A==",
            },
        ],
        kind: Kind::PlaywrightMcp,
    },
    Pin {
        package: CODEX,
        version: "0.166.0-linux-x64",
        integrity: "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==",
        needs: &[],
        kind: Kind::Codex {
            version: "0.166.0",
            system: "x86_64-unknown-linux-musl",
        },
    },
    Pin {
        package: CODEX,
        version: "0.166.0-linux-arm64",
        integrity: "sha512-w0ScAsBr9aZKtIFrh6HN6KU2yjKKeSCzYfbb7DB0Ccj4BYPzeZtUeQprbycLCwuX3AFQdbdjapmLho2iot74jQ==",
        needs: &[],
        kind: Kind::Codex {
            version: "0.166.0",
            system: "aarch64-unknown-linux-musl",
        },
    },
    Pin {
        package: GEMINI,
        version: "0.61.0",
        integrity: "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
        needs: &[],
        kind: Kind::GeminiCli,
    },
    Pin {
        package: MCP_CONFORMANCE,
        version: "0.1.13",
        integrity: "sha512-J9cC7Dsi7hTn7sxorvxDZ+wC8OlHAkOmVxVm1/IBQ8HEpYJu8r0eAUEw68vTmjBPP5WcU8Jld4RZ3cOFp/Ih1g==",
        needs: &[],
        kind: Kind::McpConformance,
    },
];

/// Returns the pinned programs for a system.
pub(super) fn for_platform(os: &str, arch: &str) -> Result<Vec<Pin>, Failure> {
    let (claude, system) = match (os, arch) {
        ("linux", "x86_64") => (X64, "x86_64-unknown-linux-musl"),
        ("linux", "aarch64") => (ARM64, "aarch64-unknown-linux-musl"),
        _ => {
            return Err(Failure::new(format!(
                "the pinned CLIs are for Linux on x86_64 and aarch64, and this is {os} on {arch}"
            )));
        }
    };
    let fits = |pin: &Pin| match pin.kind {
        Kind::ClaudeCode => pin.package == claude,
        Kind::Codex { system: of, .. } => of == system,
        Kind::PlaywrightMcp | Kind::GeminiCli | Kind::McpConformance => true,
    };
    Ok(PINS.into_iter().filter(fits).collect())
}

impl Pin {
    /// Says whether it is Claude Code.
    pub(super) fn is_claude_code(&self) -> bool {
        self.kind == Kind::ClaudeCode
    }

    /// Returns the name of its folder, where tests look for it.
    pub(super) fn folder(&self) -> String {
        let (name, version) = match self.kind {
            Kind::ClaudeCode => ("claude-code", self.version),
            Kind::PlaywrightMcp => ("playwright-mcp", self.version),
            Kind::Codex { version, .. } => ("codex", version),
            Kind::GeminiCli => ("gemini-cli", self.version),
            Kind::McpConformance => ("mcp-conformance", self.version),
        };
        format!("{name}-{version}")
    }

    /// Returns what of the folder `into`, where npm has put it, is kept.
    pub(super) fn installed_path(&self, into: &Path) -> PathBuf {
        match self.kind {
            Kind::ClaudeCode | Kind::Codex { .. } | Kind::GeminiCli => {
                into.join("node_modules").join(self.package)
            }
            Kind::PlaywrightMcp | Kind::McpConformance => into.to_owned(),
        }
    }

    /// Returns the program in its folder.
    pub(super) fn program(&self, folder: &Path) -> PathBuf {
        match self.kind {
            Kind::ClaudeCode => folder.join("claude"),
            Kind::PlaywrightMcp => folder.join("node_modules/@playwright/mcp/cli.js"),
            Kind::Codex { system, .. } => folder.join("vendor").join(system).join("bin/codex"),
            Kind::GeminiCli => folder.join("bundle/gemini.js"),
            Kind::McpConformance => {
                let package = folder.join("node_modules").join(self.package);
                package.join("dist/index.js")
            }
        }
    }

    /// Returns the command that runs the program in its folder.
    pub(super) fn command(&self, folder: &Path) -> Command {
        let program = self.program(folder);
        match self.kind {
            Kind::ClaudeCode | Kind::Codex { .. } => Command::new(program),
            Kind::PlaywrightMcp | Kind::GeminiCli | Kind::McpConformance => {
                let mut command = Command::new("node");
                command.arg(program);
                command
            }
        }
    }

    /// Returns what it prints when it is asked for its version.
    pub(super) fn version_line(&self) -> String {
        match self.kind {
            Kind::ClaudeCode => format!("{} (Claude Code)", self.version),
            Kind::PlaywrightMcp => format!("Version {}", self.version),
            Kind::Codex { version, .. } => format!("codex-cli {version}"),
            Kind::GeminiCli | Kind::McpConformance => self.version.to_owned(),
        }
    }

    /// Returns the `package.json` that asks npm for it.
    pub(super) fn manifest(&self) -> Value {
        json!({
            "name": "clis",
            "private": true,
            "dependencies": {self.package: self.version},
        })
    }

    /// Returns the `package-lock.json` by which npm accepts these packages and no others.
    pub(super) fn lock_file(&self) -> Value {
        let needs: Map<_, _> = self
            .needs
            .iter()
            .map(|needed| (needed.package.to_owned(), json!(needed.version)))
            .collect();
        let mut packages = json!({
            "": self.manifest(),
            format!("node_modules/{}", self.package): {
                "version": self.version,
                "integrity": self.integrity,
                "dependencies": needs,
            },
        });
        if self.kind == Kind::McpConformance {
            // Read by npm, which refuses it if it is none.
            packages = serde_json::from_str(MCP_CONFORMANCE_PACKAGES).unwrap_or_default();
            packages[""] = self.manifest();
        }
        for needed in self.needs {
            let place = format!("node_modules/{}", needed.package);
            packages[place] = json!({"version": needed.version, "integrity": needed.integrity});
        }
        json!({
            "name": "clis",
            "lockfileVersion": 3,
            "requires": true,
            "packages": packages,
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
            let pins = for_platform("linux", arch).unwrap();

            let folders: Vec<_> = pins.iter().map(Pin::folder).collect();
            let expected = [
                "claude-code-2.1.197",
                "claude-code-2.1.325",
                "playwright-mcp-0.0.83",
                "codex-0.166.0",
                "gemini-cli-0.61.0",
                "mcp-conformance-0.1.13",
            ];
            assert_eq!(folders, expected);
            let packages: Vec<_> = pins.iter().map(|pin| pin.package).collect();
            let scripts = [PLAYWRIGHT, CODEX, GEMINI, MCP_CONFORMANCE];
            assert_eq!(packages[..2], [package, package]);
            assert_eq!(packages[2..], scripts);
        }
    }

    #[test]
    fn unknown_platform_is_an_error() {
        let sentence = "the pinned CLIs are for Linux on x86_64 and aarch64, \
                        and this is macos on aarch64";

        assert_eq!(
            for_platform("macos", "aarch64"),
            Err(Failure::new(sentence))
        );
    }

    #[test]
    fn npm_is_bound_to_version_and_hash() {
        let pin = for_platform("linux", "x86_64").unwrap()[0];

        let locked = &pin.lock_file()["packages"][format!("node_modules/{X64}")];

        assert_eq!(locked["version"], "2.1.197");
        assert_eq!(locked["integrity"], pin.integrity);
        assert_eq!(pin.manifest()["dependencies"][X64], "2.1.197");
    }

    #[test]
    fn npm_is_bound_to_each_of_many_packages() {
        let pin = for_platform("linux", "x86_64").unwrap()[5];

        let lock = pin.lock_file();

        let packages = lock["packages"].as_object().expect("it is read");
        assert_eq!(packages.len(), 103);
        let itself = &packages[&format!("node_modules/{MCP_CONFORMANCE}")];
        assert_eq!(itself["version"], pin.version);
        assert_eq!(itself["integrity"], pin.integrity);
        let mut others = packages.iter().filter(|(place, _)| !place.is_empty());
        assert!(others.all(|(_, package)| package["integrity"].is_string()));
    }

    #[test]
    fn npm_is_bound_to_what_a_package_needs_as_well() {
        let pin = for_platform("linux", "x86_64").unwrap()[2];

        let packages = &pin.lock_file()["packages"];

        let core = &packages["node_modules/playwright-core"];
        assert_eq!(core["integrity"], pin.needs[1].integrity);
        let needed = &packages["node_modules/@playwright/mcp"]["dependencies"];
        assert_eq!(needed["playwright-core"], core["version"]);
    }
}
