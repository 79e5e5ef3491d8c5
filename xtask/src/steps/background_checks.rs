//! The tests, and beside them the checks that only build.
//!
//! Tests wait for the programs that they start and leave a third of the processor idle.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cargo::{self, Cargo};
use crate::counts::TestCounts;
use crate::failure::Failure;
use crate::metadata;
use crate::pipeline::TestResults;

use super::tests;

/// Runs every test, and `cargo xtask test --builds` beside them.
pub(super) fn tests_and_builds(cargo: &Cargo, results: &mut TestResults) -> Result<(), Failure> {
    let builds = Builds::start(cargo)?;
    let tested = tests::unit_and_integration(cargo, results);
    let built = builds.finish(results);

    let failures = [tested, built].into_iter().filter_map(Result::err);
    let failures: Vec<_> = failures.map(|failure| failure.to_string()).collect();
    Failure::unless_empty("some builds failed", &failures)
}

/// A `cargo xtask test --builds` that is running.
struct Builds {
    command: Command,
    child: Child,
    /// Both outputs. On the terminal they would be mixed with those of the tests.
    output: PathBuf,
}

impl Builds {
    /// Starts the builds with a low priority, so that tests do not wait for them.
    fn start(cargo: &Cargo) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|source| Failure::new(format!("cannot find this program: {source}")))?;
        let output = metadata::target_dir(cargo)?.join("builds.log");
        let [stdout, stderr] = open_twice(&output).map_err(|source| failed(&output, &source))?;
        let mut command = Command::new("nice");
        command.args(["-n", "10"]).arg(program);
        command.args(["test", "--builds"]);
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        cargo::announce(&command);
        let child = command
            .spawn()
            .map_err(|source| cargo::cannot_start(&command, &source))?;
        Ok(Self {
            command,
            child,
            output,
        })
    }

    /// Waits for the end, shows the output, and adds the results of doctests.
    fn finish(mut self, results: &mut TestResults) -> Result<(), Failure> {
        let status = self
            .child
            .wait()
            .map_err(|source| cargo::cannot_start(&self.command, &source))?;
        let output = fs::read(&self.output).map_err(|source| failed(&self.output, &source))?;
        let output = String::from_utf8_lossy(&output);
        println!("{output}");
        let Some(counts) = TestCounts::read_totals(&output) else {
            return Err(Failure::new("the builds ended without a result"));
        };
        results.counts += counts;
        cargo::succeeded(&self.command, status)
    }
}

/// Creates a file and returns two handles to it, which write one behind the other.
fn open_twice(path: &Path) -> std::io::Result<[File; 2]> {
    let first = File::create(path)?;
    let second = first.try_clone()?;
    Ok([first, second])
}

fn failed(path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(format!("cannot use {}: {source}", path.display()))
}
