//! Commands that change or measure the workspace rather than check it.

use crate::cargo::{self, Cargo};
use crate::failure::Failure;

/// Makes the schema test write the committed schemas instead of comparing.
pub(crate) const UPDATE_SCHEMAS: &str = "AUTONOE_UPDATE_SCHEMAS";

/// Regenerates the committed JSON Schemas.
pub(crate) fn update_schemas(cargo: &Cargo) -> Result<(), Failure> {
    let mut command = cargo.command(["test", "-p", "autonoe-core", "--test", "schemas"]);
    command.env(UPDATE_SCHEMAS, "1");
    cargo::run(command)
}

/// Runs the benchmarks.
pub(crate) fn bench(cargo: &Cargo) -> Result<(), Failure> {
    cargo.run(["bench", "-p", "autonoe-benches"])
}

/// Tells the kill test how many rounds to go.
const TORTURE_ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Runs the kill test for ten thousand rounds; the test command runs two hundred.
pub(crate) fn torture(cargo: &Cargo) -> Result<(), Failure> {
    let mut command = cargo.command([
        "test",
        "--release",
        "-p",
        "autonoe-core",
        "--test",
        "project",
        "kill::",
        "--",
        "--nocapture",
    ]);
    command.env(TORTURE_ROUNDS, "10000");
    cargo::run(command)
}
