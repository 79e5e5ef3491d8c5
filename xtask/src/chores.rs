//! Commands that change or measure the workspace rather than check it.

use std::process::Command;

use crate::cargo::{self, Cargo};
use crate::clis;
use crate::failure::Failure;

/// Makes tests write the committed schemas and option tables instead of comparing.
pub(crate) const UPDATE_SCHEMAS: &str = "AUTONOE_UPDATE_SCHEMAS";

/// Regenerates the committed JSON Schemas and the option tables of the reference.
pub(crate) fn update_schemas(cargo: &Cargo) -> Result<(), Failure> {
    run_schema_tests(cargo, |test| {
        test.env(UPDATE_SCHEMAS, "1");
    })
}

/// Compares the committed JSON Schemas.
pub(crate) fn check_schemas(cargo: &Cargo) -> Result<(), Failure> {
    run_schema_tests(cargo, |test| {
        test.env_remove(UPDATE_SCHEMAS);
    })
}

fn run_schema_tests(cargo: &Cargo, configure: impl Fn(&mut Command)) -> Result<(), Failure> {
    for test in [
        &["-p", "autonoe-core", "--test", "all", "schemas::"][..],
        &["-p", "autonoe-dashboard", "--test", "all", "web::schemas"],
        &["-p", "autonoe-flow", "--test", "flow", "schemas"],
        &[
            "-p",
            "autonoe-harness",
            "--test",
            "all",
            "executor::schemas",
        ],
        // Writes the options in `docs/reference/cli.md`.
        &["-p", "autonoe-cli", "--bin", "autonoe", "args::tests"],
        // Last, because it compares the schemas of the libraries, too.
        &["-p", "autonoe-cli", "--test", "all", "commands::schema"],
    ] {
        let mut command = cargo.command(["test"].iter().chain(test).copied());
        configure(&mut command);
        cargo::run(command)?;
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
