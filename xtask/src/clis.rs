//! The real programs of vendors that tests run.
//!
//! Each lives in a folder of its own under `target/clis`, and is there only once it is
//! whole and tells the pinned version.

mod debian_tools;
mod folder;
mod npm;
mod pins;
mod version;

use std::env::consts::{ARCH, OS};
use std::path::PathBuf;

use crate::cargo::Cargo;
use crate::failure::Failure;

use folder::Folder;
use npm::Npm;

/// Installs what is missing or wrong: the pinned programs, what a sandbox needs, and a browser.
pub(crate) fn install(cargo: &Cargo) -> Result<(), Failure> {
    let folder = Folder::open(clis_dir(cargo))?;
    for pin in pins::for_platform(OS, ARCH)? {
        let state = folder.ensure(&pin, &Npm::default())?;
        println!("{pin}: {state}");
    }
    debian_tools::ensure();
    Ok(())
}

/// Returns the folder of the newest pinned Claude Code, whose program is `claude`.
pub(crate) fn claude_code_dir(cargo: &Cargo) -> Result<PathBuf, Failure> {
    let pins = pins::for_platform(OS, ARCH)?;
    let newest = pins.iter().rfind(|pin| pin.is_claude_code());
    newest
        .map(|pin| clis_dir(cargo).join(pin.folder()))
        .ok_or_else(|| Failure::new("no version of Claude Code is pinned"))
}

/// Returns the folder of all CLIs.
///
/// It is a fixed one, wherever cargo puts what it builds, because tests look for it.
fn clis_dir(cargo: &Cargo) -> PathBuf {
    cargo.root().join("target").join("clis")
}
