//! Commands that change or measure the workspace rather than check it.

use crate::cargo::{self, Cargo};
use crate::clis;
use crate::failure::Failure;

/// Makes the schema test write the committed schemas instead of comparing.
pub(crate) const UPDATE_SCHEMAS: &str = "AUTONOE_UPDATE_SCHEMAS";

/// Regenerates the committed JSON Schemas.
pub(crate) fn update_schemas(cargo: &Cargo) -> Result<(), Failure> {
    for test in [
        &["-p", "autonoe-core", "--test", "schemas"][..],
        &["-p", "autonoe-cli", "--test", "commands", "schema"],
        &["-p", "autonoe-dashboard", "--test", "web", "schemas"],
        &["-p", "autonoe-flow", "--test", "flow", "schemas"],
        &["-p", "autonoe-harness", "--test", "executor", "schemas"],
    ] {
        let mut command = cargo.command(["test"].iter().chain(test).copied());
        command.env(UPDATE_SCHEMAS, "1");
        cargo::run(command)?;
    }
    Ok(())
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
