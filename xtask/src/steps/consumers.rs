//! Builds and runs what users build: crates outside the workspace.
//!
//! The other steps build with the dependencies and features of the whole workspace. A user has only
//! the crates and features that the README and the guides name.

mod tutorial;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::{env, fs};

use crate::cargo::{self, Cargo};
use crate::failure::Failure;
use crate::pipeline::TestResults;
use crate::{clis, counts, metadata, stream};

use super::tests;
use tutorial::{Recipe, Tutorial};

/// Runs the program of the README and the tests of the tutorials in new crates, then the code of the
/// guides in `docs/consumer`.
pub(super) fn check(cargo: &Cargo, results: &mut TestResults) -> Result<(), Failure> {
    let target = metadata::target_dir(cargo)?;
    in_new_folder(|folder| build_readme_crate(cargo, &target, folder))?;
    for tutorial in tutorials(cargo.root())? {
        in_new_folder(|folder| test_tutorial(cargo, &target, folder, &tutorial, results))?;
    }
    test_guides(cargo, &target, results)
}

/// Calls `build` with an empty folder outside the checkout, and removes the folder afterwards.
///
/// `cargo new` inside the checkout would add the crate to the workspace.
fn in_new_folder(build: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let folder = env::temp_dir().join(format!("autonoe-consumer-{}", process::id()));
    // A killed process with the same id may have left one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).map_err(|source| failed("make", &folder, &source))?;
    let built = build(&folder);
    let removed = fs::remove_dir_all(&folder).map_err(|source| failed("remove", &folder, &source));
    built.and(removed)
}

/// Follows the section "Embed it" of the README in an empty folder.
fn build_readme_crate(cargo: &Cargo, target: &Path, folder: &Path) -> Result<(), Failure> {
    let root = cargo.root();
    let readme = root.join("README.md");
    let text = fs::read_to_string(&readme).map_err(|source| failed("read", &readme, &source))?;
    let recipe = Recipe::parse(&text)?;
    let program = folder.join("main.rs");
    fs::write(&program, &recipe.program).map_err(|source| failed("write", &program, &source))?;

    let printed = run_script(cargo, target, folder, &recipe.script(root, &program))?;
    recipe.check_output(&printed)
}

/// Reads the tutorials with Rust code.
fn tutorials(root: &Path) -> Result<Vec<Tutorial>, Failure> {
    let pages = root.join("docs/tutorials");
    let entries = fs::read_dir(&pages).map_err(|source| failed("list", &pages, &source))?;
    let mut tutorials = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|source| failed("list", &pages, &source))?
            .path();
        let page = fs::read_to_string(&path).map_err(|source| failed("read", &path, &source))?;
        tutorials.extend(Tutorial::parse(&page)?);
    }
    if tutorials.is_empty() {
        return Err(Failure::new("no page of docs/tutorials has Rust code"));
    }
    Ok(tutorials)
}

/// Follows a tutorial in an empty folder, and runs its tests.
fn test_tutorial(
    cargo: &Cargo,
    target: &Path,
    folder: &Path,
    tutorial: &Tutorial,
    results: &mut TestResults,
) -> Result<(), Failure> {
    let files = folder.join("files");
    tutorial
        .write_files(&files)
        .map_err(|source| failed("write", &files, &source))?;

    let printed = run_script(
        cargo,
        target,
        folder,
        &tutorial.script(cargo.root(), &files),
    )?;
    results.counts += counts::read_libtest(&printed)?;
    tutorial.check_output(&printed)
}

/// Runs the commands of a page and returns what they print to standard output.
///
/// The commands are those of the page with one change: our crates are those of the checkout, by its
/// path. With a link called `autonoe`, every run would compile our crates again, because each run
/// has another folder.
fn run_script(
    cargo: &Cargo,
    target: &Path,
    folder: &Path,
    script: &str,
) -> Result<String, Failure> {
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", script]);
    // The commands start in the checkout and go to its parent folder.
    let checkout = folder.join("autonoe");
    fs::create_dir(&checkout).map_err(|source| failed("make", &checkout, &source))?;
    shell.current_dir(checkout);
    let programs = [cargo.bin_dir(), Some(clis::claude_code_dir(cargo)?)];
    shell.env("PATH", path_with(programs.into_iter().flatten())?);
    build_as_workspace(&mut shell, target);
    let output = stream::run(&mut shell)?;

    cargo::succeeded(&shell, output.status)?;
    Ok(output.stdout)
}

/// Runs the code of the guides as doctests of `docs/consumer`, with Claude Code on its `PATH`.
fn test_guides(cargo: &Cargo, target: &Path, results: &mut TestResults) -> Result<(), Failure> {
    let consumer = cargo.root().join("docs/consumer");
    let lock = consumer.join("Cargo.lock");
    fs::copy(cargo.root().join("Cargo.lock"), &lock)
        .map_err(|source| failed("write", &lock, &source))?;

    let mut test = cargo.command(["test", "--doc", "--no-fail-fast", "--manifest-path"]);
    test.arg(consumer.join("Cargo.toml"));
    test.env("PATH", path_with([clis::claude_code_dir(cargo)?])?);
    build_as_workspace(&mut test, target);
    tests::run(test, counts::read_libtest, results)?.check_not_empty()
}

/// Shares what earlier steps have built and fetched.
///
/// Third-party crates are reused if they are built with the same settings. Those of the workspace
/// have no debug information.
fn build_as_workspace(command: &mut Command, target: &Path) {
    command.env("CARGO_TARGET_DIR", target);
    command.env("CARGO_NET_OFFLINE", "true");
    command.env("CARGO_PROFILE_DEV_DEBUG", "0");
}

/// Returns `PATH` with directories before the others.
fn path_with(first: impl IntoIterator<Item = PathBuf>) -> Result<OsString, Failure> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(first.into_iter().chain(env::split_paths(&path)))
        .map_err(|source| Failure::new(format!("cannot extend PATH: {source}")))
}

fn failed(action: &str, path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(format!("cannot {action} {}: {source}", path.display()))
}
