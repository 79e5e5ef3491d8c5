//! Tests and doctests, run and counted.

use std::io::{self, IsTerminal};
use std::process::Command;

use crate::cargo::Cargo;
use crate::chores::UPDATE_SCHEMAS;
use crate::counts::{self, TestCounts};
use crate::failure::Failure;
use crate::stream;

/// Reads the counts from what a test runner printed.
type ReadCounts = fn(&str) -> Result<TestCounts, Failure>;

/// Runs every unit and integration test, with nextest if it is installed.
pub(super) fn unit_and_integration(cargo: &Cargo, total: &mut TestCounts) -> Result<(), Failure> {
    let all = ["--workspace", "--all-features", "--no-fail-fast"];
    let counts = if cargo.has("nextest") {
        let nextest = cargo.command(["nextest", "run"].into_iter().chain(all));
        run(nextest, counts::read_nextest, total)
    } else {
        let targets = ["--lib", "--bins", "--tests"];
        let test = cargo.command(["test"].into_iter().chain(all).chain(targets));
        run(test, counts::read_libtest, total)
    };
    counts?.check_not_empty()
}

/// Runs every example in the documentation.
pub(super) fn doctests(cargo: &Cargo, total: &mut TestCounts) -> Result<(), Failure> {
    let scope = ["--workspace", "--all-features", "--doc", "--no-fail-fast"];
    let test = cargo.command(["test"].into_iter().chain(scope));
    run(test, counts::read_libtest, total).map(drop)
}

/// Runs a test runner, adds its counts to `total`, and refuses anything but a
/// clean run.
fn run(
    mut command: Command,
    read: ReadCounts,
    total: &mut TestCounts,
) -> Result<TestCounts, Failure> {
    // Inherited by accident, it would turn a comparison into an update.
    command.env_remove(UPDATE_SCHEMAS);
    // The runner sees a pipe and would drop its colours.
    if io::stderr().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }

    let output = stream::run(&mut command)?;

    // nextest reports on standard error, `cargo test` on standard output.
    let mut counts = read(&output.stdout)?;
    counts += read(&output.stderr)?;
    *total += counts;
    counts.check()?;
    crate::cargo::succeeded(&command, output.status)?;
    Ok(counts)
}
