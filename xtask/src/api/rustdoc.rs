//! `cargo doc` with the JSON of rustdoc beside the pages.
//!
//! The JSON is unstable, so stable rustdoc writes it only with `RUSTC_BOOTSTRAP`. Cargo must not see
//! that variable: build scripts read it, and everything would be compiled again. Cargo must not see
//! the JSON either: it expects pages, and without them it never finds the documentation fresh. So
//! cargo starts this program in the place of rustdoc, and this program runs rustdoc twice.

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode, ExitStatus};

use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// The program in whose place cargo started this one.
const REAL_RUSTDOC: &str = "AUTONOE_XTASK_RUSTDOC";

/// Names of the libraries that get JSON, with a space between two.
const LIBRARIES: &str = "AUTONOE_XTASK_RUSTDOC_JSON";

/// Arguments for JSON. The run for the pages has reported the warnings.
const JSON: [&str; 6] = [
    "-Z",
    "unstable-options",
    "--output-format",
    "json",
    "--cap-lints",
    "allow",
];

/// Prepares the documentation of `packages`, or of the whole workspace for none.
pub(super) fn command(cargo: &Cargo, packages: &[String]) -> Command {
    let mut doc = cargo.command(["doc", "--no-deps", "--all-features"]);
    if packages.is_empty() {
        doc.arg("--workspace");
    }
    for package in packages {
        doc.args(["-p", package]);
    }
    doc.env("RUSTDOCFLAGS", "-D warnings");
    doc
}

/// Makes `doc` write JSON of `libraries`, too.
pub(super) fn also_write_json<'a>(
    doc: &mut Command,
    cargo: &Cargo,
    libraries: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    let program = env::current_exe()
        .map_err(|source| Failure::new(format!("cannot find this program: {source}")))?;
    let libraries: Vec<_> = libraries.into_iter().collect();
    doc.env("RUSTDOC", program);
    doc.env(REAL_RUSTDOC, rustdoc(cargo));
    doc.env(LIBRARIES, libraries.join(" "));
    // Documentation that was built without JSON is not fresh.
    doc.env("RUSTDOCFLAGS", "-D warnings --cfg autonoe_api");
    Ok(())
}

/// Returns the version of rustdoc, such as `1.95.0`.
pub(super) fn version(cargo: &Cargo) -> Result<String, Failure> {
    let mut command = Command::new(rustdoc(cargo));
    command.arg("--version");
    let output = command
        .output()
        .map_err(|source| cargo::cannot_start(&command, &source))?;
    cargo::succeeded(&command, output.status)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1);
    let version = version.ok_or_else(|| Failure::new("rustdoc prints no version"))?;
    Ok(version.to_owned())
}

/// Returns the rustdoc beside cargo, or the one on `PATH`.
fn rustdoc(cargo: &Cargo) -> OsString {
    if let Some(rustdoc) = env::var_os("RUSTDOC") {
        return rustdoc;
    }
    let beside = cargo.bin_dir().map(|dir| dir.join("rustdoc"));
    let beside = beside.filter(|program| program.is_file());
    beside.map_or_else(|| "rustdoc".into(), Into::into)
}

/// Acts as rustdoc if cargo has started this program in its place.
pub(crate) fn run_as_rustdoc() -> Option<ExitCode> {
    let rustdoc = env::var_os(REAL_RUSTDOC)?;
    let args: Vec<_> = env::args_os().skip(1).collect();
    let libraries = env::var(LIBRARIES).unwrap_or_default();
    let finished = start(&rustdoc, &args, &libraries).map(|status| {
        // A signal has no code.
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        ExitCode::from(code.unwrap_or(1))
    });
    Some(finished.unwrap_or_else(|failure| {
        eprintln!("error: {failure}");
        ExitCode::FAILURE
    }))
}

fn start(rustdoc: &OsStr, args: &[OsString], libraries: &str) -> Result<ExitStatus, Failure> {
    let mut pages = Command::new(rustdoc);
    pages.args(args);
    let status = finish(pages)?;
    if !status.success() || !wants_json(args, libraries) {
        return Ok(status);
    }
    let mut json = Command::new(rustdoc);
    json.args(args).args(JSON).env("RUSTC_BOOTSTRAP", "1");
    finish(json)
}

fn finish(mut command: Command) -> Result<ExitStatus, Failure> {
    command
        .status()
        .map_err(|source| cargo::cannot_start(&command, &source))
}

/// Says whether the arguments document one of `libraries`.
fn wants_json(args: &[OsString], libraries: &str) -> bool {
    let value = |name: &str| {
        let mut args = args.iter().skip_while(|arg| *arg != name);
        args.nth(1).and_then(|value| value.to_str())
    };
    let is_library = value("--crate-type").is_none_or(|kind| kind == "lib");
    let name = value("--crate-name");
    is_library && name.is_some_and(|name| libraries.split(' ').any(|library| library == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(line: &str) -> bool {
        let args: Vec<_> = line.split(' ').map(OsString::from).collect();
        wants_json(&args, "autonoe_core autonoe_mcp")
    }

    #[test]
    fn only_listed_libraries_get_json() {
        assert!(wants(
            "--crate-type lib --crate-name autonoe_core src/lib.rs"
        ));
        assert!(wants(
            "--crate-type lib --crate-name autonoe_mcp src/lib.rs"
        ));
        assert!(!wants("--crate-type lib --crate-name autonoe src/lib.rs"));
        assert!(!wants(
            "--crate-type bin --crate-name autonoe_mcp src/main.rs"
        ));
        assert!(!wants("--version"));
    }
}
