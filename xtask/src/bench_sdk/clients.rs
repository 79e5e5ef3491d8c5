//! The clients, and one turn of one of them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::cargo;
use crate::deadline::{self, Ending};
use crate::failure::Failure;

use super::figures::{Expected, Figures};
use super::programs::Programs;
use super::sdks::Sdks;

/// Time limit for one client.
const LIMIT: Duration = Duration::from_secs(300);

/// Number of concurrent hook requests in the concurrent phase.
const IN_FLIGHT: u64 = 32;

/// A client of the comparison, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Ours,
    TypeScript,
    Python,
}

impl Client {
    pub(super) const ALL: [Self; 3] = [Self::Ours, Self::TypeScript, Self::Python];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours => "autonoe-claude",
            Self::TypeScript => "TypeScript SDK",
            Self::Python => "Python SDK",
        }
    }

    /// Prepares the client to talk to the fake.
    pub(super) fn command(self, sdks: &Sdks, programs: &Programs) -> Command {
        let mut command = match self {
            Self::Ours => Command::new(&programs.client),
            Self::TypeScript => {
                let mut node = Command::new("node");
                node.arg(&sdks.node_client);
                node
            }
            Self::Python => {
                let mut python = Command::new(&sdks.python);
                python.arg(&sdks.python_client);
                python
            }
        };
        command.arg(&programs.fake);
        command
    }
}

/// Runs a client once, and checks that it has seen everything.
pub(super) fn measure(
    client: Client,
    mut command: Command,
    report: &Path,
) -> Result<Figures, Failure> {
    let expected = Expected::PLAN;
    for (name, count) in [
        ("MESSAGES", expected.messages),
        ("HOOKS", expected.hooks),
        ("MANY_HOOKS", expected.many_hooks),
        ("IN_FLIGHT", IN_FLIGHT),
        ("CALLS", expected.calls),
    ] {
        command.env(format!("SDK_BENCH_{name}"), count.to_string());
    }
    command.env("SDK_BENCH_FIGURES", report);
    // Figures of an earlier turn must not be taken for those of this one.
    let _ = fs::remove_file(report);

    let failed = |reason: String| Failure::new(format!("{}: {reason}", client.name()));
    let ending = deadline::run(&mut command, "", LIMIT)
        .map_err(|source| cargo::cannot_start(&command, &source))?;
    let (status, stdout) = match ending {
        Ending::Exited { status, stdout } => (status, stdout),
        Ending::TimedOut => return Err(failed(format!("did not finish in {} s", LIMIT.as_secs()))),
        Ending::LeftOutputOpen => return Err(failed("left a process running".into())),
    };
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let printed = String::from_utf8_lossy(&stdout);
    let figures = Figures::read(&printed, &super::read(report)?).map_err(failed)?;
    figures.check(&expected).map_err(failed)?;
    Ok(figures)
}
