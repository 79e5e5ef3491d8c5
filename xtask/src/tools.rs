//! Pinned programs that the checks need, installed below `target`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// The pinned version of cargo-deny.
const CARGO_DENY: &str = "0.20.2";

/// The pinned version of mdBook.
const MDBOOK: &str = "0.5.4";

/// Returns the pinned cargo-deny, compiling it into `target/tools` if it is not there.
pub(crate) fn cargo_deny(cargo: &Cargo) -> Result<PathBuf, Failure> {
    cargo_install(cargo, "cargo-deny", CARGO_DENY, &[])
}

/// Returns the pinned mdBook, compiling it into `target/tools` if it is not there.
pub(crate) fn mdbook(cargo: &Cargo) -> Result<PathBuf, Failure> {
    // Without its web server, which would be most of it.
    let features = ["--no-default-features", "--features", "search"];
    cargo_install(cargo, "mdbook", MDBOOK, &features)
}

/// Returns a program of crates.io, compiling it into `target/tools` if it is not there.
fn cargo_install(
    cargo: &Cargo,
    name: &str,
    version: &str,
    args: &[&str],
) -> Result<PathBuf, Failure> {
    let folder = cargo.root().join(format!("target/tools/{name}-{version}"));
    let program = folder.join("bin").join(name);
    if !program.is_file() {
        install(&folder, |incoming| {
            let mut install = cargo.command(["install", "--quiet", "--locked", "--debug"]);
            install.args([name, "--version", version]).args(args);
            install.arg("--root").arg(incoming);
            // It runs once, for seconds: compiling it fast matters more than its speed.
            install.env("CARGO_PROFILE_DEV_DEBUG", "false");
            cargo::run(install)
        })?;
    }
    Ok(program)
}

/// Installs what `requirements` lists, by its hashes, into `folder`.
pub(crate) fn pip_install(folder: &Path, requirements: &Path) -> Result<(), Failure> {
    install(folder, |incoming| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
        pip.args(["--require-hashes", "--only-binary", ":all:"]);
        pip.args(["--disable-pip-version-check", "--target"]);
        pip.arg(incoming).arg("-r").arg(requirements);
        pip.stdin(Stdio::null());
        cargo::run(pip)
    })
}

/// Creates `folder` with what `fill` puts into a temporary folder beside it.
///
/// The folder appears complete or not at all, also when this process is killed.
pub(crate) fn install(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let incoming = folder.with_file_name(format!("{name}.incoming-{}", std::process::id()));
    let installed = remove(&incoming)
        .and_then(|()| {
            fs::create_dir_all(&incoming).map_err(|source| failure("create", &incoming, &source))
        })
        .and_then(|()| fill(&incoming))
        // An incomplete folder of this name has lost its program.
        .and_then(|()| remove(folder))
        .and_then(|()| {
            fs::rename(&incoming, folder).map_err(|source| failure("create", folder, &source))
        });
    let removed = remove(&incoming);
    installed.and(removed)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(failure("remove", folder, &source))
        }
        _ => Ok(()),
    }
}

fn failure(action: &str, folder: &Path, source: &io::Error) -> Failure {
    Failure::new(format!("cannot {action} {}: {source}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn installs_a_complete_folder() {
        let target = tempfile::tempdir().unwrap();
        let folder = target.path().join("tools/deny-1.2.3");
        // What a user has left there by hand.
        fs::create_dir_all(folder.join("empty")).unwrap();

        install(&folder, |incoming| {
            fs::write(incoming.join("program"), "1").map_err(|e| Failure::new(e.to_string()))
        })
        .unwrap();

        assert_eq!(names(&folder), ["program"]);
        assert_eq!(names(&target.path().join("tools")), ["deny-1.2.3"]);
    }

    #[test]
    fn leaves_nothing_behind_when_an_installation_fails() {
        let target = tempfile::tempdir().unwrap();
        let folder = target.path().join("deny-1.2.3");

        let result = install(&folder, |incoming| {
            fs::write(incoming.join("half"), "1").unwrap();
            Err(Failure::new("no network"))
        });

        assert_eq!(result, Err(Failure::new("no network")));
        assert!(names(target.path()).is_empty());
    }
}
