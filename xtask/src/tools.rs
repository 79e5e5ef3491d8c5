//! Pinned Rust programs that the checks need, compiled into `target/tools`.

use std::fs;
use std::path::PathBuf;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// The pinned version of cargo-deny.
const CARGO_DENY: &str = "0.20.2";

/// Returns the pinned cargo-deny, compiling it if it is not there.
pub(crate) fn cargo_deny(cargo: &Cargo) -> Result<PathBuf, Failure> {
    let folder = cargo
        .root()
        .join(format!("target/tools/cargo-deny-{CARGO_DENY}"));
    let program = folder.join("bin/cargo-deny");
    if program.is_file() {
        return Ok(program);
    }
    // A folder of its own until the installation is complete.
    let incoming = folder.with_extension(format!("incoming-{}", std::process::id()));
    let mut install = cargo.command(["install", "--quiet", "--locked", "--debug", "cargo-deny"]);
    install
        .args(["--version", CARGO_DENY, "--root"])
        .arg(&incoming);
    // It runs once, for seconds: compiling it fast matters more than its speed.
    install.env("CARGO_PROFILE_DEV_DEBUG", "false");
    cargo::run(install)?;
    fs::rename(&incoming, &folder).map_err(|source| {
        let folder = folder.display();
        Failure::new(format!("cannot create {folder}: {source}"))
    })?;
    Ok(program)
}
