//! Commands that change or measure the workspace rather than check it.

use std::process::Command;

use crate::cargo::{self, Cargo};
use crate::clis;
use crate::counts;
use crate::failure::Failure;
use crate::stream;

/// Makes tests write the committed schemas and option tables instead of comparing.
pub(crate) const UPDATE_SCHEMAS: &str = "AUTONOE_UPDATE_SCHEMAS";

/// Arguments of `cargo test` for the tests that compare the committed JSON Schemas.
const SCHEMAS: [&str; 6] = [
    "-p autonoe-core --test all schemas::",
    "-p autonoe-dashboard --test all web::schemas",
    "-p autonoe-flow --test flow schemas",
    "-p autonoe-harness --test all executor::schemas",
    // Writes the options in `docs/reference/cli.md`.
    "-p autonoe-cli --bin autonoe args::tests",
    // Last, because it compares the schemas of the libraries, too.
    "-p autonoe-cli --test all commands::schema",
];

/// Arguments of `cargo test` for the tests that read the files in `tests/compat`.
const FIXTURES: [&str; 7] = [
    "-p autonoe-core --test all compat::",
    "-p autonoe-flow --test flow compat::",
    "-p autonoe-harness --test all compat::",
    "-p autonoe-testkit --test all of_version_1_is_read",
    "-p autonoe-model --lib of_version_1_is_read",
    "-p autonoe-app --lib of_version_1_is_read",
    "-p autonoe-cli --bin autonoe of_version_1_is_read",
];

/// Regenerates the committed JSON Schemas and the option tables of the reference.
pub(crate) fn update_schemas(cargo: &Cargo) -> Result<(), Failure> {
    run_tests(cargo, &SCHEMAS, |test| {
        test.env(UPDATE_SCHEMAS, "1");
    })
}

/// Compares the committed JSON Schemas.
pub(crate) fn check_schemas(cargo: &Cargo) -> Result<(), Failure> {
    run_tests(cargo, &SCHEMAS, |test| {
        test.env_remove(UPDATE_SCHEMAS);
    })
}

/// Reads the committed files of each format version.
pub(crate) fn check_fixtures(cargo: &Cargo) -> Result<(), Failure> {
    run_tests(cargo, &FIXTURES, |test| {
        test.arg("--all-features");
    })
}

/// Runs `cargo test` with each list of arguments, which must select at least one test.
fn run_tests(
    cargo: &Cargo,
    selections: &[&str],
    configure: impl Fn(&mut Command),
) -> Result<(), Failure> {
    for selection in selections {
        let mut command = cargo.command(["test"].into_iter().chain(selection.split(' ')));
        configure(&mut command);
        let output = stream::run(&mut command)?;
        cargo::succeeded(&command, output.status)?;
        // After a test has been renamed, its filter selects nothing.
        counts::read_libtest(&output.stdout)?.check_not_empty()?;
    }
    Ok(())
}

/// Installs the command the way the guides say, and runs it.
pub(crate) fn test_install(cargo: &Cargo) -> Result<(), Failure> {
    let root = cargo.root().join("target/installed");
    let mut install = cargo.command(["install", "--locked", "--path", "autonoe-cli", "--force"]);
    install.arg("--root").arg(&root);
    cargo::run(install)?;
    let mut autonoe = Command::new(root.join("bin/autonoe"));
    autonoe.arg("--version");
    cargo::run(autonoe)
}

/// Runs the benchmarks, one of which drives the programs of vendors.
pub(crate) fn bench(cargo: &Cargo) -> Result<(), Failure> {
    clis::install(cargo)?;
    cargo.run(["bench", "-p", "autonoe-benches"])?;
    // In a workspace of its own, because of what the peers bring with them.
    cargo.run([
        "run",
        "--release",
        "--manifest-path",
        "benches/peers/Cargo.toml",
    ])
}
