//! Packages from npm.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::stream;

use super::pins::Pin;

/// The npm to ask.
#[derive(Debug)]
pub(super) struct Npm {
    program: OsString,
}

impl Default for Npm {
    /// The one on the search path.
    fn default() -> Self {
        Self {
            program: "npm".into(),
        }
    }
}

impl Npm {
    #[cfg(test)]
    pub(super) fn at(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// Fetches the package into the empty folder `into`, and returns where it is.
    pub(super) fn fetch(&self, pin: &Pin, into: &Path) -> Result<PathBuf, Failure> {
        self.check()?;
        for (name, json) in [
            ("package.json", pin.manifest()),
            ("package-lock.json", pin.lock_file()),
        ] {
            let file = into.join(name);
            fs::write(&file, json.to_string()).map_err(|source| {
                Failure::new(format!("cannot write {}: {source}", file.display()))
            })?;
        }

        // `ci` takes what the lock file says or nothing; scripts of packages do not run.
        let mut command = Command::new(&self.program);
        command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        command.current_dir(into).stdin(Stdio::null());
        let output = stream::run(&mut command)?;

        if !output.status.success() {
            return Err(Failure::new(format!(
                "npm could not install {pin}: {}",
                reason(&output.stderr)
            )));
        }
        Ok(pin.installed_path(into))
    }

    fn check(&self) -> Result<(), Failure> {
        let mut command = Command::new(&self.program);
        command.arg("--version").stdin(Stdio::null());
        match command.output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(Failure::new(format!("`npm --version`: {}", output.status))),
            Err(source) if source.kind() == ErrorKind::NotFound => Err(Failure::new(
                "npm is not installed, and the tests install CLIs with it: install Node.js with \
                 npm, then run `cargo xtask clis`",
            )),
            Err(source) => Err(Failure::new(format!("cannot run npm: {source}"))),
        }
    }
}

/// Says why npm failed, by the code that it prints.
fn reason(stderr: &str) -> &'static str {
    let mut lines = stderr.lines();
    let code = lines.find_map(|line| line.split_once("error code "));
    match code.map(|(_, code)| code.trim()) {
        Some("EINTEGRITY") => {
            "the download from the registry differs from the pinned package; nothing was installed"
        }
        Some(
            "EAI_AGAIN" | "ECONNREFUSED" | "ECONNRESET" | "ENETUNREACH" | "ENOTCACHED"
            | "ENOTFOUND" | "ETIMEDOUT",
        ) => "the registry cannot be reached. Run `cargo xtask clis` once where there is a network",
        Some("E404" | "ETARGET") => "the registry does not have it",
        Some("ENOSPC") => "the disk is full",
        _ => "see the output above",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npm_error_code_gives_the_reason() {
        for (stderr, start) in [
            (
                "npm warn old\nnpm error code EINTEGRITY\nnpm error sha512",
                "the download from the registry differs from the pinned package",
            ),
            (
                "npm error code ENOTFOUND\n",
                "the registry cannot be reached",
            ),
            (
                "npm error code ECONNREFUSED\n",
                "the registry cannot be reached",
            ),
            (
                "npm ERR! code E404\nnpm error code E404",
                "the registry does not",
            ),
            ("npm error code EWHATEVER", "see the output above"),
            ("", "see the output above"),
        ] {
            assert!(reason(stderr).starts_with(start), "{stderr}");
        }
    }

    #[test]
    fn a_missing_npm_is_reported_with_the_remedy() {
        let message = Npm::at("there-is-no-such-npm")
            .check()
            .unwrap_err()
            .to_string();

        assert!(message.starts_with("npm is not installed"), "{message}");
        assert!(message.contains("cargo xtask clis"), "{message}");
    }
}
