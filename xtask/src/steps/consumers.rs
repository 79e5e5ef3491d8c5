//! Builds and runs what users build: crates outside the workspace.
//!
//! The other steps build with the dependencies and features of the whole workspace. A user has only
//! the crates and features that the README and the guides name.

mod recipe;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use crate::cargo::{self, Cargo};
use crate::clis;
use crate::counts;
use crate::failure::Failure;
use crate::metadata;
use crate::pipeline::TestResults;
use crate::stream;

use super::tests;
use recipe::Recipe;

/// Runs the program of the README in a new crate, then the code of the guides in `docs/consumer`.
pub(super) fn check(cargo: &Cargo, results: &mut TestResults) -> Result<(), Failure> {
    let target = metadata::target_dir(cargo)?;
    let folder = env::temp_dir().join(format!("autonoe-readme-{}", process::id()));
    // A killed run of the same process id may have left one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).map_err(|source| failed("make", &folder, &source))?;
    let built = build_readme_crate(cargo, &target, &folder);
    let removed = fs::remove_dir_all(&folder).map_err(|source| failed("remove", &folder, &source));
    built.and(removed)?;

    test_guides(cargo, &target, results)
}

/// Follows the section "Embed it" of the README in an empty folder.
///
/// The folder is outside the checkout, because `cargo new` adds a crate inside it to the workspace.
/// The commands are those of the README but for one word: `../autonoe`, where the README expects the
/// checkout, is replaced by its path. A link of that name would do without, and would have every
/// run compile our crates anew, for they would have another path each time.
fn build_readme_crate(cargo: &Cargo, target: &Path, folder: &Path) -> Result<(), Failure> {
    let root = cargo.root();
    let readme = root.join("README.md");
    let text = fs::read_to_string(&readme).map_err(|source| failed("read", &readme, &source))?;
    let recipe = Recipe::parse(&text)?;
    let program = folder.join("main.rs");
    fs::write(&program, &recipe.program).map_err(|source| failed("write", &program, &source))?;

    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", &recipe.script(root, &program)]);
    // The commands begin in the checkout and go to the folder above it.
    let beside = folder.join("autonoe");
    fs::create_dir(&beside).map_err(|source| failed("make", &beside, &source))?;
    shell.current_dir(beside);
    shell.env("PATH", path_with(cargo.bin_dir().as_deref())?);
    build_as_workspace(&mut shell, target);
    let output = stream::run(&mut shell)?;

    cargo::succeeded(&shell, output.status)?;
    recipe.check_output(&output.stdout)
}

/// Runs the code of the guides as doctests of `docs/consumer`, with Claude Code on its `PATH`.
fn test_guides(cargo: &Cargo, target: &Path, results: &mut TestResults) -> Result<(), Failure> {
    let consumer = cargo.root().join("docs/consumer");
    let lock = consumer.join("Cargo.lock");
    fs::copy(cargo.root().join("Cargo.lock"), &lock)
        .map_err(|source| failed("write", &lock, &source))?;

    let mut test = cargo.command(["test", "--doc", "--no-fail-fast", "--manifest-path"]);
    test.arg(consumer.join("Cargo.toml"));
    test.env("PATH", path_with(Some(&clis::claude_code_dir(cargo)?))?);
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

/// Returns `PATH` with a directory before the others.
fn path_with(first: Option<&Path>) -> Result<OsString, Failure> {
    let path = env::var_os("PATH").unwrap_or_default();
    let first = first.map(PathBuf::from);
    env::join_paths(first.into_iter().chain(env::split_paths(&path)))
        .map_err(|source| Failure::new(format!("cannot extend PATH: {source}")))
}

fn failed(what: &str, path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(format!("cannot {what} {}: {source}", path.display()))
}
