//! Tests and doctests, run and counted.

use std::io::{self, IsTerminal};
use std::num::NonZero;
use std::process::Command;
use std::thread;

use crate::api;
use crate::cargo::{self, Cargo};
use crate::chores::UPDATE_SCHEMAS;
use crate::counts::{self, TestCounts};
use crate::failure::Failure;
use crate::pipeline::{SlowestTests, TestResults};
use crate::stream;

/// Reads the counts from what a test runner printed.
type ReadCounts = fn(&str) -> Result<TestCounts, Failure>;

/// Arguments that select what is compiled and run.
const ALL: [&str; 2] = ["--workspace", "--all-features"];

/// The targets with tests, in the words of `cargo test`.
const TARGETS: [&str; 3] = ["--lib", "--bins", "--tests"];

/// Compiles and lints everything, and runs nothing.
pub(super) fn compile(cargo: &Cargo) -> Result<(), Failure> {
    let all = ALL.into_iter().chain(["--all-targets", "--no-run"]);
    cargo::run(cargo.linting(["test"].into_iter().chain(all)))
}

/// Runs every unit and integration test, with nextest if it is installed.
pub(super) fn unit_and_integration(
    cargo: &Cargo,
    results: &mut TestResults,
) -> Result<(), Failure> {
    let all = ALL.into_iter().chain(["--no-fail-fast"]);
    let counts = if cargo.has("nextest") {
        let mut nextest = cargo.linting(["nextest", "run"].into_iter().chain(all));
        // Many tests wait for programs that they have started, so one test per core leaves cores
        // idle.
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        nextest.args(["--test-threads", &(3 * cores).to_string()]);
        run(nextest, counts::read_nextest, results)
    } else {
        let test = cargo.linting(["test"].into_iter().chain(all).chain(TARGETS));
        run(test, counts::read_libtest, results)
    };
    counts?.check_not_empty()
}

/// Runs every example in the documentation of libraries, and builds that documentation.
pub(super) fn doctests_and_docs(cargo: &Cargo, results: &mut TestResults) -> Result<(), Failure> {
    let scope = ["--workspace", "--all-features", "--doc", "--no-fail-fast"];
    let mut test = cargo.linting(["test"].into_iter().chain(scope));
    api::document_beside(&mut test, cargo)?;
    run(test, counts::read_libtest, results).map(drop)
}

/// Runs a test runner, adds its results, and refuses anything but a clean run.
pub(super) fn run(
    mut command: Command,
    read: ReadCounts,
    results: &mut TestResults,
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
    results.counts += counts;
    let slowest = SlowestTests::read(&output.stderr);
    if !slowest.is_empty() {
        results.slowest = slowest;
    }
    counts.check()?;
    cargo::succeeded(&command, output.status)?;
    Ok(counts)
}
