//! Documentation of libraries, as pages and as the JSON of rustdoc.
//!
//! The JSON is unstable, so stable rustdoc writes it only with `RUSTC_BOOTSTRAP`. Cargo must not see
//! that variable: build scripts read it, and everything would be compiled again. Cargo must not see
//! the JSON either: it expects pages, and without them it never finds the documentation fresh. So
//! cargo starts this program in the place of rustdoc, and this program runs rustdoc several times.
//!
//! `cargo doc` compiles all dependencies again, because it needs only their metadata. The calls of
//! `cargo test --doc` have the same arguments and use what the tests have compiled, so the checks
//! make the documentation beside the doctests.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::thread;

use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// The program in whose place cargo started this one.
const REAL_RUSTDOC: &str = "AUTONOE_XTASK_RUSTDOC";

/// Names of the libraries that get JSON, with a space between two.
const LIBRARIES: &str = "AUTONOE_XTASK_RUSTDOC_JSON";

/// The folder for the documentation that is made beside doctests.
const FOLDER: &str = "AUTONOE_XTASK_RUSTDOC_FOLDER";

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
    replace_rustdoc(doc, cargo, libraries)?;
    // Documentation that was built without JSON is not fresh.
    doc.env("RUSTDOCFLAGS", "-D warnings --cfg autonoe_api");
    Ok(())
}

/// Makes `doctests`, a call of `cargo test --doc`, write pages of all libraries into `folder`, with
/// warnings as errors, and JSON of `libraries`.
pub(super) fn also_document<'a>(
    doctests: &mut Command,
    cargo: &Cargo,
    libraries: impl IntoIterator<Item = &'a str>,
    folder: &Path,
) -> Result<(), Failure> {
    replace_rustdoc(doctests, cargo, libraries)?;
    doctests.env(FOLDER, folder);
    Ok(())
}

/// Makes `command`, a call of cargo, start this program in the place of rustdoc.
fn replace_rustdoc<'a>(
    command: &mut Command,
    cargo: &Cargo,
    libraries: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    let program = env::current_exe()
        .map_err(|source| Failure::new(format!("cannot find this program: {source}")))?;
    let libraries: Vec<_> = libraries.into_iter().collect();
    command.env("RUSTDOC", program);
    command.env(REAL_RUSTDOC, rustdoc(cargo));
    command.env(LIBRARIES, libraries.join(" "));
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
    let mut call = Command::new(rustdoc);
    call.args(args);
    if !args.iter().any(|arg| arg == "--test") {
        return first_failure([finish(call)?], || document_json(rustdoc, args, libraries));
    }
    let Some(folder) = env::var_os(FOLDER) else {
        return finish(call);
    };
    let args = documentation_args(args, &folder);
    let mut pages = Command::new(rustdoc);
    pages.args(&args).args(["-D", "warnings"]);
    let (tested, documented) = thread::scope(|scope| {
        let documented = scope.spawn(|| finish(pages));
        (finish(call), documented.join())
    });
    let documented =
        documented.unwrap_or_else(|_| Err(Failure::new("the call of rustdoc panicked")))?;
    first_failure([tested?, documented], || {
        document_json(rustdoc, &args, libraries)
    })
}

/// Returns the first status that is no success, or what `last` returns.
fn first_failure<const N: usize>(
    statuses: [ExitStatus; N],
    last: impl FnOnce() -> Result<ExitStatus, Failure>,
) -> Result<ExitStatus, Failure> {
    let failed = statuses.into_iter().find(|status| !status.success());
    failed.map_or_else(last, Ok)
}

/// Writes JSON if the arguments document one of `libraries`.
fn document_json(
    rustdoc: &OsStr,
    args: &[OsString],
    libraries: &str,
) -> Result<ExitStatus, Failure> {
    if !wants_json(args, libraries) {
        return Ok(ExitStatus::default());
    }
    let mut json = Command::new(rustdoc);
    json.args(args).args(JSON).env("RUSTC_BOOTSTRAP", "1");
    finish(json)
}

/// Turns the arguments of a doctest into those that document the same library into `folder`.
fn documentation_args(args: &[OsString], folder: &OsStr) -> Vec<OsString> {
    let mut documentation = Vec::with_capacity(args.len() + 2);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--test-run-directory" || arg == "--test-args" {
            args.next();
        } else if arg != "--test" && arg != "--no-run" {
            documentation.push(arg.clone());
        }
    }
    documentation.extend(["-o".into(), folder.to_owned()]);
    documentation
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
    fn the_arguments_of_a_doctest_document_its_library() {
        let args = "--crate-name core --test src/lib.rs --test-run-directory /w --extern a=a.rlib";
        let args: Vec<_> = args.split(' ').map(OsString::from).collect();

        let documentation = documentation_args(&args, OsStr::new("/t/doc"));

        let expected = "--crate-name core src/lib.rs --extern a=a.rlib -o /t/doc";
        let expected: Vec<_> = expected.split(' ').map(OsString::from).collect();
        assert_eq!(documentation, expected);
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
